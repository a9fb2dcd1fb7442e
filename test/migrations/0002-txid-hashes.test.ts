import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Indexer } from '../../lib/index/indexer';
import { LAYOUT_VERSION } from '../../lib/index/layout';
import { BcoinNode } from '../../lib/node/bcoin';
import { StoreError } from '../../lib/store/errors';
import { memoryStore } from '../../lib/store/level-store';
import { migrate } from '../../lib/store/migrate';
import { migrations } from '../../migrations';
import { baseImageNode, fillWithBase } from '../support/base-image';
import { baseOf, expectRight, newBaseIndex, untilLive } from '../support/base-index';
import { caught } from '../support/caught';
import { FaultyStore } from '../support/faulty-store';
import { expectToGoOn, toNewest } from '../support/interrupted-migration';
import { knownSecret } from '../support/known-secret';
import { layoutChain } from '../support/layout-chain';
import { blockHash } from '../support/made-blocks';
import { MemoryLog } from '../support/memory-log';
import { reorganize } from '../support/regtest-chain';
import { expectIndexOf, imageOf } from '../support/utxo-model';
import type { Store, StoreWrite } from '../../lib/store/store';

const blocks = layoutChain();

/** An open store with an image of layout 2, and the secret that it is to have. */
async function storeWith(image: 'layout-2' | 'layout-2-base'): Promise<Store> {
  const store = memoryStore();
  await store.open();
  const lines = gunzipSync(readFileSync(join(__dirname, `../vectors/migrations/${image}.txt.gz`))).toString().trim().split('\n');
  await store.batch([knownSecret, ...lines.map((line): StoreWrite => {
    const [key = '', value = ''] = line.split(' ');
    return { type: 'put', key: Buffer.from(key, 'hex'), value: Buffer.from(value, 'hex') };
  })], { durable: false });
  return store;
}

/** What the index would hold that was never in layout 2. */
async function freshImage(image: 'layout-2' | 'layout-2-base'): Promise<string[]> {
  const store = memoryStore();
  await store.open();
  await migrate(store, [], { version: LAYOUT_VERSION });
  await store.batch([knownSecret], { durable: false });
  if (image === 'layout-2-base') {
    const { close } = await fillWithBase(store);
    const filled = await imageOf(store);
    await close();
    return filled;
  }
  const indexer = await indexerOn(store);
  for (const raw of blocks) await indexer.apply(raw);
  return imageOf(store);
}

async function indexerOn(store: Store): Promise<Indexer> {
  const indexer = new Indexer({ store, genesisHash: blockHash(blocks[0] as Buffer), undoDepth: 1_000, onMove: () => undefined }); // it has a genesis block
  await indexer.load();
  return indexer;
}

describe('from txids to their hashes', () => {
  for (const image of ['layout-2', 'layout-2-base'] as const) {
    it(`leads to every byte of an index that was built anew: ${image}`, async () => {
      const store = await storeWith(image);
      await toNewest(store);
      expect(await imageOf(store)).to.deep.equal(await freshImage(image));
    });

    it(`goes on after an interruption at any write, whether it was still done or not: ${image}`, async () => {
      await expectToGoOn(() => storeWith(image), await freshImage(image));
    });
  }

  it('gives an index a secret of its own, which an interruption does not change', async () => {
    const secrets: (string | undefined)[] = [];
    for (let turn = 0; turn < 2; turn++) {
      const store = new FaultyStore(await storeWith('layout-2'));
      await store.batch([{ type: 'del', key: knownSecret.key }], { durable: false });
      store.fail('batch', 2);
      await caught(toNewest(store));
      store.heal();
      const secret = store.get(knownSecret.key)?.toString('hex');
      await toNewest(store);
      await expectIndexOf(store, blocks);
      expect(store.get(knownSecret.key)?.toString('hex')).to.equal(secret);
      secrets.push(secret);
    }
    expect(secrets[0]).to.be.a('string').with.length(72);
    expect(secrets[0]).to.not.equal(secrets[1]);
  });

  it('keeps undo records that lead back to the genesis block', async () => {
    const store = await storeWith('layout-2');
    await toNewest(store);
    const indexer = await indexerOn(store);
    for (let height = blocks.length - 1; height > 0; height--) {
      await indexer.undo();
      await expectIndexOf(store, blocks.slice(0, height));
    }
  });

  it('leaves an index begun with coins that fills in the rest, and takes blocks of its base out again', async function () {
    this.timeout(20_000);
    const store = await storeWith('layout-2-base');
    const host = await baseImageNode();
    const node = new BcoinNode(host);
    const index = newBaseIndex({ node, store, log: new MemoryLog(), undoDepth: 20, migrations });
    await index.open();
    await untilLive(index);
    const { height } = baseOf(store);
    await expectRight(store, node);
    await reorganize(host, 15, 16);
    await untilLive(index);
    expect(baseOf(store).height).to.be.below(height);
    await expectRight(store, node);
    await index.close();
    await host.close();
  });

  it('calls damage by its name, so that the index is built anew', async () => {
    for (const letter of ['r', 't']) {
      const store = await storeWith('layout-2');
      for await (const [key, value] of store.range({ gte: Buffer.from(letter), lt: Buffer.from([0xff]), limit: 1 })) {
        value[0] = (value[0] ?? 0) ^ 1;
        await store.batch([{ type: 'put', key, value }], { durable: false });
      }
      expect(await caught(toNewest(store)), letter).to.be.instanceOf(StoreError).with.property('reason', 'corrupt');
    }
  });
});
