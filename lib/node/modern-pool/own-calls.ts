// bcoin's own `sendrawtransaction` gives the txid whatever becomes of the transaction. With today's pool it says why one is refused, as
// Bitcoin Core does.

import { scanWholeTransaction } from '../../bitcoin/transaction';
import { MalformedBytesError } from '../../bitcoin/reader';
import { toDisplayHex } from '../../bitcoin/hash';
import { MissingOutputsError, TransactionRefusedError, UnreadableTransactionError } from '../errors';
import type { HostNode } from '../host';

const CALL = 'sendrawtransaction';

/** Bitcoin Core's codes. */
const CODES = { deserialization: -22, missing: -25, rejected: -26 } as const;

const UNREADABLE = 'TX decode failed. Make sure the tx has at least one input.';

/** With this shape bcoin's RPC shows code and message. */
class OwnCallError extends Error {
  override readonly name = 'OwnCallError';
  readonly type = 'RPCError';

  constructor(
    readonly code: number,
    message: string
  ) {
    super(message);
  }
}

/** `send`: adds a serialized transaction to the pool, or announces it again. */
export function answerRefusals(rpc: Pick<HostNode['rpc'], 'execute'>, send: (raw: Buffer) => Promise<void>): void {
  const execute = rpc.execute.bind(rpc);
  rpc.execute = async (call, help) => {
    const hex: unknown = call.method === CALL && help !== true && Array.isArray(call.params) ? call.params[0] : undefined;
    // bcoin words what is no hex.
    if (typeof hex !== 'string' || !/^(?:[0-9a-fA-F]{2})+$/.test(hex)) return execute(call, help);
    const raw = Buffer.from(hex, 'hex');
    try {
      await send(raw);
      return toDisplayHex(scanWholeTransaction(raw).txid);
    } catch (error) {
      throw callErrorOf(error);
    }
  };
}

function callErrorOf(error: unknown): unknown {
  if (error instanceof UnreadableTransactionError || error instanceof MalformedBytesError)
    return new OwnCallError(CODES.deserialization, UNREADABLE);
  if (error instanceof MissingOutputsError) return new OwnCallError(CODES.missing, error.message);
  if (error instanceof TransactionRefusedError) return new OwnCallError(CODES.rejected, error.words?.message ?? error.message);
  return error;
}
