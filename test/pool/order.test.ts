import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { PoolContents } from '../../lib/answers/pool/contents';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { scanWholeTransaction } from '../../lib/bitcoin/transaction';
import { compareRates } from '../../lib/clusters/fee-rate';
import { PoolGraph } from '../../lib/pool/order/graph';
import { PoolOrder } from '../../lib/pool/order/order';
import { mempoolInfoJson } from '../../lib/views/pool-info';
import { PROFILES } from '../../lib/views/profile';
import { chainAAnswers31, chainAPool, recordedBody } from '../support/chain/chain-a';
import { finish } from '../support/expectations/finish';
import type { PoolEntry } from '../../lib/node/types/pool';

const { fields } = PROFILES.modern;

interface WrittenEntry {
  readonly vsize: number;
  readonly weight: number;
  readonly time: number;
  readonly height: number;
  readonly chunkweight: number;
  readonly fees: { readonly base: number; readonly chunk: number };
  readonly depends: readonly string[];
  readonly spentby: readonly string[];
  readonly unbroadcast: boolean;
  readonly 'bip125-replaceable'?: boolean;
}

type WrittenPool = Readonly<Record<string, WrittenEntry>>;

const SATS = 1e8;

function recorded(path: string): string {
  const answer = chainAAnswers31().find((one) => one.state === 'with-mempool' && one.method === 'GET' && one.path === path);
  if (answer === undefined) throw new Error(`expected an answer to ${path}`);
  return recordedBody(answer).toString();
}

/** Chain A's pool in the order in which it was sent; sizes and times as recorded. */
function chainAEntries(): PoolEntry[] {
  const pool = JSON.parse(recorded('/rest/mempool/contents.json')) as WrittenPool;
  return chainAPool().map((raw) => {
    const { txid, wtxid, inputs } = scanWholeTransaction(raw);
    const shown = pool[toDisplayHex(txid)];
    if (shown === undefined) throw new Error(`expected a recorded transaction, got ${toDisplayHex(txid)}`);
    const { vsize, weight, time, height, fees, unbroadcast, chunkweight } = shown;
    const fee = Math.round(fees.base * SATS);
    return {
      txid,
      wtxid,
      size: vsize,
      weight,
      // In the recording, only transactions that are chunks by themselves have an adjusted weight above their weight.
      adjustedWeight: vsize * 4 - weight > 3 ? chunkweight : weight,
      fee,
      modifiedFee: fee,
      time,
      height,
      spends: inputs.map((input) => input.txid),
      signalsReplacement: inputs.some(({ sequence }) => sequence <= 0xffff_fffd),
      isUnbroadcast: unbroadcast
    };
  });
}

const numbered = (n: number): Buffer => Buffer.alloc(32, n.toString(16).padStart(4, '0'), 'hex');

const entry = (n: number, spends: readonly number[], fee: number): PoolEntry => ({
  txid: numbered(n),
  wtxid: numbered(n),
  size: 100 + (n % 3),
  weight: 400,
  adjustedWeight: 400 + 4 * (n % 3),
  fee,
  modifiedFee: fee,
  time: 0,
  height: 0,
  spends: spends.map(numbered),
  signalsReplacement: n % 7 === 0,
  isUnbroadcast: false
});

const written = (contents: PoolContents, entries: readonly PoolEntry[]): string => finish(contents.json(entries)).toString();

describe('the order of the pool', () => {
  it('is the recorded one, byte for byte, in both forms', () => {
    const contents = new PoolContents(fields);
    const entries = chainAEntries();
    expect(written(contents, entries)).to.equal(recorded('/rest/mempool/contents.json'));
    expect(finish(contents.txids(entries)).toString()).to.equal(recorded('/rest/mempool/contents.json?verbose=false'));
    expect(contents.isBestOrder).to.equal(true);
  });

  it('is the same whichever transaction came first', () => {
    const backwards = chainAEntries().reverse();
    expect(written(new PoolContents(fields), backwards)).to.equal(recorded('/rest/mempool/contents.json'));
  });

  // Transactions that a step adds, removes or prioritises, by number; they spend from lower numbers.
  const step = fc.record({
    add: fc.array(fc.nat(24), { maxLength: 8 }),
    remove: fc.array(fc.nat(24), { maxLength: 5 }),
    fees: fc.array(fc.tuple(fc.nat(24), fc.nat(9)), { maxLength: 2 })
  });
  const links = fc.array(fc.array(fc.nat(24), { maxLength: 3 }), { minLength: 25, maxLength: 25 });
  const fees = fc.array(fc.nat(9), { minLength: 25, maxLength: 25 });

  it('has everything once, parents first and the best chunks first, and is the same after any changes as from scratch', () => {
    fc.assert(
      fc.property(links, fees, fc.array(step, { maxLength: 10 }), (spends, first, steps) => {
        const contents = new PoolContents(fields);
        const pool = new Map<number, { -readonly [field in keyof PoolEntry]: PoolEntry[field] }>();
        for (const { add, remove, fees: prioritised } of steps) {
          for (const n of remove) pool.delete(n);
          const parentsOf = (n: number): number[] => (spends[n] ?? []).filter((other) => other < n);
          for (const n of add) if (!pool.has(n)) pool.set(n, entry(n, parentsOf(n), first[n] ?? 0));
          for (const [n, fee] of prioritised) {
            const one = pool.get(n);
            if (one !== undefined) one.modifiedFee = fee;
          }
          const entries = [...pool.values()];
          const text = written(contents, entries);
          expect(text).to.equal(written(new PoolContents(fields), entries));
          const shown = Object.entries(JSON.parse(text) as WrittenPool);
          expect(shown.map(([txid]) => txid)).to.have.members(entries.map(({ txid }) => toDisplayHex(txid)));
          const come = new Set<string>();
          let before = { fee: Infinity, weight: 1 };
          for (const [txid, { depends, chunkweight, fees: shownFees }] of shown) {
            for (const parent of depends) expect(come.has(parent)).to.equal(true);
            come.add(txid);
            const chunk = { fee: Math.round(shownFees.chunk * SATS), weight: chunkweight };
            if (come.size > 1) expect(compareRates(chunk, before)).to.be.at.most(0);
            before = chunk;
          }
        }
      })
    );
  });

  it('is reported as not the best only while a cluster is too large for the best order', () => {
    const contents = new PoolContents(fields);
    const entries = Array.from({ length: 65 }, (_, n) => entry(n, n === 0 ? [] : [0], n));
    finish(contents.update(entries));
    expect(contents.isBestOrder).to.equal(false);
    finish(contents.update(entries.slice(0, 64)));
    expect(contents.isBestOrder).to.equal(true);
  });

  it('shows the new weight of a chunk also with those of its transactions that are no relatives of what has changed', () => {
    const contents = new PoolContents(fields);
    // Its children pay for 3, both together.
    const parent = { ...entry(3, [], 0), adjustedWeight: 4_000 };
    const [child, other] = [entry(6, [3], 400), entry(9, [3], 400)];
    const heavier = { ...other, txid: numbered(12), adjustedWeight: 800 };
    for (const entries of [
      [parent, child, other],
      [parent, child, heavier]
    ])
      expect(written(contents, entries)).to.equal(written(new PoolContents(fields), entries));
    const [first, second] = Object.values(JSON.parse(written(contents, [parent, child, heavier])) as WrittenPool);
    expect([first?.chunkweight, second?.chunkweight]).to.deep.equal([5_200, 5_200]);
  });

  it('compares the greatest txids of chunks that pay the same', () => {
    const entries = [
      { ...entry(1, [], 0), adjustedWeight: 400 },
      { ...entry(9, [1], 800), adjustedWeight: 400 }
    ];
    const between = { ...entry(5, [], 800), adjustedWeight: 800 };
    const shown = Object.keys(JSON.parse(written(new PoolContents(fields), [...entries, between])) as WrittenPool);
    expect(shown).to.deep.equal([5, 1, 9].map((n) => toDisplayHex(numbered(n))));
  });

  it('keeps nothing of transactions that have left', () => {
    const contents = new PoolContents(fields);
    finish(contents.update([entry(3, [], 400), entry(6, [3], 400)]));
    expect(contents.byteLength).to.be.above(0);
    finish(contents.update([]));
    expect(contents.byteLength).to.equal(0);
    const [graph, order] = [new PoolGraph(), new PoolOrder()];
    finish(order.update(finish(graph.update([entry(3, [], 400)]))));
    const node = graph.find(numbered(3)) ?? expect.fail('a transaction');
    expect(order.chunkOf(node).nodes).to.deep.equal([node]);
    finish(order.update(finish(graph.update([]))));
    expect(() => order.chunkOf(node)).to.throw(RangeError);
  });

  it('puts a chunk before one of another cluster that pays the same only if less weight at that rate precedes it in its cluster', () => {
    // 6 spends from 3, and pays the same. 9 is heavier than each of them, and lighter than both together.
    const entries = [entry(3, [], 400), { ...entry(6, [3], 400) }, { ...entry(9, [], 600), adjustedWeight: 600 }];
    expect(Object.keys(JSON.parse(written(new PoolContents(fields), entries)) as WrittenPool)).to.deep.equal(
      [3, 9, 6].map((n) => toDisplayHex(numbered(n)))
    );
    const better = [entry(3, [], 4_000), ...entries.slice(1)];
    expect(Object.keys(JSON.parse(written(new PoolContents(fields), better)) as WrittenPool)).to.deep.equal(
      [3, 6, 9].map((n) => toDisplayHex(numbered(n)))
    );
  });
});

describe('an entry of the pool', () => {
  it('can be written alone, without its txid', () => {
    const contents = new PoolContents(fields);
    const [parent, child] = [entry(1, [], 5), entry(2, [1], 5)];
    const pool = JSON.parse(written(contents, [parent, child])) as WrittenPool;
    expect(JSON.parse(contents.entryText(child).toString())).to.deep.equal(pool[toDisplayHex(numbered(2))]);
    expect(() => contents.entryText(entry(3, [], 5))).to.throw(RangeError);
  });

  it('shows with -deprecatedrpc=bip125 whether it can be replaced, itself or because of an ancestor', () => {
    const contents = new PoolContents({ ...fields, bip125: true });
    const entries = [entry(7, [], 5), entry(8, [7], 5), entry(9, [8], 5), entry(10, [], 5)];
    const pool = JSON.parse(written(contents, entries)) as WrittenPool;
    expect([7, 8, 9, 10].map((n) => pool[toDisplayHex(numbered(n))]?.['bip125-replaceable'])).to.deep.equal([true, true, true, false]);
    expect(Object.keys(pool[toDisplayHex(numbered(7))] ?? {}).at(-1)).to.equal('bip125-replaceable');
  });
});

describe('the summary of the pool', () => {
  const entries = chainAEntries();
  const sum = (of: (one: PoolEntry) => number): number => entries.reduce((total, one) => total + of(one), 0);
  const info = {
    size: entries.length,
    bytes: sum(({ size }) => size),
    usage: 100_160,
    totalFee: sum(({ fee }) => fee),
    maxUsage: 300_000_000,
    minFeeRate: 1_000,
    minRelayFeeRate: 1_000,
    unbroadcast: entries.length,
    mostDataCarrierBytes: 100_000,
    replaces: false
  };

  it('is the recorded one, byte for byte', () => {
    expect(mempoolInfoJson(info, fields, true).toString()).to.equal(recorded('/rest/mempool/info.json'));
  });

  it('ends with the statement whether transactions are replaced, with -deprecatedrpc=fullrbf', () => {
    const shown = (replaces: boolean): string => mempoolInfoJson({ ...info, replaces }, { ...fields, fullRbf: true }, false).toString();
    expect(shown(false)).to.match(/,"optimal":false,"fullrbf":false\}\n$/);
    expect(shown(true)).to.match(/,"optimal":false,"fullrbf":true\}\n$/);
  });
});
