// How far an order has come, by the money: what its page, the list of orders and webhooks say. `PaymentState` is about accepted
// Payments alone; most wallets pay to the address and send none.

import { isPaid, missingOf } from '../../payments/rules/payment';
import { isExpired, payableOutputs, unixSeconds, type RequestedOutput } from '../../payments/rules/request';
import { receivedOf, type PaymentState, type PresentOutput } from './receipts';
import { detailsOf, type StoredRequest } from './record';
import type { PaymentDetails } from '../../payments/messages';

/**
 * `open`: nothing has come. `underpaid`: less than all, also after the expiry. `seen`: all has come, and some of it is in no block yet.
 * `confirmed`: all is in blocks. `expired`: nothing came in time. `lost`: an acknowledged Payment is in neither chain nor pool; `state`
 * says why.
 */
export type OrderStatus = 'open' | 'underpaid' | 'seen' | 'confirmed' | 'expired' | 'lost';

export const ORDER_STATUSES: readonly OrderStatus[] = ['open', 'underpaid', 'seen', 'confirmed', 'expired', 'lost'];

/** Amounts are satoshis. */
export interface OrderProgress {
  readonly id: string;
  readonly status: OrderStatus;
  readonly state: PaymentState['state'];
  /** What is asked for; 0: as much as the customer likes. */
  readonly amount: bigint;
  /** In pool or chain. */
  readonly received: bigint;
  /** In the chain. */
  readonly confirmed: bigint;
  /** What has still to come, output by output: too much for one script makes up for nothing. */
  readonly missing: bigint;
  /** Absent until the status is `confirmed`. */
  readonly confirmations?: number;
  /** Unix seconds. */
  readonly created: bigint;
  readonly expires?: bigint;
  readonly memo?: string;
  /** Of the order's page. */
  readonly url: string;
  readonly merchantUrl?: string;
}

/** What is known of an order at one moment. */
export interface Observed {
  readonly state: PaymentState;
  readonly present: readonly PresentOutput[];
  readonly now: Date;
}

/** @param url of the order's page. */
export function progressOf(stored: StoredRequest, observed: Observed, url: string): OrderProgress {
  const details = detailsOf(stored);
  const { total, outputs } = payableOutputs(details);
  const status = statusOf(details, outputs, observed);
  const { state, present } = observed;
  const received = receivedOf(present);
  const confirmations = status === 'confirmed' ? confirmationsOf(outputs, observed) : 0;
  const { merchantUrl } = stored;
  return {
    id: stored.id,
    status,
    state: state.state,
    amount: total,
    received: received?.amount ?? 0n,
    confirmed: received?.confirmed ?? 0n,
    missing: status === 'seen' || status === 'confirmed' ? 0n : missingOf(outputs, present),
    ...(confirmations > 0 && { confirmations }),
    created: unixSeconds(stored.createdAt),
    ...(details.expires !== undefined && { expires: details.expires }),
    ...(details.memo !== undefined && { memo: details.memo }),
    url,
    ...(merchantUrl !== undefined && { merchantUrl })
  };
}

type Due = readonly RequestedOutput[];

function statusOf(details: PaymentDetails, due: Due, { state: { state }, present, now }: Observed): OrderStatus {
  if (state === 'confirmed' || isPaid(due, present.filter(isInChain))) return 'confirmed';
  if (state === 'unconfirmed' || isPaid(due, present)) return 'seen';
  if (state === 'missing' || state === 'replaced' || state === 'conflicted') return 'lost';
  if (present.length > 0) return 'underpaid';
  return isExpired(details, now) ? 'expired' : 'open';
}

/** Of the oldest outputs that are enough, so that what comes later, perhaps from a stranger, does not begin the count anew. */
function confirmationsOf(due: Due, { state, present }: Observed): number {
  if (state.state === 'confirmed') return state.confirmations;
  const oldestFirst = present.filter(isInChain).sort((a, b) => b.confirmations - a.confirmations);
  const last = oldestFirst.find((_, index) => isPaid(due, oldestFirst.slice(0, index + 1)));
  return last?.confirmations ?? 0;
}

function isInChain({ confirmations }: PresentOutput): boolean {
  return confirmations > 0;
}

/** As JSON. Amounts and times become numbers: 21 million coins in satoshis fit into a double. */
export function progressJson({ merchantUrl, ...progress }: OrderProgress): Record<string, unknown> {
  const fields = Object.entries({ ...progress, ...(merchantUrl !== undefined && { merchant_url: merchantUrl }) });
  return Object.fromEntries(fields.map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]));
}
