// Work of a command that ends early when the user or the system wants it to.

export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
}

/** `run`: gets a signal that SIGINT and SIGTERM abort. @throws InterruptedError if one came, whatever `run` makes of it; and what `run` throws */
export async function interruptibly<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interrupt = new AbortController();
  const onSignal = (): void => {
    interrupt.abort(new InterruptedError('interrupted'));
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  try {
    return await run(interrupt.signal);
  } catch (error) {
    // What was interrupted may have thrown an error of its own.
    interrupt.signal.throwIfAborted();
    throw error;
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}
