// Where a snapshot is fetched from: a folder, or a folder that an HTTP server serves.

import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isMissingFile } from '../system/system-errors';
import { messageOf } from '../system/error-text';
import { SnapshotError, TransferError } from './errors';

/** Without a byte for so long, a transfer is begun again where it was. */
const SILENCE_MS = 30_000;
/** How often it is begun again without a byte in between. */
const MOST_ATTEMPTS = 5;
const PAUSE_MS = 1_000;
const READ_BYTES = 1_024 * 1_024;

export interface SnapshotSource {
  /**
   * The bytes of a file from `offset` on, which is within the file. May go on forever: the caller stops at the size that it expects.
   * @throws SnapshotError, errors of the system, the reason of an abort
   */
  read(name: string, offset: number, signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** @throws SnapshotError for an address that is neither a folder nor of HTTP */
export function sourceAt(address: string): SnapshotSource {
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(address)) return new FolderSource(address);
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new SnapshotError(
      `a snapshot is fetched from a folder, or from an address that begins with http:// or https://, not from '${address}'`
    );
  return new HttpSource(url);
}

class FolderSource implements SnapshotSource {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async *read(name: string, offset: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    try {
      yield* createReadStream(join(this.#folder, name), { start: offset, highWaterMark: READ_BYTES, signal }) as AsyncIterable<Buffer>;
    } catch (error) {
      signal.throwIfAborted();
      throw isMissingFile(error) ? noFile(name, this.#folder) : error;
    }
  }
}

class HttpSource implements SnapshotSource {
  readonly #base: URL;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: URL) {
    const { username, password } = url;
    const credentials = `${decoded(username)}:${decoded(password)}`;
    this.#headers = username === '' ? {} : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
    this.#base = new URL(url);
    [this.#base.username, this.#base.password] = ['', ''];
    if (!this.#base.pathname.endsWith('/')) this.#base.pathname += '/';
  }

  async *read(name: string, offset: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    let at = offset;
    for (let attempt = 1; ; attempt++) {
      const silence = new Silence(signal);
      try {
        for await (const chunk of this.#request(name, at, silence)) {
          silence.heard();
          attempt = 1;
          at += chunk.length;
          yield chunk;
        }
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof SnapshotError) throw error;
        if (attempt >= MOST_ATTEMPTS)
          throw new TransferError(`${name} cannot be read from ${this.#base.href}: ${reasonOf(error)}; the next fetch goes on from there`, {
            cause: error
          });
        await pause(PAUSE_MS * attempt, undefined, { signal });
      } finally {
        silence.end();
      }
    }
  }

  async *#request(name: string, offset: number, silence: Silence): AsyncGenerator<Uint8Array> {
    const headers = { ...this.#headers, ...(offset > 0 && { range: `bytes=${offset}-` }) };
    const response = await fetch(new URL(name, this.#base), { headers, signal: silence.signal });
    if (response.status === 404) throw noFile(name, this.#base.href);
    if (response.status === 401 || response.status === 403)
      throw new SnapshotError(`${this.#base.href} does not give ${name} to us (${response.status}); an address may have user:password@`);
    if (response.status === 416) throw new SnapshotError(`${name} of ${this.#base.href} has less than ${offset} bytes`);
    if (!response.ok || response.body === null) throw new Error(`status ${response.status}`);
    // A server that knows no ranges sends all of it.
    let superfluous = response.status === 206 ? 0 : offset;
    if (response.status === 206 && !response.headers.get('content-range')?.startsWith(`bytes ${offset}-`))
      throw new Error(`it sent another range than ${offset}-`);
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      silence.heard();
      const skipped = Math.min(superfluous, chunk.length);
      superfluous -= skipped;
      if (skipped < chunk.length) yield chunk.subarray(skipped);
    }
  }
}

/** Aborts a transfer that has been silent for too long, or that nobody wants any more. */
class Silence {
  readonly #abort = new AbortController();
  readonly #timer = setTimeout(() => {
    this.#abort.abort(new Error(`nothing came for ${SILENCE_MS / 1_000} s`));
  }, SILENCE_MS);
  readonly signal: AbortSignal;

  constructor(outer: AbortSignal) {
    this.signal = AbortSignal.any([outer, this.#abort.signal]);
  }

  heard(): void {
    this.#timer.refresh();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#abort.abort(new Error('it is over'));
  }
}

/** fetch() tells the reason as a cause. */
const reasonOf = (error: unknown): string => messageOf((error as Error).cause ?? error);

const noFile = (name: string, where: string): SnapshotError => new SnapshotError(`there is no ${name} in ${where}`);

/** A part of an address. @throws SnapshotError */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    throw new SnapshotError(`'${text}' in the address is not percent-encoded: a % is written as %25`, { cause: error });
  }
}
