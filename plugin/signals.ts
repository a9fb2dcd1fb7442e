// Signals that ask the process to end, or to read files again. bcoin's executable dies at SIGINT and SIGTERM (1.0.2), or closes the node at
// SIGINT alone (2.2): clients would be cut off in the middle of replies, and the cookie file would stay.

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Closes the node at each of the signals that nobody handles: clients get what they wait for, for some time. Then the process ends: with 0 at
 * SIGTERM, which asks for that, and by SIGINT itself. Returns what takes this back. `close` may reject when the node is not open yet.
 */
export function closeOnSignals(close: () => Promise<void>): () => void {
  const handlers = SIGNALS.filter((signal) => process.listenerCount(signal) === 0).map((signal) => {
    const handle = (): void => {
      // Somebody else has come to handle it since.
      if (process.listenerCount(signal) > 0) return;
      const end = (): unknown => (signal === 'SIGTERM' ? process.exit(0) : process.kill(process.pid, signal));
      close().then(end, end);
    };
    process.once(signal, handle);
    return [signal, handle] as const;
  });
  return () => {
    for (const [signal, handle] of handlers) process.off(signal, handle);
  };
}

/** Calls `read` at SIGHUP, if nobody else handles it. A terminal that closes sends it to what runs there, which has to end then. */
export function readAgainOnHangUp(read: () => void): () => void {
  if (process.stdin.isTTY || process.stdout.isTTY || process.listenerCount('SIGHUP') > 0) return () => undefined;
  process.on('SIGHUP', read);
  return () => process.off('SIGHUP', read);
}
