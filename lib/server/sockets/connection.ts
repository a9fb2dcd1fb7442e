// The connection to one client: JSON values in both directions, over any transport.

/** ElectrumX's limit (MAX_RECV): longer values are dropped, or end the connection. */
export const MOST_VALUE_BYTES = 1_000_000;

/** The user of a channel, which the channel calls. */
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
  /** Bytes for the client that the operating system has not taken yet. */
  readonly unreadBytes: number;
  /** Begins to call the user. */
  open(user: ChannelUser): void;
  /** `value`: UTF-8, without line ends. */
  send(value: Buffer): void;
  /** Stops reading from the client. */
  pause(): void;
  resume(): void;
  /** Closes the connection once everything that was sent has gone out. */
  end(): void;
  /** Closes at once. */
  destroy(): void;
}
