import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { onArrival } from '../../lib/server/http/arrivals';

/** More than begin in one turn. */
const MANY = 1_000;

describe('requests that arrive together', () => {
  it('are dropped in the next turn once their connection has closed, so that they take no memory and hold nobody up', async () => {
    const begun: Socket[] = [];
    const arrives = (socket: Socket): void => {
      onArrival(socket, () => begun.push(socket));
    };
    const [hasty, patient] = [new Socket(), new Socket()];
    const closing = Array.from({ length: MANY }, () => new Socket());
    for (let i = 0; i < MANY; i++) arrives(hasty);
    for (const socket of closing) arrives(socket);
    arrives(patient);
    for (const socket of closing) socket.destroy();
    await setImmediate();
    expect(begun).to.include(patient);
    while (begun.filter((socket) => socket === hasty).length < MANY) await setImmediate();
    expect(begun).to.have.lengthOf(MANY + 1);
  });
});
