import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { ChainFollower } from '../../lib/merchant/chain-follower';
import { NodeChain } from '../../lib/merchant/node-chain';
import { Merchant } from '../../lib/merchant/orders/merchant';
import { FolderStorage } from '../../lib/merchant/orders/storage';
import { PaymentStore } from '../../lib/merchant/orders/store';
import { nodeWith } from '../support/bcoin/changed-node';
import { newFolder } from '../support/process/folders';
import { MemoryLog } from '../support/process/memory-log';
import { mine } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { until } from '../support/expectations/until';
import type { NodeSource } from '../../lib/node/types/source';
import type { ConfirmingBlock } from '../../lib/merchant/orders/chain';

class WatchedFollower extends ChainFollower {
  get due(): number {
    return this.dueIn();
  }

  goOn(): void {
    this.wake();
  }
}

/** A store whose disk may fail. */
class FailingStore extends PaymentStore {
  isFailing = false;

  override savePosition(block: ConfirmingBlock): Promise<void> {
    return this.isFailing ? Promise.reject(new Error('the disk is full')) : super.savePosition(block);
  }
}

const ORDER = { outputs: [{ script: Buffer.of(0x51), amount: 1_000n }] };

describe('a merchant’s search of the chain', () => {
  let served: RestNode;
  let folder: string;

  before(async () => {
    served = await openRestNode({});
    await untilReady(served);
  });
  after(() => served.node.close());
  beforeEach(async () => {
    folder = await newFolder();
  });

  interface Opened {
    readonly follower: WatchedFollower;
    readonly store: FailingStore;
    readonly merchant: Merchant;
  }

  /** `reorganized`: is told of blocks that the chain has taken back. */
  async function opened(log: MemoryLog, node: NodeSource = served.rest.node, reorganized = (): void => undefined): Promise<Opened> {
    const { rest } = served;
    const store = new FailingStore(await FolderStorage.open(folder));
    const merchant = new Merchant(new NodeChain(rest.node, rest.reader), store, {
      baseUrl: 'https://shop.example/pay',
      clock: () => new Date()
    });
    await merchant.open();
    const follower = new WatchedFollower({
      ...{ node, index: rest, ready$: rest.ready$, merchant, store, logger: log },
      listener: { settled: () => undefined, reorganized }
    });
    await follower.open();
    return { follower, store, merchant };
  }

  /** The block up to which it was searched. */
  const saved = async (): Promise<string> =>
    (JSON.parse(await readFile(join(folder, 'position.json'), 'utf8').catch(() => '{}')) as { block: string }).block;
  const isAtTip = async (): Promise<boolean> => (await saved()) === toDisplayHex(served.rest.reader.read(({ tip }) => tip.hash));

  it('is recorded up to the tip also while there are no orders, so that it begins there with the first', async () => {
    const { follower } = await opened(new MemoryLog());
    await until(isAtTip);
    await mine(served.node, 3);
    await until(isAtTip);
    await follower.close();
  });

  it('goes on within ten seconds after an error of the disk', async () => {
    const log = new MemoryLog();
    const { follower, store } = await opened(log);
    await until(isAtTip);
    store.isFailing = true;
    await mine(served.node, 1);
    await until(() => log.lines.some((line) => line.includes('the disk is full')));
    expect(follower.due).to.be.within(1, 10_000);
    // What could not be recorded is recorded then, even if no block has come.
    store.isFailing = false;
    follower.goOn();
    await until(isAtTip);
    await follower.close();
  });

  it('says which blocks the node lacks, and goes on behind them', async () => {
    const log = new MemoryLog();
    const { follower, merchant } = await opened(log, nodeWith(served.rest.node, { rawBlock: () => Promise.resolve(undefined) }));
    await until(isAtTip);
    await merchant.create(ORDER);
    await mine(served.node, 1);
    await until(isAtTip);
    await until(() => log.lines.length > 0);
    expect(log.lines.join('\n')).to.include(`the node lacks 1 blocks, from height ${served.node.chain.height} up`);
    await follower.close();
  });

  it('begins with the genesis block of a short chain where the node does not know the block that was searched last', async () => {
    const before = await opened(new MemoryLog());
    await before.merchant.create(ORDER);
    await until(isAtTip);
    await before.follower.close();
    const { node } = served.rest;
    for (const height of [3, 10_000]) {
      await writeFile(join(folder, 'position.json'), JSON.stringify({ block: '77'.repeat(32), height }));
      const heights: number[] = [];
      const rawBlock = async (hash: Buffer): Promise<Buffer | undefined> => {
        heights.push((await node.entry(hash))?.height ?? -1);
        return node.rawBlock(hash);
      };
      const { follower } = await opened(new MemoryLog(), nodeWith(node, { rawBlock }));
      await until(isAtTip);
      expect(heights[0]).to.equal(1);
      await follower.close();
    }
  });

  it('tells who listens of blocks that the chain has taken back', async () => {
    let times = 0;
    const { follower, merchant } = await opened(new MemoryLog(), served.rest.node, () => times++);
    await merchant.create(ORDER);
    await mine(served.node, 1);
    await until(isAtTip);
    expect(times).to.equal(0);
    const { chain } = served.node;
    await mine(served.node, 2, (await chain.getPrevious(chain.tip)) ?? undefined);
    await until(isAtTip);
    expect(times).to.be.greaterThan(0);
    await follower.close();
  });
});
