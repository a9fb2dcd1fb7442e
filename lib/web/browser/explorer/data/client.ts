// Requests to the node that serves the page, and what can go wrong with them.

import { parseExactly } from '../../parts/amounts';

/** The node does not have it. */
export class NotFoundError extends Error {
  override readonly name = 'NotFoundError';
}

/** The node understood the request and refuses it, in words for people. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** The node asks for its key, or for another one. */
export class KeyError extends Error {
  override readonly name = 'KeyError';
}

/** The node cannot answer now. */
class BusyError extends Error {
  override readonly name = 'BusyError';
}

/** There is no answer: the node, or what is between, has gone. */
class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

/** Whether the same request may be answered a moment later. */
export const isPassing = (error: unknown): boolean => error instanceof BusyError || error instanceof UnreachableError;

const TIMEOUT_MS = 30_000;

/** Of proxies that count requests. */
const TOO_MANY_REQUESTS = 429;

const KEY_ITEM = 'explorer:key';

export class Client {
  /** As long as this tab is open. */
  get key(): string | undefined {
    try {
      return sessionStorage.getItem(KEY_ITEM) ?? undefined;
    } catch {
      return undefined;
    }
  }

  set key(key: string | undefined) {
    try {
      if (key === undefined) sessionStorage.removeItem(KEY_ITEM);
      else sessionStorage.setItem(KEY_ITEM, key);
    } catch {
      // Then it is asked for again.
    }
  }

  /** @throws one of the errors above */
  async text(path: string): Promise<string> {
    const { key } = this;
    const headers = key === undefined ? {} : { Authorization: `Basic ${base64(`explorer:${key}`)}` };
    let status: number;
    let isPage: boolean;
    let text: string;
    try {
      // Answers change with each block: what the browser has is used only if the node says that it is still right.
      const reply = await fetch(path, { headers, cache: 'no-cache', credentials: 'omit', signal: AbortSignal.timeout(TIMEOUT_MS) });
      ({ status } = reply);
      isPage = reply.headers.get('Content-Type')?.startsWith('text/html') === true;
      text = await reply.text();
    } catch (error) {
      throw new UnreachableError('The node does not answer.', { cause: error });
    }
    // The node answers with no pages here: it is what is between that speaks, of itself.
    if (isPage && status !== 401) throw new UnreachableError('The node does not answer.');
    if (status === 200) return text;
    const message = text.trim();
    if (status === 404) throw new NotFoundError(message);
    if (status === 401) throw new KeyError(key === undefined ? 'The node asks for its key.' : 'This is not the key of the node.');
    if (status >= 400 && status < 500 && status !== TOO_MANY_REQUESTS) throw new RefusedError(message);
    throw new BusyError(message);
  }

  /** `decimals`: numbers with a decimal point become texts. */
  async json<T>(path: string, options?: { readonly decimals?: boolean }): Promise<T> {
    return parseExactly(await this.text(path), options) as T;
  }
}

/** Of the text in UTF-8: `btoa` alone throws for characters beyond Latin-1. */
const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
