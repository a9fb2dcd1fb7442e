// How many requests Node has begun to answer, also those that it answers without telling anybody.

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

const BEGINNING = 'http.server.request.start';

/** The requests that begin on a port while work is done. */
export async function begunDuring(port: number, work: () => Promise<unknown>): Promise<number> {
  let begun = 0;
  const count = (message: unknown): void => {
    if ((message as { readonly socket: Socket }).socket.localPort === port) begun++;
  };
  subscribe(BEGINNING, count);
  await work().finally(() => unsubscribe(BEGINNING, count));
  return begun;
}
