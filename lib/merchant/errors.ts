// Why a merchant does not open.

/** Another process keeps its records in the folder. */
export class FolderInUseError extends Error {
  override readonly name = 'FolderInUseError';
}
