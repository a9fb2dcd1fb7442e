// The process as if another user had started it.

/** Files that it makes belong to its real user. */
export async function asOtherUser<T>(use: () => Promise<T>): Promise<T> {
  const { geteuid } = process;
  process.geteuid = () => (geteuid?.() ?? 0) + 1;
  try {
    return await use();
  } finally {
    Object.assign(process, { geteuid });
  }
}
