// Asynchronous errors as values, for chai.

/** The error with which the promise was rejected. Fails if it was not. */
export async function caught(promise: Promise<unknown>): Promise<unknown> {
  let value;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`expected an error, got ${String(value)}`);
}
