// Wrong passwords are answered late, those of one client one after the other: it guesses no faster over many connections than over one.

import { firstValueFrom, merge, ReplaySubject, timer } from 'rxjs';
import { groupOf } from '../../server/bounds/address-group';

/** Bitcoin Core's delay. */
const DELAY_MS = 250;

/** As many as Bitcoin Core has threads, each of which such a delay holds up. */
const MOST_WAITING = 16;

export class WrongPasswords {
  /** How many wait of each address group. */
  readonly #waiting = new Map<string, number>();
  readonly #closing = new ReplaySubject<void>(1);

  /** Whether so many wait of a client that no further password of it is looked at. `address`: its IP address. */
  areTooMany(address: string): boolean {
    return (this.#waiting.get(groupOf(address)) ?? 0) >= MOST_WAITING;
  }

  /** Waits as long as the reply has to wait, also when the client leaves: it knows by then that the password was wrong. */
  async delay(address: string): Promise<void> {
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
