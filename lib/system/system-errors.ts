// Errors of the operating system, as Node.js throws them.

/** Its name (`ENOENT`); undefined for an error that has none. */
export function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Whether a file or folder is not there. */
export const isMissingFile = (error: unknown): boolean => systemCodeOf(error) === 'ENOENT';

/** Whether a call of the system has failed. */
export const isOfSystem = (error: unknown): error is Error => error instanceof Error && 'syscall' in error;
