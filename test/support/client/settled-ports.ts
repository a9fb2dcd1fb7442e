// Clients of tests expect what they ask to know what has happened. A server that hears of it over a log is waited for before each request.

const waits = new Map<number, () => Promise<void>>();

/** `wait`: resolves once the server at the port knows what has happened up to the call. */
export function waitBeforeAsking(port: number, wait: () => Promise<void>): void {
  waits.set(port, wait);
}

export function askAtOnce(port: number): void {
  waits.delete(port);
}

export async function settledAt(port: number | undefined): Promise<void> {
  await waits.get(port ?? 0)?.();
}
