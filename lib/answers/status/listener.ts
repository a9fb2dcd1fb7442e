/** Whatever is told of changes on behalf of a client. */
export interface Listener {
  /** It threw while it was told something, and so has missed that. */
  failed(error: unknown): void;
}

/** Tells a listener something in a guard of its own: its error reaches neither the teller nor other listeners. */
export function tell<L extends Listener>(listener: L, say: (listener: L) => void): void {
  try {
    say(listener);
  } catch (error) {
    listener.failed(error);
  }
}
