import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { filter, firstValueFrom } from 'rxjs';
import { ChainIndexer } from '../../lib/index/chain-index';
import { IndexUnavailableError } from '../../lib/index/errors';
import { LAYOUT_VERSION } from '../../lib/index/records/layout';
import { BcoinNode } from '../../lib/node/bcoin';
import { StoreError } from '../../lib/store/errors';
import { MemoryStore } from '../../lib/store/memory-store';
import { versionRecord, type Migration } from '../../lib/store/migrate';
import { ShiftedClock } from '../support/process/clock';
import { FaultyStore } from '../support/index/faulty-store';
import { indexerOn } from '../support/node/indexed-node';
import { MemoryLog } from '../support/process/memory-log';
import { mine, openRegtestNode } from '../support/bcoin/regtest-node';
import type { IndexState } from '../../lib/index/types';
import type { OpeningProgress } from '../../lib/store/store';
import type { TestFullNode } from '../support/bcoin/bcoin';

/** A store for which a test decides how long the check of its files takes. */
class SlowStore extends FaultyStore {
  #finish: (error?: StoreError) => void = () => undefined;
  #report: (progress: OpeningProgress) => void = () => undefined;

  override async open(onProgress: (progress: OpeningProgress) => void = () => undefined): Promise<void> {
    this.#report = onProgress;
    await new Promise<void>((resolve, reject) => {
      this.#finish = (error) => {
        if (error === undefined) resolve();
        else reject(error);
      };
    });
    await super.open();
  }

  /** As in a store that checks its files: closing ends the check. */
  override async close(): Promise<void> {
    this.finish(new StoreError('closed', 'it is not open'));
    await super.close();
  }

  report(progress: OpeningProgress): void {
    this.#report(progress);
  }

  finish(error?: StoreError): void {
    this.#finish(error);
  }
}

describe('opening an index that takes long to open', () => {
  let host: TestFullNode;
  let store: SlowStore;
  let log: MemoryLog;
  let index: ChainIndexer;

  const newIndex = (migrations: readonly Migration[] = []): ChainIndexer =>
    indexerOn(new BcoinNode(host), { store, logger: log, migrations, patienceMs: 0 });
  const reach = (phase: IndexState['phase']): Promise<IndexState> =>
    firstValueFrom(index.state$.pipe(filter((state) => state.phase === phase)));

  beforeEach(async () => {
    host = await openRegtestNode();
    store = new SlowStore(new MemoryStore());
    log = new MemoryLog();
    index = newIndex();
  });

  afterEach(async () => {
    await index.close();
    await host.close();
  });

  it('does not make the node wait, says what it does, and adds the blocks that came meanwhile', async () => {
    await index.open();
    expect(index.state).to.deep.equal({ phase: 'loading' });
    expect(() => index.reader.read(() => 0)).to.throw(IndexUnavailableError);
    await mine(host, 3);
    store.finish();
    expect(await reach('live')).to.deep.equal({ phase: 'live', height: 3 });
  });

  it('says that the index is refused when the node has already started, and touches nothing', async () => {
    await index.open();
    store.finish();
    await reach('live');
    await index.close();
    const opened = store.open();
    store.finish();
    await opened;
    await store.batch([versionRecord(99)], { durable: false });
    await store.close();
    const writes = store.calls.batch;
    index = newIndex();
    await index.open();
    store.finish();
    expect(await reach('failed'))
      .to.have.property('message')
      .that.includes('layout 99, made by a newer version');
    expect(log.lines.at(-1)).to.match(/^error The index was not opened: .*layout 99/);
    expect(store.calls.batch).to.equal(writes);
    await mine(host, 1);
  });

  it('continues in the background with a migration, too, and closing ends it', async () => {
    const opened = store.open();
    store.finish();
    await opened;
    await store.batch([versionRecord(LAYOUT_VERSION - 1)], { durable: false });
    await store.close();
    let begun: () => void = () => undefined;
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    index = newIndex([
      {
        from: LAYOUT_VERSION - 1,
        to: LAYOUT_VERSION,
        info: 'never done',
        migrate: async (migrated) => {
          begun();
          for (;;) {
            await setImmediate();
            await migrated.batch([], { durable: false });
          }
        }
      }
    ]);
    await index.open();
    store.finish();
    await hasBegun;
    await mine(host, 1);
    await index.close();
    expect(index.state).to.deep.equal({ phase: 'closed' });
  });

  it('says how far the check of its files is, after a second and then once a second', async () => {
    const works: unknown[] = [];
    index.state$.subscribe((state) => {
      works.push(state.phase === 'loading' ? state.work : state.phase);
    });
    const clock = new ShiftedClock();
    try {
      await index.open();
      for (const [done, waitMs] of [
        [1, 0],
        [3_210_000_000, 1_000],
        [4_000_000_000, 0],
        [6_000_000_000, 1_000]
      ] as const) {
        clock.passes(waitMs);
        store.report({ done, total: 12_000_000_000 });
      }
      expect(works).to.deep.equal([
        undefined,
        'checking the files of the index, 3.2 of 12.0 GB (26.7%)',
        'checking the files of the index, 6.0 of 12.0 GB (50.0%)'
      ]);
      store.finish();
      await reach('live');
    } finally {
      clock.restore();
    }
    expect(works[3], 'the check is over').to.equal(undefined);
  });

  it('can be closed while its files are checked', async () => {
    await index.open();
    await index.close();
    expect(index.state).to.deep.equal({ phase: 'closed' });
    expect(log.lines).to.deep.equal([]);
  });

  it('lets the node start without it when the store cannot be opened, however soon that is known, and says so', async () => {
    index = indexerOn(new BcoinNode(host), { store, logger: log });
    const opening = index.open();
    store.finish(new StoreError('failed', 'no space left on device'));
    await opening;
    expect(index.state).to.deep.equal({ phase: 'failed', message: 'no space left on device' });
    expect(log.lines).to.deep.equal(['error The index was not opened: no space left on device.']);
    await mine(host, 1);
  });
});
