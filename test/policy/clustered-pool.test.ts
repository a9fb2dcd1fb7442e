import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { keyOf, toDisplayHex } from '../../lib/bitcoin/hash';
import { ClusteredPool, componentsOf, type Member, type PooledChunk, type PooledNode } from '../../lib/policy/clustered-pool';
import { LIMITS } from '../../lib/policy/limits';
import { allReplaced, checkPaysForReplacement, checkSpendsNoConflict } from '../../lib/policy/replacement';
import { Staging } from '../../lib/policy/staging';
import { runAtOnce } from '../../lib/turns/slices';
import { refusalOf } from './refusal-of';

const txidOf = (number: number): Buffer => createHash('sha256').update(`transaction ${number}`).digest();
const key = (number: number): string => keyOf(txidOf(number));
const keys = (numbers: readonly number[]): Set<string> => new Set(numbers.map(key));

function member(number: number, modifiedFee = 1_000, weight = 400): Member {
  const txid = txidOf(number);
  return { key: keyOf(txid), txid, wtxid: txid, version: 2, size: weight / 4, weight, modifiedFee, dust: [] };
}

/** Clusters of `size`: in each, all others spend from the first. */
function starsOf(count: number, size: number): { readonly pool: ClusteredPool; readonly roots: readonly number[] } {
  const pool = new ClusteredPool();
  const roots = Array.from({ length: count }, (_, i) => i * size);
  for (const root of roots) for (let i = 0; i < size; i++) pool.add(member(root + i), i === 0 ? [] : [key(root)], []);
  return { pool, roots };
}

const nodeAt = (pool: ClusteredPool, number: number): PooledNode => pool.get(key(number)) ?? expect.fail('a transaction of the pool');

type Step = { readonly spends: readonly number[] } | { readonly leaves: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ spends: fc.array(fc.nat(30), { maxLength: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ leaves: fc.nat(30) }) }
);

describe('the pool’s clusters', () => {
  it('are the transactions that are connected, whatever enters and leaves', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const pool = new ClusteredPool();
        const parents = new Map<number, readonly number[]>();
        for (const [number, one] of steps.entries()) {
          if ('leaves' in one) {
            const leaving = [...parents.keys()][one.leaves % Math.max(1, parents.size)];
            if (leaving === undefined) continue;
            parents.delete(leaving);
            pool.delete(key(leaving));
          } else {
            const there = [...parents.keys()];
            const spent = there.length === 0 ? [] : [...new Set(one.spends.map((pick) => there[pick % there.length] as number))];
            parents.set(number, spent);
            pool.add(member(number), spent.map(key), []);
          }
          for (const start of parents.keys()) {
            const cluster = pool.clusterOf(nodeAt(pool, start));
            const expected = connected(start, parents);
            expect(new Set(Array.from(cluster.nodes, ({ member: { key: one } }) => one))).to.deep.equal(new Set([...expected].map(key)));
            const chunks = runAtOnce(cluster.chunks());
            expect(chunks.flatMap(({ nodes }) => [...nodes])).to.have.members([...cluster.nodes]);
          }
        }
      })
    );
  });

  it('join when a transaction comes back before those that spend from it', () => {
    const pool = new ClusteredPool();
    for (const child of [1, 2]) pool.add(member(child), [], []);
    pool.add(member(3), [], [key(1), key(2)]);
    expect(pool.clusterOf(nodeAt(pool, 1)).nodes.size).to.equal(3);
    pool.delete(key(3));
    expect(pool.clusterOf(nodeAt(pool, 1)).nodes.size).to.equal(1);
  });

  it('are chunked once, and again when one of them enters, leaves or pays otherwise', () => {
    const pool = new ClusteredPool();
    const root = { ...member(0) };
    pool.add(root, [], []);
    for (const child of [1, 2]) pool.add(member(child, 1_000 + child), [key(0)], []);
    const chunks = (): readonly PooledChunk[] => runAtOnce(pool.clusterOf(nodeAt(pool, 0)).chunks());
    const fees = (): number[] => chunks().map(({ fee }) => fee);
    expect(fees()).to.deep.equal([2_002, 1_001]);
    expect(chunks()).to.equal(chunks());
    pool.add(member(3, 1_003), [key(0)], []);
    expect(fees()).to.deep.equal([3_005, 1_001]);
    pool.delete(key(3));
    expect(fees()).to.deep.equal([2_002, 1_001]);
    Object.assign(root, { modifiedFee: 3_000 });
    expect(fees()).to.deep.equal([3_000, 1_002, 1_001]);
    // Rates are by weight.
    expect(chunks().map(({ weight }) => weight)).to.deep.equal([400, 400, 400]);
  });

  it('take in those that are smaller', () => {
    const { pool } = starsOf(1, 3);
    for (const single of [10, 11]) pool.add(member(single), [], []);
    const large = pool.clusterOf(nodeAt(pool, 0));
    pool.add(member(12), [key(10), key(0)], []);
    pool.add(member(13), [key(0), key(11)], []);
    expect(pool.clusterOf(nodeAt(pool, 11))).to.equal(large);
    expect(large.nodes.size).to.equal(7);
  });

  it('are found one after the other, with a pause after each', () => {
    const { pool } = starsOf(50, 2);
    expect([...componentsOf(pool.nodes(), ({ parents, children }) => [...parents, ...children])]).to.have.length(50);
  });

  it('hold 64 transactions of 404,000 weight together', () => {
    const { pool } = starsOf(1, LIMITS.mostInCluster - 1);
    const staged = (number: number, weight: number, spends: readonly number[]): unknown => {
      const staging = new Staging(pool);
      staging.add(member(number, 1_000, weight), keys(spends));
      return refusalOf(() => {
        staging.checkClusters();
      });
    };
    const used = (LIMITS.mostInCluster - 1) * 400;
    expect(staged(1_000, LIMITS.mostClusterWeight - used, [0])).to.equal(undefined);
    expect(staged(1_000, LIMITS.mostClusterWeight - used + 4, [0])).to.equal('too-large-cluster');
    pool.add(member(999), [key(0)], []);
    expect(staged(1_000, 400, [0])).to.equal('too-large-cluster');
    expect(staged(1_000, 400, [])).to.equal(undefined);
  });

  it('count all that enter together', () => {
    const { pool } = starsOf(1, LIMITS.mostInCluster - 2);
    const entering = (...spends: readonly (readonly number[])[]): string | undefined => {
      const staging = new Staging(pool);
      for (const [i, spent] of spends.entries()) staging.add(member(1_000 + i), keys(spent));
      return refusalOf(() => {
        staging.checkClusters();
      });
    };
    for (const second of [0, 1_000]) {
      expect(entering([0], [second])).to.equal(undefined);
      for (const third of [0, 1_000, 1_001]) expect(entering([0], [second], [third])).to.equal('too-large-cluster');
    }
  });

  it('have room for a replacement once what it replaces does not count any more', () => {
    const { pool } = starsOf(1, LIMITS.mostInCluster);
    const staging = new Staging(pool);
    staging.add(member(1_000), keys([0]));
    const refusal = (): unknown =>
      refusalOf(() => {
        staging.checkClusters();
      });
    expect(refusal()).to.equal('too-large-cluster');
    staging.removed.add(nodeAt(pool, LIMITS.mostInCluster - 1));
    expect(refusal()).to.equal(undefined);
  });

  it('are not too long for any cluster when they come back from blocks: 64 transactions in a chain', () => {
    const pool = new ClusteredPool();
    for (let number = 0; number < LIMITS.mostInCluster; number++) pool.add(member(number), number === 0 ? [] : [key(number - 1)], []);
    const cameBack = (parent: number): string | undefined => {
      const staging = new Staging(pool);
      staging.add(member(1_000), keys([parent]));
      return refusalOf(() => {
        staging.checkAncestors();
      });
    };
    expect(cameBack(LIMITS.mostInCluster - 2)).to.equal(undefined);
    expect(cameBack(LIMITS.mostInCluster - 1)).to.equal('too-large-cluster');
  });

  it('are looked at only as far as the limit, even if a transaction spends from hundreds of them', () => {
    const { pool, roots } = starsOf(500, LIMITS.mostInCluster);
    let looks = 0;
    for (const root of roots) {
      const { children } = nodeAt(pool, root);
      const values = children.values.bind(children);
      Object.defineProperty(children, Symbol.iterator, { value: () => (looks++, values()) });
    }
    const staging = new Staging(pool);
    staging.add(member(1_000_000), keys(roots));
    expect(
      refusalOf(() => {
        staging.checkClusters();
      })
    ).to.equal('too-large-cluster');
    expect(looks).to.be.at.most(LIMITS.mostInCluster);
  });
});

function connected(start: number, parents: ReadonlyMap<number, readonly number[]>): Set<number> {
  const found = new Set([start]);
  for (const one of found)
    for (const [other, spent] of parents) {
      if (spent.includes(one)) found.add(other);
      if (other === one) for (const parent of spent) if (parents.has(parent)) found.add(parent);
    }
  return found;
}

describe('a replacement', () => {
  const reason = 'too many potential replacements';
  const txid = txidOf(1_000_000);

  it('conflicts with transactions of a hundred clusters at most, and takes all their descendants along', () => {
    const { pool, roots } = starsOf(LIMITS.mostReplacedClusters + 1, 3);
    const conflicts = (numbers: readonly number[]): Set<PooledNode> => new Set(numbers.map((number) => nodeAt(pool, number)));
    expect(allReplaced(conflicts(roots.slice(1)), pool, { txid, reason }).size).to.equal(3 * LIMITS.mostReplacedClusters);
    expect(refusalOf(() => allReplaced(conflicts(roots), pool, { txid, reason }))).to.match(
      /^too many potential replacements, rejecting replacement [0-9a-f]{64}; too many conflicting clusters \(101 > 100\)$/
    );
    // Many of one cluster are one.
    const all = Array.from({ length: 3 * LIMITS.mostReplacedClusters }, (_, number) => number);
    expect(allReplaced(conflicts(all), pool, { txid, reason }).size).to.equal(all.length);
  });

  it('pays for all that goes, and for itself', () => {
    const { pool } = starsOf(1, 3);
    const pays = (fee: number): string | undefined =>
      refusalOf(() => {
        checkPaysForReplacement(pool.nodes(), { txid, fee, size: 201, incrementalRate: 100, reason: 'insufficient fee' });
      })?.replace(/ [0-9a-f]{64}/, '');
    expect(pays(3_021)).to.equal(undefined);
    expect(pays(3_020)).to.equal('insufficient fee, rejecting replacement, not enough additional fees to relay; 0.0000002 < 0.00000021');
    expect(pays(3_000)).to.equal('insufficient fee, rejecting replacement, not enough additional fees to relay; 0.00 < 0.00000021');
    expect(pays(2_999)).to.equal('insufficient fee, rejecting replacement, less fees than conflicting txs; 0.00002999 < 0.00003');
    // As an operator may have it.
    expect(pays(-5)).to.equal('insufficient fee, rejecting replacement, less fees than conflicting txs; -0.00000005 < 0.00003');
  });

  it('makes the pool better, with what it spends from before and after', () => {
    const pool = new ClusteredPool();
    pool.add(member(1), [], []);
    const improves = (fee: number, weight: number, spends: readonly number[]): boolean => {
      const staging = new Staging(pool);
      staging.removed.add(nodeAt(pool, 1));
      staging.add(member(3, fee, weight), keys(spends));
      return runAtOnce(staging.improves());
    };
    expect(improves(1_200, 400, [])).to.equal(true);
    expect(improves(1_200, 4_000, [])).to.equal(false);
    // The fee of another parent was there before; a parent that pays little pulls it down.
    pool.add(member(2, 5_000), [], []);
    expect(improves(1_200, 4_000, [2])).to.equal(false);
    pool.add(member(4, 0, 4_000), [], []);
    expect(improves(1_200, 400, [4])).to.equal(false);
  });

  it('of two transactions makes the pool better, with what the second one spends from the first', () => {
    const pool = new ClusteredPool();
    pool.add(member(1), [], []);
    const improves = (parentFee: number, childFee: number): boolean => {
      const staging = new Staging(pool);
      staging.removed.add(nodeAt(pool, 1));
      staging.add(member(2, parentFee), new Set());
      staging.add(member(3, childFee), keys([2]));
      return runAtOnce(staging.improves());
    };
    expect(improves(0, 2_001)).to.equal(true);
    expect(improves(0, 1_999)).to.equal(false);
    // Neither was there before.
    expect(improves(1_500, 10)).to.equal(true);
  });

  it('does not spend what it replaces, nor what descends from that', () => {
    const pool = new ClusteredPool();
    pool.add(member(1), [], []);
    pool.add(member(2), [key(1)], []);
    const [first, second] = [nodeAt(pool, 1), nodeAt(pool, 2)];
    const spends = (parents: PooledNode[], conflicts: PooledNode[]): string | undefined =>
      refusalOf(() => {
        checkSpendsNoConflict(member(3), new Set(parents), new Set(conflicts));
      });
    expect(spends([second], [first])).to.match(
      /^bad-txns-spends-conflicting-tx, [0-9a-f]{64} spends conflicting transaction [0-9a-f]{64}$/
    );
    expect(spends([first], [second])).to.equal(undefined);
    // The one that Bitcoin Core names.
    const named = [first, second].map(({ member: one }) => one.txid).sort((a, b) => a.compare(b))[0] ?? expect.fail('there are two');
    for (const both of [
      [first, second],
      [second, first]
    ])
      expect(spends(both, both)).to.match(new RegExp(`transaction ${toDisplayHex(named)}$`));
  });
});
