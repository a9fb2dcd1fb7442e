// The description of an interface over HTTP, as a route of that interface. It is made when it is first asked for, and asks neither node nor
// index: it is there while they are not in sync.

import { openApiDocument, json, type InterfaceDescription, type PlacedOperation } from '../describe/open-api';
import { requireApiKey } from './http/auth';
import { CONTENT_TYPES, type Reply } from './http/reply';
import type { Middleware } from './app';
import type { HttpServing } from './serving';

/** Below the path of the interface. */
export const DOCUMENT_PATH = '/openapi.json';

export interface DocumentRoute {
  readonly path: string;
  /** Also with a query. */
  readonly pattern: RegExp;
  readonly middleware: Middleware;
}

const DOCUMENT = {
  id: 'getDocument',
  method: 'GET',
  summary: 'This document.',
  answer: json('An OpenAPI document.', { type: 'object', description: 'As https://spec.openapis.org/oas/v3.1.0 says.' })
} as const;

/** The text of the document, with the operation that gives it. `path`: of that operation. */
export const documentText = (of: InterfaceDescription, operations: readonly PlacedOperation[], path = DOCUMENT_PATH): Buffer =>
  Buffer.from(`${JSON.stringify(openApiDocument(of, [...operations, { ...DOCUMENT, path }]))}\n`);

/** `text`: makes the document. */
export function documentRoute(path: string, { host, options }: Pick<HttpServing, 'host' | 'options'>, text: () => Buffer): DocumentRoute {
  let reply: Reply | undefined;
  return {
    path: `${path}${DOCUMENT_PATH}`,
    pattern: new RegExp(`^${`${path}${DOCUMENT_PATH}`.replaceAll('.', '\\.')}(\\?|$)`),
    middleware: (context) => {
      if (options.auth) requireApiKey(context.req, host);
      context.reply = reply ??= { contentType: CONTENT_TYPES.json, body: text() };
      return Promise.resolve();
    }
  };
}
