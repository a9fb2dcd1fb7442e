// Payments that settle nothing are kept, too: their money may have come all the same, and they
// say where a refund would go. A stranger can send any number of them, so there are bounds.

import type { StoredPayment } from './record';

/** Of one request: so many, ... */
const MOST_PAYMENTS = 8;
/** ... so many bytes together, as received ... */
const MOST_BYTES = 100_000;
/** ... and so long, unless money has come with them. */
const LONGEST_MS = 90 * 24 * 3_600_000;

/**
 * Without the Payments beyond the bounds. Those that settle the request always stay. Of the others the first ones
 * with which money has come go before the latest with which none has.
 */
export function keptPayments(
  payments: readonly StoredPayment[], hasMoney: (payment: StoredPayment) => boolean, now: Date
): StoredPayment[] {
  const aside = payments.filter(({ outcome }) => outcome !== undefined);
  const paid = aside.filter(hasMoney);
  const unpaid = aside.filter((payment) => !paid.includes(payment) && now.getTime() - payment.receivedAt.getTime() <= LONGEST_MS);
  const kept = new Set<StoredPayment>();
  let bytes = 0;
  for (const payment of [...paid, ...unpaid.reverse()]) {
    bytes += payment.payment.length;
    if (kept.size >= MOST_PAYMENTS || bytes > MOST_BYTES) break;
    kept.add(payment);
  }
  return payments.filter((payment) => payment.outcome === undefined || kept.has(payment));
}
