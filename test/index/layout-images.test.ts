import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { filter, firstValueFrom } from 'rxjs';
import { scanBlock } from '../../lib/bitcoin/block';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { ChainIndexer } from '../../lib/index/chain-index';
import { LAYOUT_VERSION } from '../../lib/index/layout';
import { BcoinNode } from '../../lib/node/bcoin';
import { memoryStore } from '../../lib/store/level-store';
import { migrations } from '../../migrations';
import { bcoin, type TestFullNode } from '../support/bcoin';
import { chainAActiveBlocks } from '../support/chain-a';
import { IMAGE_HEIGHT, IMAGE_UNDO_DEPTH, layoutImage, layoutImages } from '../support/layout-image';
import { MemoryLog } from '../support/memory-log';
import { activeChain, reorganize } from '../support/regtest-chain';
import { openRegtestNode } from '../support/regtest-node';
import { describeCoin, expectIndexOf, modelOf } from '../support/utxo-model';
import type { Store } from '../../lib/store/store';

const blocks = chainAActiveBlocks().slice(0, IMAGE_HEIGHT + 1).map(({ raw }) => raw);

describe('an index in a layout that was once released', () => {
  let host: TestFullNode;
  let store: Store;
  let index: ChainIndexer;
  let log: MemoryLog;

  beforeEach(async () => {
    log = new MemoryLog();
    host = await openRegtestNode();
    for (const raw of blocks.slice(1)) await host.chain.add(bcoin.Block.fromRaw(raw));
    store = memoryStore();
    index = new ChainIndexer({ store, node: new BcoinNode(host), logger: log, migrations, undoDepth: IMAGE_UNDO_DEPTH });
  });

  afterEach(async () => {
    await index.close();
    await host.close();
  });

  it('has an image, up to the layout of now', () => {
    expect(layoutImages()).to.deep.equal(Array.from({ length: LAYOUT_VERSION }, (_, i) => i + 1));
  });

  for (const version of layoutImages()) {
    it(`opens, answers, and follows the chain both ways: layout ${version}`, async function () {
      this.timeout(30_000);
      await store.open();
      await store.batch(layoutImage(version), { durable: false });
      const said = new Set<string>();
      index.state$.subscribe((state) => { if (state.phase === 'loading') said.add((state.work ?? '').split(',')[0] ?? ''); });
      await index.open();
      expect([...said].slice(1)).to.deep.equal(version === LAYOUT_VERSION ? [] : ['migrating index']);
      await firstValueFrom(index.state$.pipe(filter(({ phase }) => phase === 'live')));
      const { coins } = modelOf(blocks);
      index.reader.read((snapshot) => {
        expect(snapshot.tip.height).to.equal(IMAGE_HEIGHT);
        for (const { txid, outputs } of blocks.flatMap((raw) => scanBlock(raw).transactions)) {
          expect(snapshot.location(txid)).to.not.equal(undefined);
          outputs.forEach((_, at) => {
            const coin = snapshot.coin(txid, at);
            expect(coin && describeCoin(coin)).to.equal(coins.get(`${toDisplayHex(txid)}-${at}`));
          });
        }
      });
      await reorganize(host, IMAGE_UNDO_DEPTH - 1, IMAGE_UNDO_DEPTH);
      await firstValueFrom(index.state$.pipe(filter(({ phase }) => phase === 'live')));
      await expectIndexOf(store, await activeChain(new BcoinNode(host)));
      expect(log.lines.join('\n')).to.not.include('anew');
      expect(log.lines.some((line) => line.startsWith('info Migrating index, '))).to.equal(version !== LAYOUT_VERSION);
    });
  }
});
