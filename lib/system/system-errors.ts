// Errors of the operating system, as Node.js throws them.

/** Its name (`ENOENT`); undefined for an error that has none. */
export function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Whether a file or folder is not there. */
export const isMissingFile = (error: unknown): boolean => systemCodeOf(error) === 'ENOENT';

/** Runs `use`, which works on an open file. @throws its errors, naming the file */
export async function namingFile<T>(path: string, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    throw withFile(path, error);
  }
}

/**
 * Node.js does not say which open file it was that could not be written, as on a full disk: the error gets its path, in the words of those
 * errors that have one.
 */
export function withFile(path: string, error: unknown): unknown {
  if (isOfSystem(error) && !('path' in error)) Object.assign(error, { path, message: `${error.message} '${path}'` });
  return error;
}

/** Whether a call of the system has failed. */
export const isOfSystem = (error: unknown): error is Error => error instanceof Error && 'syscall' in error;
