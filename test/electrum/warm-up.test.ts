import { connect } from 'node:net';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { recentScripts } from '../../lib/answers/scripts/recent-scripts';
import { keyOf } from '../../lib/bitcoin/hash';
import { methodTable } from '../../lib/electrum/method-table';
import { warmUp } from '../../lib/electrum/server/warm-up';
import { freePort, mine } from '../support/regtest-node';
import { ServedNode } from '../support/served-node';
import { until } from '../support/until';
import type { Socket } from 'node:net';
import type { MethodTable } from '../../lib/electrum/method';

describe('the calls before the first client of the Electrum protocol', () => {
  let served: ServedNode;
  let port: number;
  /** How often each method was called. */
  const calls = new Map<string, number>();

  before(async () => {
    port = await freePort();
    served = await ServedNode.open({ settings: { 'rest-electrum': port } }, { methods: (context) => counted(methodTable(context)) });
    await mine(served.node, 5);
    await served.settle();
    await until(() => served.wallets.electrum.addresses.length === 1);
  });
  after(() => served.node.close());

  const counted = (table: MethodTable): MethodTable =>
    Object.fromEntries(
      Object.entries(table).map(([name, method]) => [
        name,
        method && {
          ...method,
          answer: (...values) => {
            calls.set(name, (calls.get(name) ?? 0) + 1);
            return method.answer(...values);
          }
        }
      ])
    );

  /** To the port of the protocol. */
  const serve = (socket: Socket): void => {
    const there = connect(port, '127.0.0.1');
    socket.pipe(there).pipe(socket);
    socket.on('close', () => there.destroy());
    for (const end of [there, socket]) end.on('error', () => undefined);
    there.on('close', () => socket.destroy());
  };

  it('are of the methods that wallets use most, and leave no session behind', async () => {
    calls.clear();
    const scripts = await recentScripts(served.source, 10);
    expect(scripts).to.have.length.above(0);
    expect(new Set(scripts.map(keyOf))).to.have.property('size', scripts.length);
    await warmUp({ serve, scripts, signal: new AbortController().signal });
    for (const name of ['subscribe', 'get_history', 'get_balance', 'listunspent'])
      expect(calls.get(`blockchain.scripthash.${name}`), name).to.be.above(100);
    expect(calls.get('blockchain.headers.subscribe')).to.be.above(10);
    await until(() => served.wallets.electrum.sessions === 0);
  });

  it('end when the service closes', async () => {
    for (const isLater of [false, true]) {
      calls.clear();
      const closing = new AbortController();
      const warming = warmUp({ serve, scripts: [], signal: closing.signal }).catch((error: unknown) => error);
      if (isLater) await until(() => calls.size > 0);
      closing.abort();
      expect(await warming).to.be.instanceOf(Error);
      await until(() => served.wallets.electrum.sessions === 0);
    }
  });

  it('fail without harm when nobody serves them', async () => {
    const warming = warmUp({ serve: (socket) => socket.destroy(), scripts: [], signal: new AbortController().signal });
    expect(await warming.catch((error: unknown) => error)).to.be.instanceOf(Error);
  });
});
