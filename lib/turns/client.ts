// The client for whom work is done.

/** A client that may leave while it waits. */
export interface Client {
  readonly isGone: boolean;
}

/** For work that several clients wait for, or no client: it is finished even if clients leave. */
export const NO_CLIENT: Client = { isGone: false };

/** The client has left: there is nobody to answer. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';
}
