import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { IndexError } from '../../lib/follow/errors';
import { caught } from '../support/expectations/caught';
import { blockHash, madeBlock, madeCoinbase } from '../support/chain/made-blocks';
import { ScriptIndex } from '../support/index/script-index';
import { sha256 } from '../support/index/script-model';
import type { ScriptBlock } from '../../lib/scripts/scan/rows';
import type { ScriptSnapshot } from '../../lib/scripts/types';

const [ONE, OTHER] = [Buffer.of(0x51), Buffer.of(0x52)];

/** A block that pays to a script. */
function paying(script: Buffer, previousHash: Buffer, height: number): ScriptBlock {
  const raw = madeBlock(previousHash, [madeCoinbase(height, [{ value: 5, script }])], height);
  return { point: { hash: blockHash(raw), height }, raw, spent: undefined };
}

const genesis = paying(ONE, Buffer.alloc(32), 0);
const first = paying(ONE, genesis.point.hash, 1);
const second = paying(OTHER, first.point.hash, 2);

describe('whether the rows of a script are the same in two snapshots', () => {
  let index: ScriptIndex;

  beforeEach(async () => {
    index = await ScriptIndex.open(genesis.point.hash);
    await index.connect([genesis, first]);
  });
  afterEach(() => index.close());

  const isSame = (snapshot: ScriptSnapshot, { stamp }: ScriptSnapshot): boolean[] =>
    [ONE, OTHER].map((script) => snapshot.hasSameRows(sha256(script), stamp));

  /** From the snapshot before to the one after, and back. */
  const between = (change: () => Promise<unknown>): Promise<boolean[][]> =>
    index.read(async (before) => {
      expect(isSame(before, before)).to.deep.equal([true, true]);
      await change();
      return index.read((after) => Promise.resolve([isSame(after, before), isSame(before, after)]));
    });

  it('is said of all scripts but those of a block between them, in either direction', async () => {
    const onlyOne = [
      [true, false],
      [true, false]
    ];
    expect(await between(() => index.connect([second]))).to.deep.equal(onlyOne);
    expect(await between(() => index.disconnect())).to.deep.equal(onlyOne);
  });

  it('is said of no script when the store was loaded, or forgotten, between them', async () => {
    const none = [
      [false, false],
      [false, false]
    ];
    expect(await between(() => index.writer.load())).to.deep.equal(none);
    expect(
      await between(() => {
        index.writer.reset();
        return index.writer.load();
      })
    ).to.deep.equal(none);
  });

  it('is said when a block that does not fit changed nothing', async () => {
    const both = [
      [true, true],
      [true, true]
    ];
    const unfitting = paying(ONE, second.point.hash, 3);
    const change = async (): Promise<void> => {
      expect(await caught(index.writer.connect([unfitting]))).to.be.instanceOf(IndexError);
    };
    expect(await between(change)).to.deep.equal(both);
  });
});
