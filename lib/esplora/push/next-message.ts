// What the next message to a client has: each field once, and in fields for lists of scripts each name once.

import { piecesOf, type Field, type Json, type Pieces } from '../messages';

/** A field, or one member of a field that is an object. */
export type Update = readonly [name: string, value: Json | Pieces, member?: string];

/** Bytes up to which members are put together. */
const MOST_BYTES = 1_024 * 1_024;

export class NextMessage {
  readonly #fields = new Map<string, Json | Pieces | Map<string, Json | Pieces>>();
  /** Of the members of all fields. */
  #bytes = 0;

  has(name: string): boolean {
    return this.#fields.has(name);
  }

  /** Gives false if the update belongs in a further message. */
  take([name, value, member]: Update): boolean {
    const known = this.#fields.get(name);
    if (member === undefined) {
      if (known === undefined) this.#fields.set(name, value);
      return known === undefined;
    }
    const bytes = lengthOf(value);
    if (!(known instanceof Map)) this.#fields.set(name, new Map([[member, value]]));
    else if (known.has(member) || this.#bytes + bytes > MOST_BYTES) return false;
    else known.set(member, value);
    this.#bytes += bytes;
    return true;
  }

  /** Gives the fields of the message and begins the one after it. */
  end(): Field[] {
    const fields = [...this.#fields].map(([name, value]): Field => [name, value instanceof Map ? piecesOf([...value]) : value]);
    this.#fields.clear();
    this.#bytes = 0;
    return fields;
  }
}

const lengthOf = (value: Json | Pieces): number => [value].flat().reduce((sum, { length }) => sum + length, 0);
