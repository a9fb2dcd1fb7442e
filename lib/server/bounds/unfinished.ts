// The memory for what clients have begun to send, or have sent without an answer so far: bodies of requests, lines, frames, and requests
// that wait. It is one account for all interfaces. Nothing in it is refused: what has been unfinished for longest makes room, since honest
// clients send a message within seconds.

import { CLIENT_SHARE } from './address-group';
import { NO_PROXIES, type Forwarded, type Proxies } from './proxies';

/** Messages up to this size have a reserve of their own. */
const SMALL_BYTES = 64 * 1_024;

/** Bytes for all large messages together: four of the longest bodies. */
const LARGE_TOTAL_BYTES = 128 * 1_024 * 1_024;

/** As much as a thousand sessions can have. */
const SMALL_TOTAL_BYTES = 64 * 1_024 * 1_024;

export interface UnfinishedLimits {
  readonly largeBytes: number;
  readonly smallBytes: number;
}

/** What is unfinished of one connection. */
export class UnfinishedMessage {
  readonly #account: Unfinished;
  /** Undefined: without a limit of its own. */
  readonly group: string | undefined;
  readonly drop: () => void;
  #bytes = 0;
  #isDropped = false;

  constructor(account: Unfinished, group: string | undefined, drop: () => void) {
    this.#account = account;
    this.group = group;
    this.drop = drop;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How much memory it takes now; 0: it is finished. Other messages, or this one, may be dropped to make room. */
  set(bytes: number): void {
    if (bytes === this.#bytes || this.#isDropped) return;
    const before = this.#bytes;
    this.#bytes = bytes;
    this.#account.changed(this, before);
  }

  /** To be called by the account, which no longer counts the message. */
  makeRoom(): void {
    this.#bytes = 0;
    this.#isDropped = true;
    this.drop();
  }
}

/** Messages of one class, with the oldest first. */
class MessageClass {
  readonly #most: number;
  readonly #messages = new Set<UnfinishedMessage>();
  readonly #ofGroup = new Map<string, number>();
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get bytes(): number {
    return this.#bytes;
  }

  count(message: UnfinishedMessage, by: number): void {
    this.#bytes += by;
    const { group } = message;
    if (group === undefined) return;
    const bytes = (this.#ofGroup.get(group) ?? 0) + by;
    if (bytes === 0) this.#ofGroup.delete(group);
    else this.#ofGroup.set(group, bytes);
  }

  add(message: UnfinishedMessage, bytes: number): void {
    this.#messages.add(message);
    this.count(message, bytes);
  }

  delete(message: UnfinishedMessage, bytes: number): void {
    this.#messages.delete(message);
    this.count(message, -bytes);
  }

  /** The message that has to make room; undefined: there is enough. `group`: of the message that has grown. */
  victim(group: string | undefined): UnfinishedMessage | undefined {
    const isOverShare = group !== undefined && (this.#ofGroup.get(group) ?? 0) > this.#most * CLIENT_SHARE;
    if (!isOverShare && this.#bytes <= this.#most) return undefined;
    for (const message of this.#messages) if (!isOverShare || message.group === group) return message;
    return undefined;
  }
}

export class Unfinished {
  /** Connections that were cut off to make room. */
  cutOff = 0;
  /** Those that were cut off because nothing more of a body came, or only tiny pieces of it. */
  stalled = 0;
  readonly #small: MessageClass;
  readonly #large: MessageClass;
  readonly #proxies: Proxies;

  constructor(
    { largeBytes, smallBytes }: UnfinishedLimits = { largeBytes: LARGE_TOTAL_BYTES, smallBytes: SMALL_TOTAL_BYTES },
    proxies = NO_PROXIES
  ) {
    this.#proxies = proxies;
    this.#small = new MessageClass(smallBytes);
    this.#large = new MessageClass(largeBytes);
  }

  /** Bytes of all messages. */
  get bytes(): number {
    return this.#small.bytes + this.#large.bytes;
  }

  /**
   * Begins to count for a connection. `address`: its IP address. `drop`: ends the connection to make room. Clients of the node's machine
   * and those that it trusts have no share, only the limit of all.
   */
  open(address: string | undefined, drop: () => void, isTrusted = false): UnfinishedMessage {
    return new UnfinishedMessage(this, isTrusted ? undefined : this.#proxies.shareOf(address), drop);
  }

  /** As `open`, for the client that makes a request. */
  openFor(request: Forwarded, drop: () => void, isTrusted?: boolean): UnfinishedMessage {
    return this.open(this.#proxies.clientOf(request), drop, isTrusted);
  }

  /** To be called by a message. `before`: its bytes before the change. */
  changed(message: UnfinishedMessage, before: number): void {
    const { bytes, group } = message;
    const [from, to] = [this.#classOf(before), this.#classOf(bytes)];
    if (from !== undefined && from === to) from.count(message, bytes - before);
    else {
      from?.delete(message, before);
      to?.add(message, bytes);
    }
    if (to === undefined) return;
    for (let victim = to.victim(group); victim !== undefined; victim = to.victim(group)) {
      to.delete(victim, victim.bytes);
      this.cutOff++;
      victim.makeRoom();
    }
  }

  #classOf(bytes: number): MessageClass | undefined {
    if (bytes === 0) return undefined;
    return bytes > SMALL_BYTES ? this.#large : this.#small;
  }
}
