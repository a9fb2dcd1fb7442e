// An output of a transaction pays one request and no other: without this, one payment to a
// script that a merchant uses twice would settle two orders.

import type { PayingOutput } from '../../payments/rules/payment';
import type { PaymentStore } from './store';

/** Without the outputs that have paid another request than `id`. */
export async function unclaimed(store: PaymentStore, outputs: readonly PayingOutput[], id: string): Promise<PayingOutput[]> {
  const free: PayingOutput[] = [];
  for (const [txid, ofTransaction] of byTransaction(outputs)) {
    const claims = await store.claimsOn(txid);
    free.push(...ofTransaction.filter(({ index }) => (claims[index] ?? id) === id));
  }
  return free;
}

/** Says for good that these outputs have paid request `id`. */
export async function claim(store: PaymentStore, outputs: readonly PayingOutput[], id: string): Promise<void> {
  for (const [txid, ofTransaction] of byTransaction(outputs)) {
    const own = Object.fromEntries(ofTransaction.map(({ index }) => [index, id]));
    await store.saveClaims(txid, { ...await store.claimsOn(txid), ...own });
  }
}

/** The outputs of one transaction share the Buffer that is its txid. */
function byTransaction(outputs: readonly PayingOutput[]): Map<Buffer, PayingOutput[]> {
  const groups = new Map<Buffer, PayingOutput[]>();
  for (const output of outputs) {
    const group = groups.get(output.txid);
    if (group) group.push(output);
    else groups.set(output.txid, [output]);
  }
  return groups;
}
