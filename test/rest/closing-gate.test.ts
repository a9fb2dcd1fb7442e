import { once } from 'node:events';
import { expect } from 'chai';
import { afterEach, before, beforeEach, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { needsNode } from '../support/fleet/fleet';
import { ask, openSocket, untilClosed } from '../support/client/http';
import { mineCoinbases } from '../support/chain/regtest-chain';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { until } from '../support/expectations/until';
import type { HostHash, HostTransaction } from '../../lib/node/host';

const BLOCKS = 10;

/** The methods of bcoin's chain that are slow here. */
interface SlowChain {
  getRawBlock(hash: HostHash): Promise<Buffer | null>;
  readonly db: { reset(target: number): Promise<unknown> };
}

/** Requests that come while the gate is open, and are worked on while the node drops blocks that the index still has. */
describe('a gate that closes during a request', () => {
  let served: RestNode;
  let coinbases: HostTransaction[];
  /** Reads and resets that wait, as on a slow disk. */
  let waiting: { readonly what: 'block' | 'reset'; readonly goOn: () => void }[];
  let reset: Promise<void> | undefined;

  before(function () {
    needsNode(this, "a node's reset does not close the gate of a reader, whose chain is that of the log");
  });

  beforeEach(async () => {
    served = await openRestNode({ settings: { 'rest-threads': 1 } });
    await untilReady(served);
    coinbases = await mineCoinbases(served.node, BLOCKS);
    waiting = [];
    reset = undefined;
    const chain = served.node.chain as unknown as SlowChain;
    const { db } = chain;
    const held = (what: 'block' | 'reset'): Promise<void> =>
      new Promise((goOn) => {
        waiting.push({ what, goOn });
      });
    const [read, take] = [chain.getRawBlock.bind(chain), db.reset.bind(db)];
    chain.getRawBlock = async (hash) => {
      if (reset === undefined) await held('block');
      return read(hash);
    };
    db.reset = async (target) => {
      const tip = await take(target);
      await held('reset');
      return tip;
    };
  });

  afterEach(async () => {
    for (const { goOn } of waiting) goOn();
    await reset;
    await served.node.close();
  });

  const txidOf = (height: number): string => toDisplayHex(coinbases[height - 1]?.hash() ?? Buffer.alloc(0));

  const beginReset = async (): Promise<void> => {
    reset = served.node.chain.reset(1);
    await until(() => waiting.some(({ what }) => what === 'reset'));
  };

  it('refuses a request whose body was slow', async () => {
    const body = Buffer.concat([Buffer.of(0, 1), Buffer.from(txidOf(5), 'hex').reverse(), Buffer.alloc(4)]);
    const asked = once(served.rest.http.server, 'request');
    const socket = await openSocket(served.port);
    socket.write(`POST /rest/getutxos.bin HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`);
    socket.write(body.subarray(0, 5));
    await asked;
    await beginReset();
    socket.write(body.subarray(5));
    expect((await untilClosed(socket)).toString()).to.match(/^HTTP\/1.1 503 [^]*Service temporarily unavailable: resetting chain/);
  });

  // What is asked of the pool does not come to the index, which refuses by itself.
  for (const [what, path] of [
    ['a transaction', () => `/rest/tx/${txidOf(5)}.json`],
    ['the pool', () => '/rest/mempool/info.json']
  ] as const)
    it(`refuses a request for ${what} that waited for its slot, and answers the one before from what it has found`, async () => {
      const block = toDisplayHex((await served.rest.node.activeHash(5)) ?? Buffer.alloc(0));
      const first = ask(served.port, { path: `/rest/block/${block}.bin` });
      // The first request holds the only slot.
      await until(() => waiting.length === 1);
      const asked = once(served.rest.http.server, 'request');
      const second = ask(served.port, { path: path() });
      await asked;
      await beginReset();
      waiting[0]?.goOn();
      await first;
      const { status, body } = await second;
      expect(`${status} ${body.toString()}`).to.equal('503 Service temporarily unavailable: resetting chain\r\n');
    });
});
