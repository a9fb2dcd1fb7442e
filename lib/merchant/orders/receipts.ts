// What the outputs of an order have received: with a Payment that was accepted, with one that was refused, or with none at all.

import { PaymentError } from '../../payments/error';
import type { PayingOutput } from '../../payments/rules/payment';
import { displayTxid } from '../../payments/rules/transaction';
import type { ConfirmingBlock, MerchantChain } from './chain';
import { outpointKey } from './order-watch';
import { settling, type Receipt, type StoredRequest } from './record';
import type { PaymentStore } from './store';

/** The most receipts in one record; the largest are kept. */
const MOST_RECEIPTS = 256;

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
export function withReceipts(stored: StoredRequest, block: ConfirmingBlock, outputs: readonly PayingOutput[]): StoredRequest {
  const before = new Map(stored.received.map((receipt) => [outpointKey(receipt), receipt]));
  const isNew = (output: PayingOutput): boolean => before.get(outpointKey(output))?.block.hash.equals(block.hash) !== true;
  const news = outputs.filter(isNew);
  if (news.length === 0) return stored;
  const after = new Map(before);
  for (const { txid, index, amount } of news) after.set(outpointKey({ txid, index }), { txid, index, amount, block });
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

/**
 * What an order has received, as far as it is in chain or pool now; undefined if there is nothing. Outputs that have paid another order
 * do not count.
 * @param seen outputs that were seen in the pool.
 * @throws PaymentError `not-yet-known`
 */
export async function receivedNow(
  stored: StoredRequest,
  seen: readonly PayingOutput[],
  chain: MerchantChain,
  store: PaymentStore
): Promise<Received | undefined> {
  const outputs = new Map<string, Pick<Receipt, 'txid' | 'index' | 'amount'> & { readonly block?: ConfirmingBlock }>();
  for (const output of [...seen, ...stored.received]) outputs.set(outpointKey(output), output);
  const found: ReceivedOutput[] = [];
  for (const { txid, index, amount, block } of outputs.values()) {
    const standing = await chain.standing({ txid, outpoints: [], outputs: [index] }, block);
    // An output without a recorded block was seen in the pool: it can only be in a block that the index knows.
    if (standing.state === 'unknown' && block !== undefined) throw new PaymentError('not-yet-known', standing.reason);
    if (standing.state !== 'confirmed' && standing.state !== 'pool') continue;
    if ((await store.unclaimed([{ txid, index }], stored.id)).length === 0) continue;
    found.push({ txid: displayTxid(txid), index, amount, confirmations: standing.state === 'confirmed' ? standing.confirmations : 0 });
  }
  if (found.length === 0) return undefined;
  return { amount: sumOf(found), confirmed: sumOf(found.filter(({ confirmations }) => confirmations > 0)), outputs: found };
}

function sumOf(outputs: readonly ReceivedOutput[]): bigint {
  return outputs.reduce((sum, { amount }) => sum + amount, 0n);
}
