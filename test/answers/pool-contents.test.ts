import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { PoolContents } from '../../lib/answers/pool/contents';
import { fromDisplayHex, toDisplayHex } from '../../lib/bitcoin/hash';
import { scanWholeTransaction } from '../../lib/bitcoin/transaction';
import { mempoolInfoJson } from '../../lib/views/pool-info';
import { PROFILES } from '../../lib/views/profile';
import { chainAManifest, chainAPool, recordedBody, recordedSuccesses } from '../support/chain/chain-a';
import { finish } from '../support/expectations/finish';
import type { PoolEntry } from '../../lib/node/types/pool';

const { fields } = PROFILES['0.17'];

/** Fields that 0.17 does not show. */
const UNSEEN = { weight: 400, adjustedWeight: 400, signalsReplacement: false, isUnbroadcast: false } as const;

interface WrittenEntry {
  readonly size: number;
  readonly time: number;
  readonly height: number;
  readonly descendantcount: number;
  readonly descendantsize: number;
  readonly descendantfees: number;
  readonly ancestorcount: number;
  readonly ancestorsize: number;
  readonly ancestorfees: number;
  readonly depends: readonly string[];
  readonly spentby: readonly string[];
}

type WrittenPool = Readonly<Record<string, WrittenEntry>>;

/** Chain A's pool in the recorded order; the node's own figures (size, time, height) as recorded. */
function entriesBehind(text: string): PoolEntry[] {
  const transactions = new Map(chainAPool().map((raw) => [toDisplayHex(scanWholeTransaction(raw).txid), scanWholeTransaction(raw)]));
  const fees = new Map(chainAManifest().mempool.map(({ txid, fee }) => [txid, fee]));
  return Object.entries(JSON.parse(text) as WrittenPool).map(([id, { size, time, height }]) => {
    const transaction = transactions.get(id);
    const fee = fees.get(id);
    if (transaction === undefined || fee === undefined) throw new Error(`expected a transaction of chain A's pool, got ${id}`);
    const { txid, wtxid, inputs } = transaction;
    return { txid, wtxid, size, fee, modifiedFee: fee, time, height, spends: inputs.map((input) => input.txid), ...UNSEEN };
  });
}

const numbered = (n: number): Buffer => Buffer.alloc(32, n.toString(16).padStart(4, '0'), 'hex');

const entry = (n: number, spends: readonly number[], modifiedFee = n): PoolEntry => ({
  txid: numbered(n),
  wtxid: numbered(n),
  size: 100 + n,
  fee: 1000,
  modifiedFee,
  time: 0,
  height: 0,
  spends: spends.map(numbered),
  ...UNSEEN
});

const written = (entries: readonly PoolEntry[]): WrittenPool =>
  JSON.parse(finish(new PoolContents(fields).json(entries)).toString()) as WrittenPool;

/** Transactions depend on each other in one direction; here the even ones come first. */
const orderOf = (n: number): number => (n % 2 === 0 ? n : n + 100);
const acyclic = (n: number, spends: readonly number[]): number[] => spends.filter((other) => orderOf(other) < orderOf(n));

describe('PoolContents', () => {
  it('writes every recorded pool byte for byte', () => {
    const answers = recordedSuccesses('mempool-contents', 'json');
    expect(answers).to.have.length.above(2);
    for (const answer of answers) {
      const text = recordedBody(answer).toString();
      expect(finish(new PoolContents(fields).json(entriesBehind(text))).toString(), answer.id).to.equal(text);
    }
  });

  it('writes an empty pool as an empty object', () => {
    expect(finish(new PoolContents(fields).json([])).toString()).to.equal('{}\n');
  });

  it('orders parents by their text and children by their bytes', () => {
    const ids = ['01ff', '02ee', '03dd'].map((hex) => Buffer.alloc(32, hex, 'hex'));
    const middle = Buffer.alloc(32, 7);
    const sibling = (txid: Buffer, spends: Buffer[]): PoolEntry => ({ ...entry(0, []), txid, spends });
    const above = written([sibling(middle, ids), ...ids.map((txid) => sibling(txid, []))]);
    expect(above[toDisplayHex(middle)]?.depends).to.deep.equal([...ids].reverse().map(toDisplayHex));
    const below = written([...ids.map((txid) => sibling(txid, [middle])), sibling(middle, [])]);
    expect(below[toDisplayHex(middle)]?.spentby).to.deep.equal(ids.map(toDisplayHex));
  });

  it('counts a parent once, however many of its outputs are spent and in however many ways it is reached', () => {
    const pool = written([entry(1, [900]), entry(2, [1, 1]), entry(3, [1]), entry(4, [2, 3, 3])]);
    const [top, bottom] = [pool[toDisplayHex(numbered(1))], pool[toDisplayHex(numbered(4))]];
    expect(top).to.include({ ancestorcount: 1, descendantcount: 4, descendantfees: 10, descendantsize: 410 });
    expect(bottom).to.include({ ancestorcount: 4, ancestorfees: 10, ancestorsize: 410, descendantcount: 1 });
    expect(bottom?.depends).to.have.length(2);
  });

  it('gives the ancestors or descendants of a transaction by their txids, without itself', () => {
    const pool = [entry(5, [900]), entry(2, [5]), entry(7, [5]), entry(3, [2, 7])];
    const contents = new PoolContents(fields);
    finish(contents.json(pool));
    const [top, , , bottom] = pool as [PoolEntry, PoolEntry, PoolEntry, PoolEntry];
    expect(contents.relativesOf(bottom, 'parents').map(({ txid }) => txid)).to.deep.equal([2, 5, 7].map(numbered));
    expect(contents.relativesOf(top, 'children').map(({ txid }) => txid)).to.deep.equal([2, 3, 7].map(numbered));
  });

  it('writes fees that were lowered below zero', () => {
    const text = finish(new PoolContents(fields).json([entry(1, [], -5)])).toString();
    expect(text).to.include('"fees":{"base":0.00001000,"modified":-0.00000005,"ancestor":-0.00000005,"descendant":-0.00000005}');
    expect(text).to.include('"descendantfees":-5');
  });

  it('sums ancestors and descendants of any pool as a plain walk does', () => {
    const pools = fc.array(fc.array(fc.nat(30), { maxLength: 4 }), { maxLength: 30 });
    fc.assert(
      fc.property(pools, fc.infiniteStream(fc.nat()), (parentsOf, order) => {
        const parents = parentsOf.map((wanted, n) => [...new Set(wanted.filter((parent) => parent < n))]);
        const ancestors = (n: number): Set<number> => new Set([n, ...(parents[n] ?? []).flatMap((parent) => [...ancestors(parent)])]);
        const entries = parents.map((spends, n) => ({ n, place: order.next().value as number, entry: entry(n, spends) }));
        const pool = written(entries.sort((a, b) => a.place - b.place).map(({ entry: shuffled }) => shuffled));
        const all = parents.map((_, n) => n);
        const feesOf = (set: readonly number[]): number => set.reduce((sum, n) => sum + n, 0);
        for (const n of all) {
          const [up, down] = [[...ancestors(n)], all.filter((other) => ancestors(other).has(n))];
          expect(pool[toDisplayHex(numbered(n))]).to.include({
            ancestorcount: up.length,
            ancestorfees: feesOf(up),
            ancestorsize: feesOf(up) + 100 * up.length,
            descendantcount: down.length,
            descendantfees: feesOf(down),
            descendantsize: feesOf(down) + 100 * down.length
          });
        }
      })
    );
  });

  it('writes the same after any changes of the pool as it writes from scratch', () => {
    // Transactions that a step adds, removes or prioritises, by number; they spend from lower and higher numbers alike.
    const step = fc.record({
      add: fc.array(fc.nat(24), { maxLength: 8 }),
      remove: fc.array(fc.nat(24), { maxLength: 5 }),
      fees: fc.array(fc.tuple(fc.nat(24), fc.nat(99)), { maxLength: 2 })
    });
    const links = fc.array(fc.array(fc.nat(30), { maxLength: 4 }), { minLength: 25, maxLength: 25 });
    fc.assert(
      fc.property(links, fc.array(step, { maxLength: 12 }), (spends, steps) => {
        const contents = new PoolContents(fields);
        const pool = new Map<number, { -readonly [field in keyof PoolEntry]: PoolEntry[field] }>();
        for (const { add, remove, fees } of steps) {
          for (const n of remove) pool.delete(n);
          for (const n of add) if (!pool.has(n)) pool.set(n, entry(n, acyclic(n, spends[n] ?? [])));
          for (const [n, fee] of fees) {
            const prioritised = pool.get(n);
            if (prioritised !== undefined) prioritised.modifiedFee = fee;
          }
          const entries = [...pool.values()];
          expect(finish(contents.json(entries)).toString()).to.equal(finish(new PoolContents(fields).json(entries)).toString());
        }
      })
    );
  });

  it('pauses at each entry', () => {
    expect([...new PoolContents(fields).json([entry(1, []), entry(2, [1])])]).to.have.length.at.least(2);
  });
});

describe('mempoolInfoJson', () => {
  const unseen = { totalFee: 0, unbroadcast: 0, mostDataCarrierBytes: 83, replaces: false };

  it('writes every recorded summary byte for byte', () => {
    const answers = recordedSuccesses('mempool-info', 'json');
    expect(answers).to.have.length.above(2);
    for (const answer of answers) {
      const text = recordedBody(answer).toString();
      const { size, bytes, usage, maxmempool } = JSON.parse(text) as { size: number; bytes: number; usage: number; maxmempool: number };
      const info = { ...unseen, size, bytes, usage, maxUsage: maxmempool, minFeeRate: 1000, minRelayFeeRate: 1000 };
      expect(mempoolInfoJson(info, fields, true).toString()).to.equal(text);
    }
  });

  it('shows what the pool asks for now beside what it always asks for', () => {
    const info = { ...unseen, size: 0, bytes: 0, usage: 0, maxUsage: 0 };
    expect(mempoolInfoJson({ ...info, minFeeRate: 5000, minRelayFeeRate: 1000 }, fields, true).toString()).to.include(
      '"mempoolminfee":0.00005000,"minrelaytxfee":0.00001000}'
    );
  });

  it('takes hashes only in wire order', () => {
    const id = 'ab'.repeat(31) + '01';
    expect(Object.keys(written([{ ...entry(1, []), txid: fromDisplayHex(id) }]))).to.deep.equal([id]);
  });
});
