// Wrong passwords are answered late, and those of one address one after the other, so that guessing over many connections is no faster than
// over one. A connection over which the right password came is not held up by others of its address. New connections are: whoever guesses
// has no connection of the first kind, and each password that is compared is a guess.

import { firstValueFrom, merge, ReplaySubject, timer } from 'rxjs';
import { groupOf } from '../../server/bounds/address-group';
import type { Socket } from 'node:net';

/** Bitcoin Core's delay. */
const DELAY_MS = 250;

/** As many as Bitcoin Core has threads, each of which such a delay holds up. */
const MOST_WAITING = 16;

export class WrongPasswords {
  /** How many wait of each address group. */
  readonly #waiting = new Map<string, number>();
  /** The addresses from which the last password was right, by connection: one of a proxy has requests of several clients. */
  readonly #proven = new WeakMap<Socket, string>();
  readonly #closing = new ReplaySubject<void>(1);

  /** Whether so many wait of a client that no further password of it is looked at on this connection. `address`: its IP address. */
  areTooMany(address: string, connection: Socket): boolean {
    return this.#proven.get(connection) !== address && (this.#waiting.get(groupOf(address)) ?? 0) >= MOST_WAITING;
  }

  /** The client has sent a right password. */
  accept(address: string, connection: Socket): void {
    this.#proven.set(connection, address);
  }

  /** Waits as long as the reply has to wait, also when the client leaves: it knows by then that the password was wrong. */
  async delay(address: string, connection: Socket): Promise<void> {
    this.#proven.delete(connection);
    const group = groupOf(address);
    const place = (this.#waiting.get(group) ?? 0) + 1;
    this.#waiting.set(group, place);
    await firstValueFrom(merge(timer(place * DELAY_MS), this.#closing));
    const left = (this.#waiting.get(group) ?? 1) - 1;
    if (left === 0) this.#waiting.delete(group);
    else this.#waiting.set(group, left);
  }

  /** Ends all delays. */
  close(): void {
    this.#closing.next();
  }
}
