// The descriptions of the merchant's pages.

import { inPath, inQuery, json, type Content, type PlacedOperation } from '../describe/open-api';
import { anyOf, described, listOf, named, object, type PlainSchema } from '../describe/schema';
import { ASKED_HEX, COUNT, SATOSHIS, TEXT, TIME, TXID } from '../describe/values';
import { PAYMENT_ACK_TYPE, PAYMENT_REQUEST_TYPE, PAYMENT_TYPE, URI_LIST_TYPE } from '../payments/transport/media-types';
import { DOCUMENT_PATH, documentText } from '../server/document';
import { MOST_OUTPUTS } from './orders/order';
import { LIMIT, MOST_ORDERS } from './orders/order-query';
import { ORDER_STATUSES } from './orders/progress';

const PATH = '/pay';

export const PAY_DOCUMENT_PATH = `${PATH}${DOCUMENT_PATH}`;

const MESSAGE = 'See BIP70.';

const message = (type: string, description: string): Content => ({ type, description: `${description} ${MESSAGE}` });

const ORDER = named(
  'Order',
  object(
    {
      outputs: described(
        `What has to be paid, ${MOST_OUTPUTS} outputs at most. Use a new script for every order.`,
        listOf(object({ amount: SATOSHIS, script: described('The locking script in hex.', ASKED_HEX) }))
      )
    },
    {
      memo: described('For the customer.', TEXT),
      expires: TIME,
      merchant_url: described('Where the page of the order links back to; http or https.', TEXT),
      notify_url: described('What is told each change of the status; at an origin of --rest-payments-notify.', TEXT)
    }
  )
);

const CREATED = named(
  'Created',
  object({
    id: TEXT,
    url: described('Where wallets fetch the request.', TEXT),
    uri: described('The `bitcoin:` URI with that address.', TEXT)
  })
);

const RECEIVED = named(
  'Received',
  object({
    amount: described('Satoshis, in the pool or confirmed.', SATOSHIS),
    confirmed: described('Satoshis that are confirmed.', SATOSHIS),
    outputs: listOf(object({ txid: TXID, index: COUNT, amount: SATOSHIS, confirmations: described('0 in the pool.', COUNT) }))
  })
);

/** Of an order whose `state` is one of these. */
const stateOf = (names: readonly string[], more: PlainSchema['properties'] = {}): PlainSchema =>
  object({ id: TEXT, state: { enum: names }, ...more }, { received: RECEIVED });

const STATE = named(
  'State',
  anyOf(
    stateOf(['open', 'expired', 'unconfirmed', 'missing', 'conflicted']),
    stateOf(['confirmed'], { confirmations: COUNT }),
    stateOf(['replaced'], { by: described('The transaction that has taken its place in the pool.', TXID) })
  )
);

const STATUS_NAME = {
  enum: ORDER_STATUSES,
  description: 'How far the order has come, by the money.'
} as const satisfies PlainSchema;

const PROGRESS = named(
  'Progress',
  object(
    {
      id: TEXT,
      status: STATUS_NAME,
      state: described('The state of the accepted Payment.', TEXT),
      amount: described('What is asked for, in satoshis; 0: as much as the customer likes.', SATOSHIS),
      received: described('Satoshis in pool or chain.', SATOSHIS),
      confirmed: described('Satoshis in the chain.', SATOSHIS),
      missing: described('Satoshis that have still to come.', SATOSHIS),
      created: TIME,
      url: described('The page of the order.', TEXT)
    },
    { confirmations: COUNT, expires: TIME, memo: TEXT, merchant_url: TEXT }
  )
);

const UNREADABLE = named('UnreadableOrder', object({ id: TEXT, error: described('Why nothing can be said of it.', TEXT) }));

const ORDERS = named(
  'Orders',
  object(
    { orders: described('The newest first.', listOf(anyOf(PROGRESS, UNREADABLE))) },
    { next: described('`before` of the next page; absent on the last one.', TEXT) }
  )
);

const ID = inPath('id', 'The id of the order, which is in the address of its request.', TEXT);

const ENCODED = 'The body has a Content-Encoding.';

const UNKNOWN = { 404: 'There is no such order.' };

export const CREATE: PlacedOperation = {
  id: 'createOrder',
  method: 'POST',
  path: PATH,
  summary: 'Makes a payment request.',
  body: json('The order. Unknown fields are refused.', ORDER),
  status: 201,
  answer: json('Where the request is.', CREATED),
  errors: {
    400: 'The order cannot be read, or cannot be paid; the text says why.',
    403: 'A browser sends it for a page of another site.',
    413: 'The order is too large.',
    415: ENCODED,
    500: 'The request cannot be signed.'
  }
};

export const LIST: PlacedOperation = {
  id: 'listOrders',
  method: 'GET',
  path: PATH,
  summary: 'The orders, the newest first, or a page with them, by the header Accept.',
  parameters: [
    inQuery('status', 'Only orders with this status.', STATUS_NAME),
    inQuery('before', 'Only orders that are older than the one with this id.', TEXT),
    inQuery('limit', 'The most orders in one reply.', { type: 'integer', minimum: 1, maximum: MOST_ORDERS, default: LIMIT })
  ],
  answer: [json('The orders.', ORDERS), { type: 'text/html', schema: TEXT, description: 'Or a page.' }],
  errors: { 400: 'The query cannot be read; the text says why.' },
  hasPages: true
};

export const STATUS: PlacedOperation = {
  id: 'getOrderStatus',
  method: 'GET',
  path: `${PATH}/{id}/status`,
  summary: 'How far an order has come.',
  parameters: [ID],
  answer: json('How far it has come.', PROGRESS),
  errors: UNKNOWN
};

export const GET: PlacedOperation = {
  id: 'getOrder',
  method: 'GET',
  path: `${PATH}/{id}`,
  summary: 'The payment request, its URI, a page for people, or the state of the order, by the header Accept.',
  parameters: [ID],
  answer: [
    json('The state.', STATE),
    message(PAYMENT_REQUEST_TYPE, 'Or a PaymentRequest.'),
    { type: URI_LIST_TYPE, schema: TEXT, description: 'Or the `bitcoin:` URI.' },
    { type: 'text/html', schema: TEXT, description: 'Or a page.' }
  ],
  errors: UNKNOWN,
  hasPages: true
};

export const PAY: PlacedOperation = {
  id: 'payOrder',
  method: 'POST',
  path: `${PATH}/{id}`,
  summary: 'Takes a Payment, broadcasts its transactions and acknowledges it.',
  parameters: [ID],
  body: message(PAYMENT_TYPE, 'A Payment.'),
  answer: message(PAYMENT_ACK_TYPE, 'A PaymentACK.'),
  errors: {
    ...UNKNOWN,
    400: 'The Payment is refused; the text says why.',
    413: 'The Payment is too large.',
    415: `It is no Payment by its type. Or: ${ENCODED}`
  }
};

/** `version`: of this package. */
export const merchantDocument = (version: string): Buffer =>
  documentText(
    {
      title: 'Payment requests (BIP70)',
      description: 'A merchant. Amounts are satoshis. Texts of errors end with a carriage return and a line feed.',
      version,
      path: '',
      errors: {
        503: 'Node or index are not in sync, it is not known whether the request is paid, or too many Payments wait; the text says which.'
      },
      keyFor: ({ id }) => id === CREATE.id || id === LIST.id
    },
    [CREATE, LIST, GET, STATUS, PAY],
    PAY_DOCUMENT_PATH
  );
