import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { filter, firstValueFrom } from 'rxjs';
import { ScriptsUnavailableError } from '../../lib/scripts/errors';
import { MemoryStore } from '../../lib/store/memory-store';
import { caught } from '../support/expectations/caught';
import { FAULT, FaultyStore } from '../support/index/faulty-store';
import { NotifyingNode } from '../support/node/notifying-node';
import { mine, openRegtestNode } from '../support/bcoin/regtest-node';
import { until } from '../support/expectations/until';
import type { TestFullNode } from '../support/bcoin/bcoin';
import type { ScriptSnapshot, ScriptsState } from '../../lib/scripts/types';

describe('an index by script that fails', () => {
  let host: TestFullNode;
  let store: FaultyStore;
  let all: NotifyingNode;

  const reach = (phase: ScriptsState['phase']): Promise<ScriptsState> =>
    firstValueFrom(all.scripts.state$.pipe(filter((state) => state.phase === phase)));
  const linesAbout = (text: string): string[] => all.log.lines.filter((line) => line.includes(text));

  beforeEach(async () => {
    host = await openRegtestNode();
    await mine(host, 3);
    store = new FaultyStore(new MemoryStore());
    all = await NotifyingNode.beside(host, store);
  });

  afterEach(async () => {
    await all.close();
    await host.close();
  });

  it('says so once, tries again by itself, and goes on', async () => {
    store.fail('batch', 0);
    await mine(host, 2);
    expect(await reach('failed')).to.deep.equal({ phase: 'failed', message: FAULT });
    const tried = store.calls.batch;
    await until(() => store.calls.batch > tried + 2);
    expect(linesAbout(FAULT)).to.deep.equal([`error The index by script stopped: ${FAULT}.`]);
    expect([all.serving.gate.isReady, await firstValueFrom(all.wallets.ready$)], 'whether requests are answered').to.deep.equal([
      true,
      false
    ]);
    store.heal();
    await all.untilLive();
    expect(await firstValueFrom(all.wallets.ready$)).to.equal(true);
  });

  it('keeps both snapshots for work that others wait for, although its own reader has ended', async () => {
    const shared: Promise<unknown>[] = [];
    const reader = all.scripts.reader.read((snapshot) => {
      shared.push(snapshot.during(answersAfter(snapshot, () => mine(host, 2))));
      return Promise.reject(new Error('the client has left'));
    });
    expect(await caught(reader)).to.have.property('message', 'the client has left');
    const [txids, header] = (await shared[0]) as [Buffer[], { height: number } | undefined];
    expect(txids).to.have.length(1);
    expect(header?.height).to.equal(3);
    await all.untilLive();
  });

  it('goes on when a reader uses a snapshot after its end', async () => {
    const kept: ScriptSnapshot[] = [];
    await all.scripts.reader.read((snapshot) => {
      kept.push(snapshot);
      return Promise.resolve();
    });
    await mine(host, 1);
    await all.untilLive();
    const late = all.scripts.reader.read(() => (kept[0] as ScriptSnapshot).history(Buffer.alloc(32), { limit: 1 }));
    expect(await caught(late)).to.be.instanceOf(ScriptsUnavailableError);
    expect(all.scripts.state).to.deep.equal({ phase: 'live', height: 4 });
    await mine(host, 1);
    await all.untilLive();
    expect(linesAbout('by script stopped')).to.deep.equal([]);
  });
});

/** Reads from both snapshots once the chain has moved on. */
async function answersAfter(snapshot: ScriptSnapshot, moveOn: () => Promise<unknown>): Promise<unknown[]> {
  await moveOn();
  return [await snapshot.txids(3), snapshot.index.headerAt(3)];
}
