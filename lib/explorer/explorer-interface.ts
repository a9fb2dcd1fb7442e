// The explorer: a page at `/explorer` for browsers. It asks the other interfaces for what it shows, and `status.json` here for how far the node
// is. Neither needs a key nor an open gate: they say nothing that other replies do not.

import { acceptedPrefixes } from '../bitcoin/address';
import { isUnder } from '../server/http/mount';
import { jobsOf, type Working } from './jobs';
import type { IncomingMessage } from 'node:http';
import type { NetworkInfo } from '../node/types/chain';
import type { HttpInterface } from '../server/app';
import type { Responses } from '../server/http/responses';
import type { ExplorerStatus } from '../web/explorer-status';
import type { WebFiles, WebReply } from '../web/web-files';

const EXPLORER_PATH = '/explorer';

const ASSETS = `${EXPLORER_PATH}/assets`;
const STATUS = `${EXPLORER_PATH}/status.json`;

/** Esplora's API, which the page asks if there is one. */
export interface AskedApi {
  /** Without a slash at its end. */
  readonly path: string;
  readonly gate: { readonly isReady: boolean };
}

export interface ExplorerParts extends Working {
  readonly files: WebFiles;
  readonly responses: Pick<Responses, 'send'>;
  readonly gate: Working['gate'] & { status(): string };
  readonly network: Pick<NetworkInfo, 'chain' | 'addressPrefixes'>;
  /** Undefined without `--rest-addresses`. */
  readonly api: AskedApi | undefined;
  /** Whether the interfaces that the page asks want the node's API key. */
  readonly needsKey: boolean;
  /** The version of this package. */
  readonly version: string;
}

/** @throws NotBuiltError */
export function explorerInterface(parts: ExplorerParts): HttpInterface {
  const { files, responses } = parts;
  const page = files.page('explorer', ASSETS, {
    title: 'Explorer',
    noScript: 'This page draws itself with JavaScript. Programs ask /rest and /api.'
  });
  const replyTo = (request: IncomingMessage): WebReply => {
    const { method, url = '' } = request;
    if (method !== 'GET' && method !== 'HEAD') return NOT_ALLOWED;
    const path = url.split('?')[0] ?? '';
    if (path === '/') return REDIRECT;
    if (path === STATUS) return statusReply(parts);
    if (isUnder(ASSETS, path)) return files.asset(path.slice(ASSETS.length + 1), request);
    return page(request);
  };
  return {
    takes: (request) => isUnder(EXPLORER_PATH, request.url ?? '') || isBrowserAtRoot(request),
    middleware: ({ req, res }) => {
      const { status, headers, body } = replyTo(req);
      responses.send(res, status, headers, body);
      return Promise.resolve();
    }
  };
}

/** Programs get bcoin's own reply at `/`. */
function isBrowserAtRoot({ method, url = '', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): boolean {
  return (url === '/' || url.startsWith('/?')) && (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true;
}

const REDIRECT: WebReply = {
  status: 302,
  headers: ['Location', EXPLORER_PATH, 'Vary', 'Accept', 'Cache-Control', 'no-store', 'Content-Length', '0'],
  body: Buffer.alloc(0)
};

const NOT_ALLOWED: WebReply = { status: 405, headers: ['Allow', 'GET, HEAD', 'Content-Length', '0'], body: Buffer.alloc(0) };

function statusReply(parts: ExplorerParts): WebReply {
  const body = Buffer.from(`${JSON.stringify(statusOf(parts))}\n`);
  return {
    status: 200,
    headers: ['Content-Type', 'application/json', 'Cache-Control', 'no-store', 'Content-Length', String(body.length)],
    body
  };
}

function statusOf(parts: ExplorerParts): ExplorerStatus {
  const { version, network, needsKey, gate, api } = parts;
  const ready = gate.isReady;
  return {
    version,
    chain: network.chain,
    addressPrefixes: acceptedPrefixes(network.chain, network.addressPrefixes),
    needsKey,
    ready,
    ...(!ready && { why: gate.status() }),
    ...(api && { api: { path: api.path, ready: api.gate.isReady } }),
    jobs: jobsOf(parts)
  };
}
