// What the outputs of an order have received: with a Payment that was accepted, with one that was refused, or with none at all.

import { PaymentError } from '../../payments/error';
import { outpointKey } from '../../payments/rules/payment';
import { displayTxid } from '../../payments/rules/transaction';
import { settling, type StoredRequest } from './record';
import type { PayingOutput } from '../../payments/rules/payment';
import type { ConfirmingBlock, MerchantChain } from './chain';
import type { PaymentStore } from './store';

/** The most receipts in one record; the largest are kept. */
const MOST_RECEIPTS = 256;

/** The state of the Payments that were accepted, and what the outputs have received, with or without a Payment. */
export type PaymentState = Settled & { readonly received?: Received };

export type Settled =
  | { readonly state: 'open' | 'expired' }
  /** Paid, in the pool. */
  | { readonly state: 'unconfirmed' }
  | { readonly state: 'confirmed'; readonly confirmations: number }
  /** Was paid, but neither chain nor pool has the transactions now. They are broadcast again, and may still confirm. */
  | { readonly state: 'missing' }
  /** Was paid, but another transaction that spends the same coins has taken its place in the pool. `by`: its txid in display order. */
  | { readonly state: 'replaced'; readonly by: string }
  /** Was paid, but another transaction that spends the same coins was confirmed. */
  | { readonly state: 'conflicted' };

export interface ReceivedOutput {
  /** Display order. */
  readonly txid: string;
  readonly index: number;
  /** Satoshis. */
  readonly amount: bigint;
  /** 0 in the pool. */
  readonly confirmations: number;
}

export interface Received {
  /** Satoshis, in the pool or confirmed. */
  readonly amount: bigint;
  /** Satoshis that are confirmed. */
  readonly confirmed: bigint;
  readonly outputs: readonly ReceivedOutput[];
}

/** The request with the outputs that a block pays to it; the same object if nothing is new. */
export function withReceipts(stored: StoredRequest, block: ConfirmingBlock, outputs: readonly PayingOutput[], now: Date): StoredRequest {
  const before = new Map(stored.received.map((receipt) => [outpointKey(receipt), receipt]));
  const isNew = (output: PayingOutput): boolean => before.get(outpointKey(output))?.block.hash.equals(block.hash) !== true;
  const news = outputs.filter(isNew);
  if (news.length === 0) return stored;
  const after = new Map(before);
  for (const { txid, index, amount, script } of news)
    after.set(outpointKey({ txid, index }), { txid, index, amount, script, block, receivedAt: now });
  const received = [...after.values()].sort((a, b) => Number(b.amount - a.amount)).slice(0, MOST_RECEIPTS);
  const paid = new Set(outputs.map(({ txid }) => displayTxid(txid)));
  let request: StoredRequest = { ...stored, received };
  for (const { payment, txids } of settling(stored)) {
    request = withBlocks(
      request,
      payment,
      txids.map(displayTxid).filter((txid) => paid.has(txid)),
      block
    );
  }
  return request;
}

/** The request with the block in which transactions of one of its Payments were seen. @param txids in display order. */
export function withBlocks(stored: StoredRequest, payment: Buffer, txids: readonly string[], block: ConfirmingBlock): StoredRequest {
  return {
    ...stored,
    payments: stored.payments.map((one) =>
      one.payment.equals(payment)
        ? { ...one, seenIn: new Map([...one.seenIn, ...txids.map((txid): [string, ConfirmingBlock] => [txid, block])]) }
        : one
    )
  };
}

/** An output of an order that is in chain or pool now. */
export interface PresentOutput extends ReceivedOutput {
  readonly script: Buffer;
}

/**
 * The outputs that have paid an order, as far as they are in chain or pool now. Outputs that have paid another order do not count.
 * @param seen outputs that were seen in the pool.
 * @throws PaymentError `not-yet-known`
 */
export async function presentOutputs(
  stored: StoredRequest,
  seen: readonly PayingOutput[],
  chain: MerchantChain,
  store: PaymentStore
): Promise<PresentOutput[]> {
  const outputs = new Map<string, PayingOutput & { readonly block?: ConfirmingBlock }>();
  for (const output of [...seen, ...stored.received]) outputs.set(outpointKey(output), output);
  const found: PresentOutput[] = [];
  for (const { txid, index, amount, script, block } of outputs.values()) {
    const standing = await chain.standing({ txid, outpoints: [], outputs: [index] }, block);
    // An output without a recorded block was seen in the pool: it can only be in a block that the index knows.
    if (standing.state === 'unknown' && block !== undefined) throw new PaymentError('not-yet-known', standing.reason);
    if (standing.state !== 'confirmed' && standing.state !== 'pool') continue;
    if ((await store.unclaimed([{ txid, index }], stored.id)).length === 0) continue;
    const confirmations = standing.state === 'confirmed' ? standing.confirmations : 0;
    found.push({ txid: displayTxid(txid), index, amount, confirmations, script });
  }
  return found;
}

/** Their sums; undefined if there are none. */
export function receivedOf(present: readonly PresentOutput[]): Received | undefined {
  if (present.length === 0) return undefined;
  const outputs = present.map(({ txid, index, amount, confirmations }) => ({ txid, index, amount, confirmations }));
  return { amount: sumOf(outputs), confirmed: sumOf(outputs.filter(({ confirmations }) => confirmations > 0)), outputs };
}

function sumOf(outputs: readonly ReceivedOutput[]): bigint {
  return outputs.reduce((sum, { amount }) => sum + amount, 0n);
}
