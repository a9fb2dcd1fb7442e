// What ends the process from outside. bcoin's executable dies at SIGINT and SIGTERM (1.0.2), or closes the node at SIGINT alone (2.2). Clients
// would be cut off in the middle of replies, and the cookie file would stay.

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Closes the node at each of the signals that nobody handles, and then lets the signal end the process. Returns what takes this back.
 * `close` may reject when the node is not open yet.
 */
export function closeOnSignals(close: () => Promise<void>): () => void {
  const handlers = SIGNALS.filter((signal) => process.listenerCount(signal) === 0).map((signal) => {
    const handle = (): void => {
      // Somebody else has come to handle it since.
      if (process.listenerCount(signal) > 0) return;
      const end = (): boolean => process.kill(process.pid, signal);
      close().then(end, end);
    };
    process.once(signal, handle);
    return [signal, handle] as const;
  });
  return () => {
    for (const [signal, handle] of handlers) process.off(signal, handle);
  };
}
