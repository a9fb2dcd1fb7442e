// Why an operation of a store failed.

/** `corrupt`: files are damaged. `failed`: anything else, such as a full disk. */
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

/** This program can neither read nor migrate the store's layout. */
export class LayoutVersionError extends Error {
  override readonly name = 'LayoutVersionError';
}
