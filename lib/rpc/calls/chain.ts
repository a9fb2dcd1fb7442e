// Calls about the chain: its state, its tips, hashes by height, and waiting for the next block.

import { filter, firstValueFrom, merge, timer } from 'rxjs';
import { blockNotFound, invalidParameter, misc } from '../../answers/errors';
import { toDisplayHex } from '../../bitcoin/hash';
import { chainMoving } from '../../server/errors';
import { deploymentInfoJson } from '../../views/deployment-info';
import { lineAnswer, plainAnswer, type CallContext, type CallDefinition } from '../call';
import type { BlockPoint } from '../../node/types';

const tipOf = ({ reader }: CallContext): BlockPoint => reader.read(({ tip }) => tip);

export const chainCalls = {
  getblockchaininfo: {
    parameters: [],
    answer: async (_, { chainInfo }) => lineAnswer((await chainInfo.get()).text)
  },
  getblockcount: { parameters: [], answer: (_, context) => plainAnswer(tipOf(context).height) },
  getbestblockhash: { parameters: [], answer: (_, context) => plainAnswer(toDisplayHex(tipOf(context).hash)) },
  getblockhash: {
    parameters: [{ name: 'height', type: 'number' }],
    answer: (parameters, { reader }) => {
      const height = parameters.integer(0);
      const run = reader.read((snapshot) => (height < 0 ? undefined : snapshot.headerRun(height, 1)));
      if (run === undefined) throw invalidParameter('Block height out of range');
      return plainAnswer(toDisplayHex(run.lastHash));
    }
  },
  getchaintips: {
    parameters: [],
    answer: async (_, { node }) => {
      const tips = await node.chainTips();
      return plainAnswer(
        tips.map(({ height, hash, branchLength, status }) => ({ height, hash: toDisplayHex(hash), branchlen: branchLength, status }))
      );
    }
  },
  getdeploymentinfo: {
    parameters: [{ name: 'blockhash', type: 'string', isOptional: true }],
    answer: async (parameters, { node, reader }) => {
      const hash = parameters.optionalText(0) === undefined ? reader.read(({ tip }) => tip.hash) : parameters.hash(0, 'blockhash');
      const info = await node.deploymentInfo(hash);
      if (info === undefined) throw node.resetting ? chainMoving() : blockNotFound();
      return lineAnswer(deploymentInfoJson(info));
    }
  },
  waitfornewblock: {
    parameters: [
      { name: 'timeout', type: 'number', isOptional: true },
      { name: 'current_tip', type: 'string', isOptional: true }
    ],
    waits: true,
    answer: async (parameters, context, { gone$ }) => {
      const timeoutMs = parameters.integer(0);
      if (timeoutMs < 0) throw misc('Negative timeout');
      const current = parameters.optionalText(1) === undefined ? tipOf(context).hash : parameters.hash(1, 'current_tip');
      const isOther = ({ hash }: BlockPoint): boolean => !hash.equals(current);
      const ends = [gone$, context.closing$, ...(timeoutMs > 0 ? [timer(timeoutMs)] : [])];
      await firstValueFrom(merge(context.index.tip$.pipe(filter(isOther)), ...ends));
      const { hash, height } = tipOf(context);
      return plainAnswer({ hash: toDisplayHex(hash), height });
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;
