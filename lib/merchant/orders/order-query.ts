// The query of the list of orders: `?status=open&before=<id>&limit=25`.

import { PaymentError } from '../../payments/error';
import { ORDER_STATUSES } from './progress';
import type { OrderQuery } from './order-list';

/** Orders of a page, if the query does not say. */
export const LIMIT = 25;
export const MOST_ORDERS = 100;

/** @throws PaymentError `malformed` naming the parameter. */
export function parseQuery(query: URLSearchParams): OrderQuery {
  for (const name of query.keys()) {
    if (!['status', 'before', 'limit'].includes(name) || query.getAll(name).length > 1) {
      throw malformed(`status, before, limit expected, each once, ${JSON.stringify(name.slice(0, 40))} came`);
    }
  }
  const status = ORDER_STATUSES.find((one) => one === query.get('status'));
  if (query.has('status') && status === undefined) throw malformed(`status: one of ${ORDER_STATUSES.join(', ')} expected`);
  const limit = query.get('limit') ?? String(LIMIT);
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > MOST_ORDERS) {
    throw malformed(`limit: a whole number from 1 to ${MOST_ORDERS} expected`);
  }
  const before = query.get('before');
  return { limit: Number(limit), ...(status !== undefined && { status }), ...(before !== null && { before }) };
}

function malformed(what: string): PaymentError {
  return new PaymentError('malformed', `Query: ${what}.`);
}
