/** Why a snapshot cannot be made or used, as a sentence for people. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError';
}

/** The server could not be reached, or has stopped. */
export class TransferError extends SnapshotError {}
