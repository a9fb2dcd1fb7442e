import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { ChainFollower } from '../../lib/merchant/chain-follower';
import { NodeChain } from '../../lib/merchant/node-chain';
import { Merchant } from '../../lib/merchant/orders/merchant';
import { FolderStorage } from '../../lib/merchant/orders/storage';
import { PaymentStore } from '../../lib/merchant/orders/store';
import { newFolder } from '../support/folders';
import { MemoryLog } from '../support/memory-log';
import { mine } from '../support/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/rest-node';
import { until } from '../support/until';
import type { ConfirmingBlock } from '../../lib/merchant/orders/chain';

class WatchedFollower extends ChainFollower {
  get due(): number {
    return this.dueIn();
  }
}

/** A store whose disk may fail. */
class FailingStore extends PaymentStore {
  isFailing = false;

  override savePosition(block: ConfirmingBlock): Promise<void> {
    return this.isFailing ? Promise.reject(new Error('the disk is full')) : super.savePosition(block);
  }
}

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

  async function opened(log: MemoryLog): Promise<{ readonly follower: WatchedFollower; readonly store: FailingStore }> {
    const { rest } = served;
    const store = new FailingStore(await FolderStorage.open(folder));
    const merchant = new Merchant(new NodeChain(rest.node, rest.reader), store, {
      baseUrl: 'https://shop.example/pay',
      clock: () => new Date()
    });
    await merchant.open();
    const follower = new WatchedFollower({ node: rest.node, index: rest, ready$: rest.ready$, merchant, store, logger: log });
    await follower.open();
    return { follower, store };
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
    await follower.close();
  });
});
