import { expect } from 'chai';
import { describe, it } from 'mocha';
import { keyOf } from '../../lib/bitcoin/hash';
import { ClusteredPool, type Member, type PooledNode } from '../../lib/policy/clustered-pool';
import { namesOf } from '../../lib/policy/names';
import { checkTruc, checkTrucInPackage } from '../../lib/policy/truc';
import { offered, input } from './offered';
import { refusalOf } from './refusal-of';
import type { Offered } from '../../lib/policy/transaction';

const SIZE = 100;

const outpointOf = ({ txid }: Offered, index: number): Buffer => {
  const outpoint = Buffer.alloc(36, index);
  txid.copy(outpoint);
  return outpoint;
};

let made = 0;

/** Spends an output of each of these, and a coin of its own. */
const spendingAs = (version: number, ...parents: readonly Offered[]): Offered =>
  offered({
    version,
    inputs: [input(++made), ...parents.map((parent, index) => ({ ...input(0), outpoint: outpointOf(parent, index) }))]
  });

const spending = (...parents: readonly Offered[]): Offered => spendingAs(3, ...parents);

const memberOf = ({ key, txid, wtxid, version }: Offered, size = SIZE): Member => ({
  key,
  txid,
  wtxid,
  version,
  size,
  weight: 4 * size,
  modifiedFee: 1_000,
  dust: []
});

/** A pool with these, parents first. */
function poolOf(...transactions: readonly Offered[]): (transaction: Offered) => PooledNode {
  const pool = new ClusteredPool();
  for (const one of transactions)
    pool.add(
      memberOf(one),
      one.inputs.map(({ txid }) => keyOf(txid)),
      []
    );
  return ({ key }) => pool.get(key) ?? expect.fail('it is in the pool');
}

const tooManyAncestors = (one: Offered): string => `TRUC-violation, ${namesOf(one)} would have too many ancestors`;
const tooManyDescendants = (one: Offered): string => `TRUC-violation, ${namesOf(one)} would exceed descendant count limit`;

describe('transactions of version 3', () => {
  const parent = spending();

  it('have one parent in the pool at most, which has none', () => {
    const [other, child] = [spending(), spending(parent)];
    const node = poolOf(parent, other, child);
    const check = (own: Offered, ...parents: readonly Offered[]): string | undefined =>
      refusalOf(() => checkTruc(memberOf(own), new Set(parents.map(node)), new Set()));
    expect(check(spending())).to.equal(undefined);
    expect(check(spending(other), other)).to.equal(undefined);
    const [ofTwo, ofChild] = [spending(other, parent), spending(child)];
    expect(check(ofTwo, other, parent)).to.equal(tooManyAncestors(ofTwo));
    expect(check(ofChild, child)).to.equal(tooManyAncestors(ofChild));
  });

  it('may take the place of a sibling, if there is one that spends from nothing else', () => {
    const second = spending(parent);
    const sibling = spending(parent);
    const found = checkTruc(memberOf(second), new Set([poolOf(parent, sibling)(parent)]), new Set());
    expect(found?.sibling.member.key).to.equal(sibling.key);
    expect(found?.refusal.message).to.equal(tooManyDescendants(parent));
    // Blocks that leave the chain may bring others.
    const other = spending();
    const family = [parent, other, spending(parent, other)];
    const families = [family, [parent, sibling, spending(parent)], [parent, sibling, spending(sibling)]];
    for (const pooled of families)
      expect(refusalOf(() => checkTruc(memberOf(second), new Set([poolOf(...pooled)(parent)]), new Set()))).to.equal(
        tooManyDescendants(parent)
      );
  });

  it('have 10,000 virtual bytes at most, and 1,000 if they spend from another one of the pool', () => {
    const child = spending(parent);
    const node = poolOf(parent);
    const check = (own: Offered, size: number, ...parents: readonly Offered[]): string | undefined =>
      refusalOf(() => checkTruc(memberOf(own, size), new Set(parents.map(node)), new Set()));
    expect(check(child, 10_000)).to.equal(undefined);
    expect(check(child, 10_001)).to.equal(`TRUC-violation, version=3 ${namesOf(child)} is too big: 10001 > 10000 virtual bytes`);
    expect(check(child, 1_000, parent)).to.equal(undefined);
    expect(check(child, 1_001, parent)).to.equal(`TRUC-violation, version=3 child ${namesOf(child)} is too big: 1001 > 1000 virtual bytes`);
  });

  it('spend from no others in the pool, nor do others from them', () => {
    const [usual, restricted] = [{ ...memberOf(spending()), version: 2 }, memberOf(parent)];
    const check = (own: Member, from: Member): unknown =>
      refusalOf(() => {
        const pool = new ClusteredPool();
        pool.add(from, [], []);
        checkTruc(own, new Set([pool.get(from.key) ?? expect.fail('it is in the pool')]), new Set());
      });
    const [child, other] = [memberOf(spending()), { ...memberOf(spending()), version: 2 }];
    expect(check(child, usual)).to.equal(`TRUC-violation, version=3 ${namesOf(child)} cannot spend from non-version=3 ${namesOf(usual)}`);
    expect(check(other, restricted)).to.equal(
      `TRUC-violation, non-version=3 ${namesOf(other)} cannot spend from version=3 ${namesOf(restricted)}`
    );
    expect([check(child, restricted), check(other, usual)]).to.deep.equal([undefined, undefined]);
  });

  it('conflict with a sibling like any others', () => {
    const sibling = spending(parent);
    const node = poolOf(parent, sibling);
    expect(checkTruc(memberOf(spending(parent)), new Set([node(parent)]), new Set([node(sibling)]))).to.equal(undefined);
  });

  it('are no more than a parent and a child in a package', () => {
    const check = (all: readonly Offered[], at: number, pooled: readonly Offered[] = [], parents = pooled): string | undefined => {
      const node = poolOf(...pooled);
      return refusalOf(() => {
        checkTrucInPackage(
          memberOf(all[at] as Offered),
          new Set(parents.map(node)),
          all.map((one) => ({ offered: one }))
        );
      });
    };
    const child = spending(parent);
    const [sibling, grandchild, other] = [spending(parent), spending(child), spending()];
    expect([0, 1].map((at) => check([parent, child], at))).to.deep.equal([undefined, undefined]);
    expect(check([parent, child, grandchild], 1)).to.equal(tooManyAncestors(grandchild));
    expect(check([parent, child, sibling], 1)).to.equal(tooManyDescendants(parent));
    const ofTwo = spending(parent, other);
    expect(check([parent, other, ofTwo], 2)).to.equal(tooManyAncestors(ofTwo));
    // With what is in the pool.
    expect(check([child, other], 0, [parent])).to.equal(undefined);
    expect(check([child, grandchild], 0, [parent])).to.equal(tooManyAncestors(grandchild));
    expect(check([child, other], 0, [parent, sibling], [parent])).to.equal(tooManyDescendants(parent));
    const ofChild = spending(child);
    expect(check([ofChild, other], 0, [parent, child], [child])).to.equal(tooManyAncestors(ofChild));
    // As those that come alone.
    const large = (all: readonly Offered[], size: number): string | undefined =>
      refusalOf(() => {
        checkTrucInPackage(
          memberOf(child, size),
          new Set(),
          all.map((one) => ({ offered: one }))
        );
      });
    expect(large([parent, child], 1_000)).to.equal(undefined);
    expect(large([parent, child], 1_001)).to.match(/is too big: 1001 > 1000 virtual bytes$/);
    expect(large([child, other], 1_001)).to.equal(undefined);
    const [usual, ofUsual] = [spendingAs(2), spendingAs(2, parent)];
    expect(check([parent, ofUsual], 1)).to.match(/, non-version=3 .* cannot spend from version=3 /);
    const mixed = spending(usual);
    expect(check([usual, mixed], 1)).to.match(/, version=3 .* cannot spend from non-version=3 /);
    expect(check([usual, spendingAs(2, usual)], 1)).to.equal(undefined);
  });
});
