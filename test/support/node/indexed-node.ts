// Nodes with an index of their chain: one by itself, or one for each test of a group.

import { expect } from 'chai';
import { afterEach, beforeEach } from 'mocha';
import { filter, firstValueFrom } from 'rxjs';
import { ChainIndexer, type ChainIndexerOptions } from '../../../lib/index/chain-index';
import { coinKey } from '../../../lib/index/records/coin-record';
import { BcoinNode } from '../../../lib/node/bcoin';
import { MemoryStore } from '../../../lib/store/memory-store';
import { MemoryLog } from '../process/memory-log';
import { activeChain, mineCoinbases } from '../chain/regtest-chain';
import { openRegtestNode } from '../bcoin/regtest-node';
import { expectIndexOf } from '../index/utxo-model';
import type { IndexState } from '../../../lib/index/types';
import type { NodeSource } from '../../../lib/node/types/source';
import type { Store } from '../../../lib/store/store';
import type { HostTransaction } from '../../../lib/node/host';
import type { TestFullNode } from '../bcoin/bcoin';

/** An index without migrations, by default in memory, that is not open. */
export function indexerOn(node: NodeSource, options: Partial<ChainIndexerOptions> = {}): ChainIndexer {
  return new ChainIndexer({ store: new MemoryStore(), node, logger: new MemoryLog(), migrations: [], ...options });
}

interface IndexedNode {
  host: TestFullNode;
  node: BcoinNode;
  store: Store;
  log: MemoryLog;
  index: ChainIndexer;
}

/** The node and index of the current test. */
export const current = {} as IndexedNode; // filled before each test

/** For each test of the group: a node, a store, and an index that is not open yet. */
export function withNodeAndIndex(): void {
  beforeEach(async () => {
    current.host = await openRegtestNode();
    current.node = new BcoinNode(current.host);
    current.store = new MemoryStore();
    current.log = new MemoryLog();
    current.index = newIndex();
  });

  afterEach(async () => {
    await current.index.close();
    await current.host.close();
  });
}

export function newIndex(options: Partial<ChainIndexerOptions> = {}): ChainIndexer {
  return indexerOn(current.node, { store: current.store, logger: current.log, ...options });
}

/** Another index on the same store, as after a restart; live when this resolves. */
export async function openNew(options?: Partial<ChainIndexerOptions>): Promise<void> {
  current.index = newIndex(options);
  await current.index.open();
  await reach('live');
}

export async function reach(phase: IndexState['phase'], of = current.index): Promise<IndexState> {
  return firstValueFrom(of.state$.pipe(filter((state) => state.phase === phase)));
}

/** Fails unless the index is live and holds exactly the node's chain. */
export async function expectLevel(): Promise<void> {
  expect(current.index.state).to.deep.equal({ phase: 'live', height: current.host.chain.height });
  current.index.reader.read(({ tip }) => {
    expect(tip.height).to.equal(current.host.chain.height);
    expect(tip.hash).to.deep.equal(current.node.tip().hash);
  });
  await expectIndexOf(current.store, await activeChain(current.node));
}

/**
 * After so many blocks: txid of a coinbase whose coin's record is damaged, and not in memory when the index becomes live. Reading it has the
 * index built again.
 */
export async function damagedCoin(blocks: number): Promise<Buffer> {
  const [coinbase] = await mineCoinbases(current.host, blocks);
  await current.index.open();
  await reach('live');
  await current.index.close();
  await current.store.open();
  await current.store.batch([{ type: 'put', key: coinKey({ height: 1, index: 0 }, 0), value: Buffer.alloc(40) }], { durable: false });
  await current.store.close();
  await openNew();
  return (coinbase as HostTransaction).hash();
}
