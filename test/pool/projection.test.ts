import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { keyOf } from '../../lib/bitcoin/hash';
import { scanWholeTransaction } from '../../lib/bitcoin/transaction';
import { PooledTransaction } from '../../lib/pool/by-script/pooled-transaction';
import { feeStatistics, stackStatistics } from '../../lib/pool/projection/fee-statistics';
import { ProjectedBlocks, type Projection } from '../../lib/pool/projection/projected-blocks';
import { finish } from '../support/expectations/finish';
import { plainTransaction } from '../support/chain/made-blocks';
import type { PoolEntry } from '../../lib/node/types/pool';

const BLOCK_WEIGHT = 4_000_000;
const WORTH = 1_000_000;

interface Member {
  readonly entry: PoolEntry;
  readonly pooled: PooledTransaction;
}

/** A transaction of the pool. `n`: makes it another one than the others. */
function member(n: number, parents: readonly Member[], fee: number, padding: number): Member {
  const confirmed = Buffer.alloc(32, n.toString(16).padStart(8, '0'), 'hex');
  const spends = [confirmed, ...parents.map(({ entry }) => entry.txid)];
  const raw = plainTransaction(spends, WORTH - fee, padding);
  const { txid, weight } = scanWholeTransaction(raw);
  const script = Buffer.from([0x51]);
  const coins = spends.map((_, i) => ({ value: i === 0 ? WORTH : 0, script }));
  const shown = { size: weight / 4, weight, adjustedWeight: weight, fee, modifiedFee: fee };
  const entry = { ...shown, txid, wtxid: txid, time: n, height: 0, spends, signalsReplacement: false, isUnbroadcast: false };
  return { entry, pooled: new PooledTransaction({ txid, raw, coins }) };
}

class Pool {
  readonly members = new Map<string, Member>();
  readonly #blocks = new ProjectedBlocks((txid) => this.pooled(txid));

  pooled(txid: Buffer): PooledTransaction | undefined {
    return this.members.get(keyOf(txid))?.pooled;
  }

  add(one: Member): void {
    this.members.set(keyOf(one.entry.txid), one);
  }

  projection(blocks = this.#blocks): Projection {
    return finish(blocks.update([...this.members.values()].map(({ entry }) => entry)));
  }

  /** Transactions that the projection remembers. */
  get remembered(): number {
    return this.#blocks.size;
  }

  /** As if nothing was known before. */
  anew(): Projection {
    return this.projection(new ProjectedBlocks((txid) => this.pooled(txid)));
  }
}

const described = fc.array(
  fc.record({ fee: fc.nat(200_000), padding: fc.integer({ min: 1, max: 60_000 }), parent: fc.option(fc.nat(1_000)), leaves: fc.boolean() }),
  { minLength: 1, maxLength: 100 }
);

describe('projected blocks', () => {
  it('have every transaction once, after those from which it spends, and are not too heavy', () => {
    fc.assert(
      fc.property(described, (descriptions) => {
        const pool = new Pool();
        const all: Member[] = [];
        for (const [n, { fee, padding, parent }] of descriptions.entries()) {
          const parents = parent === null || all.length === 0 ? [] : [all[parent % all.length] as Member];
          const one = member(n, parents, fee, padding);
          all.push(one);
          pool.add(one);
        }
        const projection = pool.projection();
        const { blocks } = projection;
        const order = blocks.flatMap(({ transactions }) => transactions.map(({ txid }) => keyOf(txid)));
        expect(order).to.have.members([...pool.members.keys()]);
        const places = new Map(order.map((key, place) => [key, place]));
        for (const [key, { entry }] of pool.members)
          for (const spent of entry.spends) expect(places.get(keyOf(spent)) ?? -1).to.be.below(places.get(key) ?? 0);
        for (const [block, { weight, transactions, totalFees }] of blocks.entries()) {
          // A chunk that is heavier than a block is one of its own.
          if (new Set(transactions.map(({ rate }) => rate)).size > 1) expect(weight).to.be.at.most(BLOCK_WEIGHT);
          expect(totalFees).to.equal(transactions.reduce((sum, { fee }) => sum + fee, 0));
          for (const { txid } of transactions) expect(projection.find(txid)?.position.block).to.equal(block);
        }
      }),
      { numRuns: 30 }
    );
  });

  it('are the same whether they follow the pool or are made anew, with the same objects where nothing has changed', () => {
    fc.assert(
      fc.property(described, (descriptions) => {
        const pool = new Pool();
        const all: Member[] = [];
        const shown = ({ blocks }: Projection): unknown => blocks.map(({ transactions, statistics }) => ({ transactions, statistics }));
        let before = new Map<string, unknown>();
        for (const [n, { fee, padding, parent, leaves }] of descriptions.slice(0, 40).entries()) {
          const [first] = pool.members;
          if (leaves && first !== undefined) pool.members.delete(first[0]);
          const present = all.filter(({ entry }) => pool.members.has(keyOf(entry.txid)));
          const parents = parent === null || present.length === 0 ? [] : [present[parent % present.length] as Member];
          const one = member(n, parents, fee, padding);
          all.push(one);
          pool.add(one);
          const projection = pool.projection();
          expect(shown(projection)).to.deep.equal(shown(pool.anew()));
          const now = new Map(
            projection.blocks.flatMap(({ transactions }) => transactions.map((each) => [keyOf(each.txid), each] as const))
          );
          for (const [key, transaction] of now)
            if (JSON.stringify(before.get(key)) === JSON.stringify(transaction)) expect(before.get(key)).to.equal(transaction);
          before = now;
        }
      }),
      { numRuns: 10 }
    );
  });

  it('leave what no longer fits to the next block, with what follows it in its cluster', () => {
    const pool = new Pool();
    const large = member(0, [], 900_000, 600_000);
    const larger = member(1, [], 500_000, 600_000);
    const child = member(2, [larger], 1, 10);
    const small = member(3, [], 10, 10);
    for (const one of [large, larger, child, small]) pool.add(one);
    const { blocks } = pool.projection();
    const fees = blocks.map(({ transactions }) => transactions.map(({ fee }) => fee));
    expect(fees).to.deep.equal([
      [900_000, 10],
      [500_000, 1]
    ]);
  });

  it('have space for 4,000,000 weight units less 4,000 for header and coinbase', () => {
    const padded = (padding: number): Member => member(1, [], 1_000, padding);
    const first = member(0, [], 2_000, 500_000);
    const padding = 100_000 + (3_996_000 - first.entry.weight - padded(100_000).entry.weight) / 4;
    for (const [more, blocks] of [
      [0, 1],
      [1, 2]
    ] as const) {
      const pool = new Pool();
      for (const one of [first, padded(padding + more)]) pool.add(one);
      expect(pool.projection().blocks).to.have.length(blocks);
    }
  });

  it('are not searched for small transactions once they are nearly full, or have left out two hundred chunks', () => {
    const full = new Pool();
    full.add(member(0, [], 900_000, 997_100));
    full.add(member(1, [], 1, 10));
    expect(full.projection().blocks.map(({ count }) => count)).to.deep.equal([1, 1]);
    for (const [leftOut, inFirst] of [
      [199, 2],
      [200, 1]
    ] as const) {
      const pool = new Pool();
      pool.add(member(0, [], 900_000, 960_000));
      for (let n = 1; n <= leftOut; n++) pool.add(member(n, [], 10_000, 50_000));
      pool.add(member(leftOut + 1, [], 1, 10));
      expect(pool.projection().blocks[0]?.count, `${leftOut}`).to.equal(inFirst);
    }
  });

  it('have a chunk that is heavier than a block alone in one', () => {
    const pool = new Pool();
    pool.add(member(0, [], 900_000, 1_100_000));
    pool.add(member(1, [], 10, 10));
    const { blocks } = pool.projection();
    expect(blocks.map(({ count }) => count)).to.deep.equal([1, 1]);
    // One transaction alone tells nothing of fees.
    for (const { statistics } of blocks) expect(statistics).to.deep.equal({ median: 0, range: [0, 0, 0, 0, 0, 0, 0] });
  });

  it('say where a transaction is, by what comes before its middle', () => {
    const pool = new Pool();
    const [first, second] = [member(0, [], 2_000, 200), member(1, [], 1_000, 300)];
    for (const one of [second, first]) pool.add(one);
    const projection = pool.projection();
    const [before, own] = [first.entry.weight / 4, second.entry.weight / 4];
    expect(projection.find(first.entry.txid)?.position).to.deep.equal({ block: 0, vsize: before / 2 });
    expect(projection.find(second.entry.txid)?.position).to.deep.equal({ block: 0, vsize: before + own / 2 });
  });

  it('have no transaction that has left before it was looked at, and remember none that has left', () => {
    const pool = new Pool();
    const parent = member(0, [], 100, 200);
    for (const one of [parent, member(1, [parent], 3_000, 200), member(2, [], 1_000, 200)]) pool.add(one);
    const blocks = new ProjectedBlocks((txid) => (txid.equals(parent.entry.txid) ? undefined : pool.pooled(txid)));
    expect(pool.projection(blocks).blocks.map(({ transactions }) => transactions.map(({ fee }) => fee))).to.deep.equal([[3_000, 1_000]]);
    pool.projection();
    expect(pool.remembered).to.equal(3);
    pool.members.clear();
    pool.projection();
    expect(pool.remembered).to.equal(0);
  });

  it('are ordinary blocks up to the eighth, if that is one', () => {
    const pool = new Pool();
    for (let n = 0; n < 16; n++) pool.add(member(n, [], 900_000 - n, 450_000));
    expect(pool.projection().blocks.map(({ statistics }) => statistics.range.length)).to.deep.equal([7, 7, 7, 7, 7, 7, 7, 7]);
  });

  it('are eight, of which the last one has everything that is left and lists the beginning of it', () => {
    const pool = new Pool();
    for (let n = 0; n < 22; n++) pool.add(member(n, [], 900_000 - n, 450_000));
    const { blocks } = pool.projection();
    expect(blocks.map(({ count }) => count)).to.deep.equal([2, 2, 2, 2, 2, 2, 2, 8]);
    const last = blocks.at(-1) ?? expect.fail('a block');
    expect([last.transactions.length, last.statistics.range.length]).to.deep.equal([2, 11]);
    expect(last.statistics.range).to.deep.equal(last.statistics.range.toSorted((a, b) => a - b));
    expect(blocks[0]?.statistics.range).to.have.lengthOf(7);
  });

  it('show a child and its parent with the rate of both, and who of them comes first', () => {
    const pool = new Pool();
    const parent = member(0, [], 100, 200);
    const child = member(1, [parent], 50_000, 200);
    pool.add(parent);
    pool.add(child);
    const [{ transactions } = expect.fail('a block')] = pool.projection().blocks;
    const weight = parent.entry.weight + child.entry.weight;
    expect(transactions.map(({ rate }) => rate)).to.deep.equal([50_100 / (weight / 4), 50_100 / (weight / 4)]);
    expect(transactions.map(({ flags }) => (flags >> 16) & 3)).to.deep.equal([1, 2]);
    expect(transactions.map(({ value }) => value)).to.deep.equal([WORTH - 100, WORTH - 50_000]);
  });
});

describe('fee statistics of a block', () => {
  const rated = (rates: readonly number[], weight: number): { rate: number; weight: number }[] => rates.map((rate) => ({ rate, weight }));

  it('have as the median what pays in the middle of a full block; empty space pays nothing', () => {
    const full = finish(feeStatistics(rated([9, 7, 5, 3, 1], 800_000)));
    expect(full).to.deep.equal({ median: 5, range: [1, 1, 3, 5, 7, 7, 7] });
    expect(finish(feeStatistics(rated([9, 7], 900_000))).median).to.equal(0);
    expect(finish(feeStatistics([]))).to.deep.equal({ median: 0, range: [0, 0, 0, 0, 0, 0, 0] });
  });

  it('have as the median the average of the quarter of a percent around the middle', () => {
    const rates = [
      { rate: 7, weight: 2_003_000 },
      { rate: 3, weight: 1_997_000 }
    ];
    expect(finish(feeStatistics(rates)).median).to.equal((3 * 2_000 + 7 * 8_000) / 10_000);
  });

  it('range from the hundredth part to the last but that, and beyond for the fiftieth part at either end of the block', () => {
    const block = Array<number>(300).fill(5);
    const rangeOf = (changes: readonly [at: number, rate: number][]): readonly [number | undefined, number | undefined] => {
      const rates = [...block];
      for (const [at, rate] of changes) rates[at] = rate;
      const { range } = finish(feeStatistics(rated(rates, 10_000)));
      return [range[0], range.at(-1)];
    };
    const middle = [1, 2, 3, 1_000, 2_000, 3_000, 4_000].map((rate, i) => [100 + i, rate] as [number, number]);
    expect(rangeOf(middle)).to.deep.equal([3, 1_000]);
    expect(
      rangeOf([
        [5, 9],
        [6, 11],
        [293, 2],
        [294, 3]
      ])
    ).to.deep.equal([3, 9]);
  });

  it('of many blocks are averages at tenths of their weight', () => {
    const { median, range } = finish(stackStatistics(rated([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], 4_000_000)));
    expect(median).to.equal(5.5);
    expect(range).to.deep.equal([1, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10]);
  });
});
