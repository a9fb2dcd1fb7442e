// Calls that wait for the chain: for its next block, for a certain block, for a height.

import { filter, firstValueFrom, merge, timer } from 'rxjs';
import { misc } from '../../answers/errors';
import { toDisplayHex } from '../../bitcoin/hash';
import { described, object } from '../../describe/schema';
import { ASKED_HASH, BLOCK_HASH, HEIGHT, INTEGER } from '../../describe/values';
import { plainAnswer, type Answer, type CallContext, type CallDefinition, type RpcClient } from '../call';
import type { BlockPoint } from '../../node/types/chain';
import type { Parameter, Parameters } from '../parameters';

const TIMEOUT = {
  name: 'timeout',
  type: 'number',
  isOptional: true,
  schema: { type: 'integer', minimum: 0, default: 0, description: 'The most milliseconds; 0: without an end.' }
} as const satisfies Parameter;

const TIP = object({ hash: BLOCK_HASH, height: HEIGHT });

const tipOf = ({ reader }: CallContext): BlockPoint => reader.read(({ tip }) => tip);

export const waitingCalls = {
  waitfornewblock: {
    summary: 'Waits for another tip of the chain.',
    parameters: [
      TIMEOUT,
      {
        name: 'current_tip',
        type: 'string',
        isOptional: true,
        schema: described('Waits while this is the tip; the present tip unless it is given.', ASKED_HASH)
      }
    ],
    result: () => TIP,
    waits: true,
    answer: (parameters, context, client) => {
      const timeoutMs = timeoutIn(parameters, 0);
      const current = parameters.has(1) ? parameters.hash(1) : tipOf(context).hash;
      return untilTip(({ hash }) => !hash.equals(current), timeoutMs, context, client);
    }
  },
  waitforblock: {
    summary: 'Waits until a certain block is the tip of the chain.',
    parameters: [{ name: 'blockhash', type: 'string', schema: ASKED_HASH }, TIMEOUT],
    result: () => TIP,
    waits: true,
    answer: (parameters, context, client) => {
      const wanted = parameters.hash(0);
      return untilTip(({ hash }) => hash.equals(wanted), timeoutIn(parameters, 1), context, client);
    }
  },
  waitforblockheight: {
    summary: 'Waits until the chain has a height.',
    parameters: [{ name: 'height', type: 'number', schema: INTEGER }, TIMEOUT],
    result: () => TIP,
    waits: true,
    answer: (parameters, context, client) => {
      const wanted = parameters.integer(0);
      return untilTip(({ height }) => height >= wanted, timeoutIn(parameters, 1), context, client);
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;

/** Milliseconds. @throws CallError -1 */
function timeoutIn(parameters: Parameters, position: number): number {
  const timeoutMs = parameters.integer(position);
  if (timeoutMs < 0) throw misc('Negative timeout');
  return timeoutMs;
}

/** The tip, once it is wanted, or the time is over; `timeoutMs`: 0 for no end. */
async function untilTip(
  isWanted: (tip: BlockPoint) => boolean,
  timeoutMs: number,
  context: CallContext,
  { gone$ }: RpcClient
): Promise<Answer> {
  const ends = [gone$, context.closing$, ...(timeoutMs > 0 ? [timer(timeoutMs)] : [])];
  await firstValueFrom(merge(context.index.tip$.pipe(filter(isWanted)), ...ends));
  const { hash, height } = tipOf(context);
  return plainAnswer({ hash: toDisplayHex(hash), height });
}
