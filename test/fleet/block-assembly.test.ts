import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { BlockAssembly } from '../../lib/fleet/reader/block-assembly';
import type { BlockPart } from '../../lib/fleet/messages/records';

const [HASH, OTHER] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

describe('the parts of a block in the log', () => {
  let blocks: BlockAssembly;

  beforeEach(() => {
    blocks = new BlockAssembly();
  });

  /** Adds a part of two with its text. */
  const add = (
    part: number,
    text: string,
    sequence: number,
    { hash = HASH, parts = 2 }: Partial<Pick<BlockPart, 'hash' | 'parts'>> = {}
  ): void => {
    blocks.add({ type: 'block', hash, part, parts, bytes: Buffer.from(text) }, sequence);
  };
  const taken = (blockSequence: number, { hash = HASH, blockBytes = 4, undoBytes = 0 } = {}): string | undefined => {
    const block = blocks.take({ hash, blockSequence, blockBytes, undoBytes });
    return block && [block.raw, ...(block.undo === undefined ? [] : [block.undo])].join(' ');
  };

  it('are the block once all are there, which is taken once', () => {
    add(0, 'ab', 7);
    expect(taken(7)).to.equal(undefined);
    add(0, 'ab', 7);
    add(1, 'cd', 8);
    expect(taken(7)).to.equal('abcd');
    expect(taken(7)).to.equal(undefined);
  });

  it('have the undo record behind the block', () => {
    add(0, 'ab', 7);
    add(1, 'cd', 8);
    expect(taken(7, { blockBytes: 3, undoBytes: 1 })).to.equal('abc d');
  });

  it('are no block of which the record has another place or another length', () => {
    for (const [sequence, lengths] of [
      [6, {}],
      [8, {}],
      [7, { blockBytes: 3 }],
      [7, { undoBytes: 1 }]
    ] as const) {
      add(0, 'ab', 7);
      add(1, 'cd', 8);
      expect(taken(sequence, lengths)).to.equal(undefined);
    }
  });

  it('begin anew with another leader, who writes the block from its first part', () => {
    add(0, 'ab', 7);
    add(0, 'ab', 9);
    add(1, 'cd', 10);
    expect(taken(9)).to.equal('abcd');
  });

  it('are none if one is missing, is another block’s, or is empty', () => {
    add(1, 'abcd', 7);
    expect(taken(7)).to.equal(undefined);
    add(0, 'ab', 8, { parts: 3 });
    add(2, 'cd', 9, { parts: 3 });
    expect(taken(8)).to.equal(undefined);
    add(0, 'ab', 10);
    add(1, 'cd', 11, { hash: OTHER });
    expect(taken(10)).to.equal(undefined);
    expect(taken(10, { hash: OTHER })).to.equal(undefined);
    add(0, 'abcd', 12);
    add(1, '', 13);
    expect(taken(12)).to.equal(undefined);
  });

  it('are forgotten with those to come when another log is read', () => {
    add(0, 'ab', 7);
    add(1, 'cd', 8);
    blocks.clear();
    expect(taken(7)).to.equal(undefined);
    add(0, 'ab', 7);
    blocks.clear();
    add(1, 'cd', 8);
    expect(taken(7)).to.equal(undefined);
  });
});
