// Why a store could not do what it was asked.

/** `corrupt`: the engine found its files damaged. `failed`: all else, such as a full disk. */
export type StoreFailure = 'locked' | 'denied' | 'corrupt' | 'closed' | 'failed';

export class StoreError extends Error {
  override readonly name = 'StoreError';

  constructor(
    readonly reason: StoreFailure,
    message: string,
    options?: ErrorOptions
  ) {
    super(message, options);
  }
}

/** The store's layout is none that this program can read or migrate. */
export class LayoutVersionError extends Error {
  override readonly name = 'LayoutVersionError';
}
