// A merchant over HTTP (BIP71, BIP72, BIP73), without a server: replies as values, for these routes:
//
//   POST /pay               answerCreate     an order in JSON; only the merchant may do this
//   GET  /pay               answerList       the orders, in JSON or as a page; only the merchant may do this
//   GET  /pay/<id>          answerGet        the request, its `bitcoin:` URI, a page, or the state in JSON
//   GET  /pay/<id>/status   answerProgress   how far the order has come, in JSON: what its page asks for again and again
//   POST /pay/<id>          answerPay        a Payment; the PaymentACK comes back

import { PaymentError, type PaymentErrorCode } from '../../payments/error';
import {
  accepts,
  negotiate,
  PAYMENT_ACK_TYPE,
  PAYMENT_REQUEST_TYPE,
  PAYMENT_TYPE,
  URI_LIST_TYPE,
  mediaTypeOf
} from '../../payments/transport/media-types';
import { parseOrder } from './order';
import { parseQuery } from './order-query';
import { renderList } from './list-page';
import { renderNotice } from './notice-page';
import { renderOrder } from './order-page';
import { progressJson } from './progress';
import type { Merchant } from './merchant';
import type { PageAssets } from './page-document';
import type { PaymentState } from './receipts';

export interface PaymentReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** All other codes are errors of the client: 400. */
const STATUS: Partial<Record<PaymentErrorCode, number>> = {
  'unknown-request': 404,
  'too-large': 413,
  'cannot-sign': 500,
  'not-yet-known': 503,
  busy: 503
};

/** @param body JSON: see order.ts. */
export async function answerCreate(merchant: Merchant, body: Buffer): Promise<PaymentReply> {
  return answering(async () => {
    const created = await merchant.create(parseOrder(body));
    const reply = text(201, 'application/json', `${JSON.stringify(created)}\n`);
    return { ...reply, headers: { ...reply.headers, Location: created.url } };
  });
}

/**
 * @param query of the URL: `status`, `before`, `limit`.
 * @param accept the Accept header: those who name `text/html` get the page.
 */
export async function answerList(
  merchant: Merchant,
  query: URLSearchParams,
  accept: string | undefined,
  assets: PageAssets = {}
): Promise<PaymentReply> {
  return answeringPeople(accept, assets, async () => {
    const asked = parseQuery(query);
    const list = await merchant.orders(asked);
    if (accepts(accept, 'text/html')) return page(renderList(list, asked, assets));
    const orders = list.orders.map((order) => ('error' in order ? order : progressJson(order)));
    return text(200, 'application/json', `${JSON.stringify({ ...list, orders })}\n`);
  });
}

/** How far an order has come, as JSON. */
export async function answerProgress(merchant: Merchant, id: string): Promise<PaymentReply> {
  return answering(async () => text(200, 'application/json', `${JSON.stringify(progressJson(await merchant.progress(id)))}\n`));
}

/**
 * @param accept the Accept header.
 * @param assets of the page.
 */
export async function answerGet(
  merchant: Merchant,
  id: string,
  accept: string | undefined,
  assets: PageAssets = {}
): Promise<PaymentReply> {
  return answeringPeople(accept, assets, async () => {
    const stored = await merchant.request(id);
    switch (negotiate(accept)) {
      case 'payment-request':
        return message(PAYMENT_REQUEST_TYPE, stored.request);
      case 'uri-list':
        return text(200, URI_LIST_TYPE, `${merchant.uriOf(id)}\r\n`);
      case 'state':
        return text(200, 'application/json', `${stateJson(id, await merchant.state(id))}\n`);
      case 'page':
        return page(renderOrder(await merchant.view(id), assets));
    }
  });
}

/**
 * @param contentType the Content-Type header.
 * @param body the Payment; reading more than MAX_PAYMENT_SIZE bytes is useless.
 */
export async function answerPay(merchant: Merchant, id: string, contentType: string | undefined, body: Buffer): Promise<PaymentReply> {
  return answering(async () => {
    if (mediaTypeOf(contentType ?? '') !== PAYMENT_TYPE) return text(415, 'text/plain', `A body of the type ${PAYMENT_TYPE} expected.\r\n`);
    return message(PAYMENT_ACK_TYPE, await merchant.pay(id, body));
  });
}

/** Errors of the protocol become replies; others are the caller's to handle. */
async function answering(answer: () => Promise<PaymentReply>): Promise<PaymentReply> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    return text(STATUS[error.code] ?? 400, 'text/plain', `${error.message}\r\n`);
  }
}

/** The same; browsers get the error as a page. */
async function answeringPeople(accept: string | undefined, assets: PageAssets, answer: () => Promise<PaymentReply>): Promise<PaymentReply> {
  const reply = await answering(answer);
  return reply.status === 200 || !accepts(accept, 'text/html') ? reply : noticeReply(reply, assets);
}

/** An error in text as a page for browsers. */
export function noticeReply({ status, headers, body }: PaymentReply, assets: PageAssets): PaymentReply {
  const made = page(renderNotice(status, body.toString().trim(), assets));
  return { status, body: made.body, headers: { ...headers, ...made.headers } };
}

/** Amounts become numbers: 21 million coins in satoshis fit into a double. */
function stateJson(id: string, state: PaymentState): string {
  return JSON.stringify({ id, ...state }, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value));
}

function message(type: string, body: Buffer): PaymentReply {
  return reply(200, type, body, { 'Content-Transfer-Encoding': 'binary' });
}

/**
 * Nothing comes from elsewhere, nothing is in line, no other page may show this one in a frame, and no text can become markup. As of
 * lib/web/web-files.ts, which is not a part of the portable merchant.
 */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'"
].join('; ');

function page(html: string): PaymentReply {
  const reply = text(200, 'text/html', html);
  const more = { 'Content-Security-Policy': PAGE_POLICY, 'Referrer-Policy': 'no-referrer', 'X-Content-Type-Options': 'nosniff' };
  return { ...reply, headers: { ...reply.headers, ...more } };
}

function text(status: number, type: string, body: string): PaymentReply {
  return reply(status, `${type}; charset=utf-8`, Buffer.from(body), {});
}

/** One URL has several representations (`Vary`), and they change when payments come (`no-store`). */
function reply(status: number, type: string, body: Buffer, more: Record<string, string>): PaymentReply {
  return { status, body, headers: { 'Content-Type': type, 'Cache-Control': 'no-store', Vary: 'Accept', ...more } };
}
