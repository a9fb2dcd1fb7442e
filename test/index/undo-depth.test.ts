import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { filter, firstValueFrom } from 'rxjs';
import { ChainIndexer } from '../../lib/index/chain-index';
import { undoKey } from '../../lib/index/records/undo-record';
import { BcoinNode } from '../../lib/node/bcoin';
import { MemoryStore } from '../../lib/store/memory-store';
import { nodeWith } from '../support/changed-node';
import { MemoryLog } from '../support/memory-log';
import { mine, openRegtestNode } from '../support/regtest-node';
import { activeChain, reorganize } from '../support/regtest-chain';
import { expectIndexOf } from '../support/utxo-model';
import type { NodeSource } from '../../lib/node/types';
import type { Store } from '../../lib/store/store';
import type { TestFullNode } from '../support/bcoin';

const UNDO_DEPTH = 3;

let host: TestFullNode;
let node: BcoinNode;
let store: Store;
let log: MemoryLog;
let index: ChainIndexer;

/** Opens an index on the store that adds block by block, and waits until it is level at a height. */
async function catchUpTo(height: number, source: NodeSource = node): Promise<void> {
  index = new ChainIndexer({ store, node: source, logger: log, migrations: [], undoDepth: UNDO_DEPTH, cacheBytes: 0 });
  await index.open();
  await firstValueFrom(index.state$.pipe(filter((state) => state.phase === 'live' && state.height === height)));
}

/** A node whose chain goes back to `height` when its block at `asked` is asked for. */
async function goingBack(asked: number, height: number): Promise<NodeSource> {
  const wanted = await node.activeHash(asked);
  const rawBlock = async (hash: Buffer): Promise<Buffer | undefined> => {
    if (wanted?.equals(hash) !== true) return node.rawBlock(hash);
    await host.chain.reset(height);
    return undefined;
  };
  return nodeWith(node, { rawBlock });
}

function heightsWithUndo(): number[] {
  return Array.from({ length: host.chain.height + 1 }, (_, height) => height).filter((height) => store.get(undoKey(height)) !== undefined);
}

describe('the undo records of an index that catches up', () => {
  beforeEach(async () => {
    host = await openRegtestNode();
    // On 1.0.2 a reset does not reach the pool while the node is not connected.
    await host.connect();
    node = new BcoinNode(host);
    store = new MemoryStore();
    log = new MemoryLog();
  });

  afterEach(async () => {
    await index.close();
    await host.close();
  });

  it('belong to the last blocks', async () => {
    await mine(host, 30);
    await catchUpTo(30);
    expect(heightsWithUndo()).to.deep.equal([28, 29, 30]);
  });

  it('reach as deep when the chain goes back meanwhile, by at most that depth', async () => {
    await mine(host, 30);
    await catchUpTo(27, await goingBack(28, 27));
    expect(heightsWithUndo()).to.deep.equal([25, 26, 27]);
    await reorganize(host, UNDO_DEPTH, UNDO_DEPTH + 1);
    await expectIndexOf(store, await activeChain(node));
    expect(log.lines.filter((line) => line.startsWith('warning'))).to.deep.equal([]);
  });

  it('have no gap when the chain goes back by more', async () => {
    await mine(host, 10);
    await catchUpTo(10);
    expect(heightsWithUndo()).to.deep.equal([8, 9, 10]);
    await index.close();
    await mine(host, 20);
    await catchUpTo(11, await goingBack(12, 11));
    expect(heightsWithUndo()).to.deep.equal([]);
    await mine(host, 2);
    expect(heightsWithUndo()).to.deep.equal([12, 13]);
    await expectIndexOf(store, await activeChain(node));
  });
});
