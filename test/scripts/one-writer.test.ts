import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { DamagedIndexError } from '../../lib/follow/errors';
import { ScriptsUnavailableError } from '../../lib/scripts/errors';
import { MemoryStore } from '../../lib/store/memory-store';
import { caught } from '../support/expectations/caught';
import { NotifyingNode } from '../support/node/notifying-node';
import { PoolWalk } from '../support/pool/walk';
import { mine } from '../support/bcoin/regtest-node';
import { until } from '../support/expectations/until';
import type { BatchOptions, StoreWrite } from '../../lib/store/store';

/** Says what is done while a batch is being written, which a test can hold. */
class WatchedStore extends MemoryStore {
  writing = 0;
  readonly meanwhile: string[] = [];
  hold: Promise<void> = Promise.resolve();

  override async batch(writes: Iterable<StoreWrite>, options: BatchOptions): Promise<void> {
    if (this.writing > 0) this.meanwhile.push('batch');
    this.writing++;
    try {
      const taken = [...writes].map((write) => ({ ...write, key: Buffer.from(write.key) }));
      await this.hold;
      await super.batch(taken, options);
    } finally {
      this.writing--;
    }
  }

  override async clear(): Promise<void> {
    if (this.writing > 0) this.meanwhile.push('clear');
    await super.clear();
  }
}

describe('an index by script in which damage is met while a block is written', () => {
  it('is emptied only after the block, and is live again afterwards', async () => {
    const walk = await PoolWalk.start();
    const store = new WatchedStore();
    const all = await NotifyingNode.beside(walk.host, store);
    let release = (): void => undefined;
    store.hold = new Promise((resolve) => (release = resolve));
    const mined = mine(walk.host, 1);
    await until(() => store.writing > 0);
    const damage = all.scripts.reader.read(() => Promise.reject(new DamagedIndexError('a damaged record')));
    expect(await caught(damage)).to.be.instanceOf(ScriptsUnavailableError);
    for (let turn = 0; turn < 20; turn++) await setImmediate();
    expect(store.meanwhile).to.deep.equal([]);
    expect(all.scripts.state.phase).to.equal('loading');
    release();
    await mined;
    await all.untilLive();
    expect(store.meanwhile).to.deep.equal([]);
    expect(all.log.lines.filter((line) => line.includes('Filling the index by script again'))).to.have.length(1);
    await all.close();
    await walk.close();
  });
});
