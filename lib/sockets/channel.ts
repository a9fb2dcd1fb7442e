// The way to one client: JSON values in both directions, whatever carries them.

/** ElectrumX' (MAX_RECV): longer ones are dropped, or end the connection. */
export const MOST_VALUE_BYTES = 1_000_000;

/** What a channel tells of. */
export interface ChannelUser {
  /** A value came. `value`: UTF-8, valid during the call. */
  receive(value: Buffer): void;
  /** The client has read something. */
  progressed(): void;
  /** The client has gone. */
  closed(): void;
}

export interface Channel {
  readonly isGone: boolean;
  /** What the client has yet to read, as far as the system has not taken it. */
  readonly unreadBytes: number;
  /** When it last read something, while there is something to read; as performance.now(). */
  readonly progressAt: number;
  /** Begins to tell. */
  open(user: ChannelUser): void;
  /** `value`: UTF-8, without line ends. */
  send(value: Buffer): void;
  /** Takes nothing more from the client. */
  pause(): void;
  resume(): void;
  /** Closes behind what was sent. */
  end(): void;
  /** Closes at once. */
  destroy(): void;
}
