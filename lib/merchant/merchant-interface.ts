// The merchant's pages: /pay, /pay/<id> and /pay/<id>/status, under /pay/assets what they load, and their description. Replies come from
// orders/http.ts; access and the sizes of bodies are checked here.

import Router from '@koa/router';
import { MAX_PAYMENT_SIZE } from '../payments/messages';
import { accepts } from '../payments/transport/media-types';
import { compose, type HttpInterface, type Middleware } from '../server/app';
import { HttpError, RETRY_AFTER, unavailable } from '../server/errors';
import { isOfOtherSite, requireApiKey } from '../server/http/auth';
import { readBody } from '../server/http/body';
import { isUnder, under } from '../server/http/mount';
import { refusalOf } from '../server/refusal';
import { ClientGoneError } from '../turns/client';
import { CREATE, GET, LIST, merchantDocument, PAY, PAY_DOCUMENT_PATH, STATUS } from './document';
import { answerCreate, answerGet, answerList, answerPay, answerProgress, noticeReply, type PaymentReply } from './orders/http';
import type { Context } from 'koa';
import type { PlacedOperation } from '../describe/open-api';
import type { HttpHost } from '../node/types/http-host';
import type { Unfinished } from '../server/bounds/unfinished';
import type { ServerLogger } from '../server/logger';
import type { WebFiles } from '../web/web-files';
import type { Merchant } from './orders/merchant';

/** The gate is open when a request begins. */
const UNREADABLE = { status: () => 'the index cannot be read' };

/** Larger than any order whose outputs fit into a request. */
const MAX_ORDER_BYTES = 256 * 1_024;

export interface MerchantInterfaceParts {
  readonly merchant: Merchant;
  readonly host: Pick<HttpHost, 'isApiKey'>;
  readonly timeoutMs: number;
  readonly unfinished: Unfinished;
  /** @throws HttpError 503 while node or index are not in sync. */
  readonly requireReady: () => void;
  /** The version of this package. */
  readonly version: string;
  readonly logger: ServerLogger;
  readonly files: Pick<WebFiles, 'asset' | 'linksOf'>;
}

/** Links from the pages are relative, so that they lead to where the browser found the page. */
const ASSETS = '/pay/assets';
const [FROM_LIST, FROM_ORDER] = ['pay/assets', 'assets'];

/** @throws NotBuiltError */
export function merchantInterface(parts: MerchantInterfaceParts): HttpInterface {
  const { merchant, host, timeoutMs, unfinished, requireReady, version, logger, files } = parts;
  const [listLinks, orderLinks] = [FROM_LIST, FROM_ORDER].map((assets) => files.linksOf('shop', assets));
  // Below `/pay/<id>/` the links of a page would lead elsewhere.
  const router = new Router({ strict: true });
  const bodyOf = async ({ req }: Context, maxBodyBytes: number): Promise<Buffer> => {
    const body = await readBody(req, { maxBodyBytes, timeoutMs, unfinished });
    // Reading the body may have taken long.
    requireReady();
    return body;
  };
  let document: Buffer | undefined;
  router.get(PAY_DOCUMENT_PATH, (context) => {
    document ??= merchantDocument(version);
    write(context, { status: 200, headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }, body: document });
  });
  router.post(patternOf(CREATE), async (context) => {
    requireApiKey(context.req, host);
    if (isOfOtherSite(context.req)) throw new HttpError(403, 'Pages of other sites may not make orders');
    const body = await bodyOf(context, MAX_ORDER_BYTES);
    write(context, await answerCreate(merchant, body));
  });
  router.get(patternOf(LIST), async (context) => {
    requireApiKey(context.req, host);
    write(context, await answerList(merchant, context.URL.searchParams, context.headers.accept, listLinks));
  });
  router.get(patternOf(STATUS), async (context) => {
    write(context, await answerProgress(merchant, idOf(context)));
  });
  router.get(patternOf(GET), async (context) => {
    write(context, await answerGet(merchant, idOf(context), context.headers.accept, orderLinks));
  });
  router.post(patternOf(PAY), async (context) => {
    if (merchant.isBusyFor(idOf(context))) throw unavailable('other Payments are being taken');
    const body = await bodyOf(context, MAX_PAYMENT_SIZE);
    write(context, await answerPay(merchant, idOf(context), context.headers['content-type'], body));
  });

  const routes = compose(router.routes() as unknown as Middleware, router.allowedMethods() as unknown as Middleware);
  const middleware: Middleware = async (context, next) => {
    try {
      if (isUnder(ASSETS, context.url) && isRead(context)) {
        writeAsset(context, files);
        return;
      }
      if (context.path !== PAY_DOCUMENT_PATH) requireReady();
      await routes(context, next);
    } catch (error) {
      // Nothing was started, and no answer can be sent.
      if (error instanceof ClientGoneError) return;
      const { status, message, headers } = refusalOf(error, UNREADABLE, logger).error;
      for (let i = 0; i + 1 < headers.length; i += 2) context.set(headers[i] ?? '', headers[i + 1] ?? '');
      const reply = { status, headers: { 'Content-Type': 'text/plain' }, body: Buffer.from(`${message}\r\n`) };
      const isForPeople = isRead(context) && accepts(context.headers.accept, 'text/html');
      write(context, isForPeople ? noticeReply(reply, (context.path === '/pay' ? listLinks : orderLinks) ?? {}) : reply);
    }
    const { _matchedRoute: route } = context as { readonly _matchedRoute?: string };
    context.route = route && `${context.method} ${route}`;
  };
  return { takes: under('/pay'), middleware, isWrittenByKoa: true, timedAs: 'payments' };
}

const patternOf = ({ path }: PlacedOperation): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** The route always has an id; the store refuses a malformed one. */
function idOf(context: { readonly params: Readonly<Record<string, string | undefined>> }): string {
  return context.params['id'] ?? '';
}

function isRead({ method }: Context): boolean {
  return method === 'GET' || method === 'HEAD';
}

function writeAsset(context: Context, files: Pick<WebFiles, 'asset'>): void {
  const { status, headers, body } = files.asset(context.path.slice(ASSETS.length + 1), context.req);
  for (let i = 0; i + 1 < headers.length; i += 2) context.set(headers[i] ?? '', headers[i + 1] ?? '');
  context.status = status;
  context.body = body;
}

function write(context: Context, { status, headers, body }: PaymentReply): void {
  context.status = status;
  context.set(headers);
  if (status === 503) context.set(...RETRY_AFTER);
  context.body = body;
}
