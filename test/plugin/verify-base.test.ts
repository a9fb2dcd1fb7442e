import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { BASE_KEY } from '../../lib/index/base';
import { BcoinNode } from '../../lib/node/bcoin';
import { memoryStore } from '../../lib/store/level-store';
import { compareWithNode } from '../../plugin/cli/index-commands/verify-base';
import { baseOf, newBaseIndex, untilFilled, untilLive } from '../support/base-index';
import { MemoryLog } from '../support/memory-log';
import { activeChain, chainWithSpends } from '../support/regtest-chain';
import { mine, openRegtestNode } from '../support/regtest-node';
import type { TestFullNode } from '../support/bcoin';

describe('verifying an index that began with the coins of the node', () => {
  let host: TestFullNode;
  let node: BcoinNode;
  const store = memoryStore();

  before(async () => {
    host = await openRegtestNode();
    await chainWithSpends(host);
    node = new BcoinNode(host);
    const index = newBaseIndex({ node, store, log: new MemoryLog() });
    await index.open();
    await untilLive(index);
    await untilFilled(store);
    await mine(host, 3);
    await index.close();
    await store.open();
  });

  after(async () => {
    await store.close();
    await host.close();
  });

  const verified = async (): Promise<string> => {
    let text = '';
    const code = await compareWithNode({
      stopped: { node, network: 'regtest', indexFolder: '', options: undefined as never, close: () => Promise.resolve() }, // only the node is asked
      json: true,
      signal: new AbortController().signal,
      out: (line) => { text += line; },
      err: () => undefined
    }, store, baseOf(store), node.tip());
    return `${code} ${text}`;
  };

  /** The first record of a letter is changed, looked for, and put back. */
  const withoutFirst = async (letter: string): Promise<string> => {
    for await (const [key, value] of store.range({ gte: Buffer.from(letter), lt: Buffer.from([letter.charCodeAt(0) + 1]), limit: 1 })) {
      await store.batch([{ type: 'del', key }], { durable: false });
      const said = await verified();
      await store.batch([{ type: 'put', key, value }], { durable: false });
      return said;
    }
    throw new Error(`expected a record under '${letter}'`);
  };

  it('finds nothing wrong with one that is right', async () => {
    expect((await activeChain(node)).length).to.equal(112);
    expect(await verified()).to.match(/^0 \{"verified":true,/);
  });

  it('finds a coin that is missing, of the base and of later blocks', async () => {
    expect(await withoutFirst('c')).to.match(/^1 .*"difference":"coin [0-9a-f]{64}-\d: expected \d+ satoshis of height \d+, got none"/);
    expect(await withoutFirst('o')).to.match(/^1 .*"difference":"coin /);
  });

  it('finds a coin too many', async () => {
    const key = Buffer.concat([Buffer.from('c'), Buffer.alloc(36)]);
    await store.batch([{ type: 'put', key, value: Buffer.alloc(4) }], { durable: false });
    expect(await verified()).to.match(/^1 .*"difference":"expected \d+ coins, got \d+"/);
    await store.batch([{ type: 'del', key }], { durable: false });
  });

  it('finds a transaction whose place is missing', async () => {
    expect(await withoutFirst('t')).to.match(/^1 .*"difference":"place of transaction /);
  });

  it('finds a block whose hash is missing', async () => {
    expect(await withoutFirst('b')).to.match(/^1 .*"difference":"header at height /);
    expect(store.get(BASE_KEY)).not.to.equal(undefined);
  });
});
