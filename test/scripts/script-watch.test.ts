import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { ScriptWatch } from '../../lib/scripts/write/script-watch';
import { ScriptWriter } from '../../lib/scripts/write/script-writer';
import { MemoryStore } from '../../lib/store/memory-store';
import { madeChain, plannedBlock } from '../support/chain/made-chains';
import { ScriptModel } from '../support/index/script-model';
import type { RowTransaction, ScriptsChange } from '../../lib/scripts/types';

const [PLANS = []] = fc.sample(fc.array(plannedBlock, { minLength: 14, maxLength: 14 }), { seed: 18, numRuns: 1 });

describe('watched scripts', () => {
  const model = new ScriptModel(madeChain(PLANS));
  const { blocks } = model;
  const all = model.scripts.map((script) => script.toString('latin1'));
  /** Every other script. */
  const watched = all.filter((_, i) => i % 2 === 0);

  const rowsAt = (at: number): Map<string, RowTransaction[]> =>
    new Map(
      watched
        .map((script): [string, RowTransaction[]] => {
          const rows = model.rows.get(Buffer.from(script, 'latin1').toString('hex')) ?? [];
          return [script, rows.filter(({ position }) => position.height === at).map(({ position, txid }) => ({ position, txid }))];
        })
        .filter(([, rows]) => rows.length > 0)
    );

  it('are reported for each block that has rows of theirs, with these rows if it is connected, also after a rebuild', async () => {
    const watch = new ScriptWatch();
    const changes: ScriptsChange[] = [];
    watch.changes$.subscribe((change) => changes.push(change));
    const store = new MemoryStore();
    await store.open();
    const genesis = blocks[0]?.point ?? expect.fail('a genesis block');
    const writer = new ScriptWriter({ store, genesisHash: genesis.hash, undoDepth: 100, watch });
    await writer.load();
    for (const block of blocks.slice(0, 2)) await writer.connect([block]);
    expect(changes).to.deep.equal([{ type: 'all' }]);
    for (const script of all) watch.add(script);
    for (const script of all) if (!watched.includes(script)) watch.delete(script);
    writer.reset();
    await store.clear();
    await writer.load();
    expect(changes.splice(0)).to.deep.equal([{ type: 'all' }, { type: 'all' }]);
    const coming = blocks.map(({ point }, at) => ({ type: 'connect', block: point, rows: rowsAt(at) }));
    expect(coming.some(({ rows }) => rows.size > 1)).to.equal(true);
    expect(coming.some(({ rows }) => [...rows.values()].some((places) => places.length > 1))).to.equal(true);
    await writer.connect(blocks);
    expect(changes.splice(0)).to.deep.equal(coming);
    for (let left = blocks.length - 1; left > 0; left--) await writer.disconnect();
    const going = blocks.map((_, at) => ({ type: 'disconnect', scripts: new Set(rowsAt(at).keys()) }));
    expect(changes.splice(0)).to.deep.equal(going.slice(1).reverse());
    for (const script of watched) watch.delete(script);
    await writer.connect(blocks.slice(1));
    expect(changes).to.deep.equal([]);
  });
});
