// The merchant's pages: /pay and /pay/<id>. Their replies come from orders/http.ts; access and the sizes of bodies
// are checked here.

import Router from '@koa/router';
import { MAX_PAYMENT_SIZE } from '../payments/messages';
import { inOrder } from '../server/answering';
import { RETRY_AFTER } from '../server/errors';
import { requireApiKey } from '../server/http/auth';
import { readBody } from '../server/http/body';
import { under } from '../server/http/mount';
import { refusalOf } from '../server/refusal';
import { ClientGoneError } from '../turns/client';
import { answerCreate, answerGet, answerPay, type PaymentReply } from './orders/http';
import type { Context } from 'koa';
import type { HttpHost } from '../node/types';
import type { HttpInterface, Middleware } from '../server/app';
import type { Unfinished } from '../server/bounds/unfinished';
import type { ServerLogger } from '../server/logger';
import type { Merchant } from './orders/merchant';

/** The gate is open when a request begins. */
const UNREADABLE = { status: () => 'the index cannot be read' };

/** Larger than any order whose outputs fit into a request. */
const MAX_ORDER_BYTES = 256 * 1024;

export interface MerchantInterfaceParts {
  readonly merchant: Merchant;
  readonly host: Pick<HttpHost, 'isApiKey'>;
  readonly timeoutMs: number;
  readonly unfinished: Unfinished;
  /** @throws HttpError 503 while node or index are not in sync. */
  readonly requireReady: () => void;
  readonly logger: ServerLogger;
}

export function merchantInterface({ merchant, host, timeoutMs, unfinished, requireReady, logger }: MerchantInterfaceParts): HttpInterface {
  const router = new Router();
  const bodyOf = async ({ req }: Context, maxBodyBytes: number): Promise<Buffer> => {
    const body = await readBody(req, { maxBodyBytes, timeoutMs, unfinished });
    // Reading the body may have taken long.
    requireReady();
    return body;
  };
  router.post('/pay', async (context) => {
    requireApiKey(context.req, host);
    const body = await bodyOf(context, MAX_ORDER_BYTES);
    write(context, await answerCreate(merchant, body));
  });
  router.get('/pay/:id', async (context) => {
    write(context, await answerGet(merchant, idOf(context), context.headers.accept));
  });
  router.post('/pay/:id', async (context) => {
    const body = await bodyOf(context, MAX_PAYMENT_SIZE);
    write(context, await answerPay(merchant, idOf(context), context.headers['content-type'], body));
  });

  const routes = inOrder(router.routes() as unknown as Middleware, router.allowedMethods() as unknown as Middleware);
  const middleware: Middleware = async (context, next) => {
    try {
      requireReady();
      await routes(context, next);
    } catch (error) {
      // Nothing was started, and no answer can be sent.
      if (error instanceof ClientGoneError) return;
      const { status, message, headers } = refusalOf(error, UNREADABLE, logger).error;
      for (let i = 0; i + 1 < headers.length; i += 2) context.set(headers[i] ?? '', headers[i + 1] ?? '');
      write(context, { status, headers: { 'Content-Type': 'text/plain' }, body: Buffer.from(`${message}\r\n`) });
    }
  };
  return { takes: under('/pay'), middleware, isWrittenByKoa: true };
}

/** The route always has an id; the store refuses a malformed one. */
function idOf(context: { readonly params: Readonly<Record<string, string | undefined>> }): string {
  return context.params['id'] ?? '';
}

function write(context: Context, { status, headers, body }: PaymentReply): void {
  context.status = status;
  context.set(headers);
  if (status === 503) context.set(...RETRY_AFTER);
  context.body = body;
}
