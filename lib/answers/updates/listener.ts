/** Whatever is notified of changes on behalf of a client. */
export interface Listener {
  /** It threw while it was notified of something, and so has missed that. */
  failed(error: unknown): void;
}

/** Notifies a listener in a guard of its own: its error reaches neither the caller nor other listeners. */
export function notify<L extends Listener>(listener: L, of: (listener: L) => void): void {
  try {
    of(listener);
  } catch (error) {
    listener.failed(error);
  }
}
