import { once } from 'node:events';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { OwnConnections } from '../../lib/rehearsal/own-connections';
import type { Server, Socket } from 'node:net';

describe('the connections of the process to itself', () => {
  it('go on after one that the system could not accept', async () => {
    const served: Socket[] = [];
    const serve = (socket: Socket): void => void served.push(socket.end('served'));
    const own = await OwnConnections.open({ serve, allowHalfOpen: false }, new AbortController().signal);
    await once(await own.connect(), 'data');
    const { server } = served[0] as unknown as { readonly server: Server }; // Node's own property of an accepted connection
    // As Node says it; without a listener it would end the process.
    server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE', syscall: 'accept' }));
    expect(String(await once(await own.connect(), 'data'))).to.equal('served');
    own.close();
  });
});
