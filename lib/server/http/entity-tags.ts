// Validators for caches between the service and its clients (RFC 9110, 8.8.3 and 13.1.2). A reply that never changes has one that stays; one
// that holds for a state of the index has one for that state. What depends on anything else, as the pool, has none.

import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { HeaderRecord } from '../../index/types';
import type { Reply } from './reply';

const SALT_CHARACTERS = 8;
const HASH_CHARACTERS = 24;

export class EntityTags {
  readonly #salt: string;
  readonly #final: string;
  #tip: HeaderRecord | undefined;
  #ofTip = '';

  /** `edition`: everything else on which the bytes of replies depend, the version of the program included. */
  constructor(edition: string) {
    this.#salt = createHash('sha256').update(edition).digest('hex').slice(0, SALT_CHARACTERS);
    this.#final = `"${this.#salt}"`;
  }

  /** With its quotes; undefined: the reply has none. */
  of({ isImmutable, tip }: Pick<Reply, 'isImmutable' | 'tip'>): string | undefined {
    if (isImmutable === true) return this.#final;
    if (tip === undefined) return undefined;
    if (tip !== this.#tip) {
      this.#tip = tip;
      // The hash's first bytes in wire order: the last ones are zeros.
      this.#ofTip = `"${this.#salt}-${tip.hash.toString('hex', 0, HASH_CHARACTERS / 2)}"`;
    }
    return this.#ofTip;
  }
}

/** Whether the client has the reply with this tag. `*`, which no cache sends, gets the whole reply, as from Bitcoin Core. */
export function hasCopy({ headers }: IncomingMessage, tag: string): boolean {
  return headers['if-none-match']?.split(',').some((each) => each.trim().replace(/^W\//, '') === tag) === true;
}

/** What of the headers of a success stands in a reply with 304: those that describe the body do not. */
export function withoutBody(headers: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const [name = '', value = ''] = headers.slice(i, i + 2);
    if (!name.startsWith('Content-')) kept.push(name, value);
  }
  return kept;
}
