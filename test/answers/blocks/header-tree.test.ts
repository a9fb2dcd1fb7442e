import { expect } from 'chai';
import fc from 'fast-check';
import { before, describe, it } from 'mocha';
import { HeaderTree } from '../../../lib/answers/blocks/header-tree';
import { hash256 } from '../../../lib/bitcoin/hash';
import { merkleTree, type MerkleTree } from '../../../lib/bitcoin/merkle-tree';
import { HeaderTable } from '../../../lib/index/read/header-table';
import { encodeHeader } from '../../../lib/index/records/chain';
import { AnswerCache } from '../../../lib/server/cache/answer-cache';
import { runAtOnce } from '../../../lib/turns/slices';

const GROUP_SIZE = 2_048;
const LENGTH = 3 * GROUP_SIZE + 700;
const FORK = 2 * GROUP_SIZE - 3;

const client = { isGone: false };

/** Adds headers up to a length; `salt` tells forks apart. */
function extend(table: HeaderTable, length: number, salt: number): void {
  for (let height = table.length; height < length; height++) {
    const header = Buffer.alloc(80, salt);
    if (height > 0) table.hashAt(height - 1).copy(header, 4);
    const hash = hash256(header);
    const rest = { chainwork: 1n, medianTime: 0, transactionCount: 1, chainTransactions: height, chainBytes: height };
    table.push(height, encodeHeader({ hash, height, header, ...rest }));
  }
}

/** All hashes up to a height in one tree. */
function wholeTree(table: HeaderTable, checkpoint: number): MerkleTree {
  return runAtOnce(merkleTree(Array.from({ length: checkpoint + 1 }, (_, height) => table.hashAt(height))));
}

describe('the tree over the headers of a chain', () => {
  const table = new HeaderTable();
  const tree = new HeaderTree(new AnswerCache(1 << 22));
  const index = {
    headerRun: (height: number, count: number) => (height < table.length ? table.run(height, count, table.length) : undefined),
    during: <T>(work: Promise<T>): Promise<T> => work
  };

  before(() => extend(table, LENGTH, 1));

  async function expectProof(height: number, checkpoint: number): Promise<void> {
    const whole = wholeTree(table, checkpoint);
    const proof = await tree.proof(height, checkpoint, index, client);
    expect(proof, `${height} of ${checkpoint}`).to.deep.equal({ branch: whole.branch(height), root: whole.root });
  }

  it('gives the same proofs as one tree over all headers', async () => {
    const ends = [1, GROUP_SIZE, 2 * GROUP_SIZE, 3 * GROUP_SIZE].flatMap((size) => [size - 1, size, size + 1]);
    for (const checkpoint of [0, ...ends, LENGTH - 1])
      for (const height of [0, checkpoint >> 1, checkpoint]) await expectProof(height, checkpoint);
    const heights = fc.tuple(fc.nat(LENGTH - 1), fc.nat(LENGTH - 1)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
    await fc.assert(
      fc.asyncProperty(heights, ([height, checkpoint]) => expectProof(height, checkpoint)),
      { numRuns: 8 }
    );
  });

  it('says of how many headers it has made trees: of none if they are cached', async () => {
    const fresh = new HeaderTree(new AnswerCache(1 << 22));
    const hashedFor = async (): Promise<number[]> => {
      const counts: number[] = [];
      await fresh.proof(5, LENGTH - 1, index, client, (count) => counts.push(count));
      return counts;
    };
    const [once, , again] = [await hashedFor(), await hashedFor(), await hashedFor()];
    expect([once, again]).to.deep.equal([[GROUP_SIZE, LENGTH % GROUP_SIZE], []]);
  });

  it('forgets headers that a reorganization has disconnected', async () => {
    await expectProof(5, LENGTH - 1);
    table.pop(FORK);
    extend(table, LENGTH + 10, 2);
    for (const height of [5, FORK - 1, FORK, LENGTH]) await expectProof(height, LENGTH + 9);
    await expectProof(5, FORK);
  });

  it('is the same for all clients that ask at one time', async () => {
    const { branch, root } = await tree.proof(9, LENGTH - 1, index, client);
    const fresh = new HeaderTree(new AnswerCache(1 << 22));
    const proofs = await Promise.all(Array.from({ length: 3 }, () => fresh.proof(9, LENGTH - 1, index, client)));
    for (const proof of proofs) expect(proof).to.deep.equal({ branch, root });
  });
});
