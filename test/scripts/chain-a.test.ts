import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { scanBlock, type ScannedBlock } from '../../lib/bitcoin/block';
import { fromDisplayHex, toDisplayHex } from '../../lib/bitcoin/hash';
import { ByteReader } from '../../lib/bitcoin/reader';
import { readTransaction } from '../../lib/bitcoin/transaction';
import { chainAActiveBlocks, chainAPool, jsonIn } from '../support/chain/chain-a';
import { blockHash } from '../support/chain/made-blocks';
import { testScale } from '../support/process/scale';
import { ScriptIndex } from '../support/index/script-index';
import { ScriptModel, sha256 } from '../support/index/script-model';
import { needsShared } from '../support/recorded/shared';
import type { Position } from '../../lib/index/types';
import type { ScriptSnapshot } from '../../lib/scripts/types';

interface Derived {
  readonly path: string;
  readonly json: unknown;
}
interface Status {
  readonly confirmed: boolean;
  readonly block_height?: number;
}
interface Stats {
  readonly chain_stats: unknown;
}
interface Utxo {
  readonly txid: string;
  readonly vout: number;
  readonly value: number;
  readonly status: Status;
}
interface Outspend {
  readonly spent: boolean;
  readonly txid?: string;
  readonly vin?: number;
  readonly status?: Status;
}

const PAGE = 25;
const EVERYTHING = 1_000_000;

const derivedAnswers = (shared: string): Derived[] => jsonIn(join(shared, 'fixtures/wallet/A-derived.jsonl.gz'));

/** Outpoints that the pool spends. */
function spentByPool(): Set<string> {
  return new Set(
    chainAPool().flatMap((raw) => readTransaction(new ByteReader(raw)).inputs.map(({ txid, index }) => `${toDisplayHex(txid)}:${index}`))
  );
}

function positionOf(snapshot: ScriptSnapshot, txid: string): Position | undefined {
  const place = snapshot.index.position(fromDisplayHex(txid));
  return place && { height: place.block.height, index: place.index };
}

describe('the index by script of chain A', function () {
  this.timeout(300_000);
  const chain = chainAActiveBlocks().map(({ raw }) => raw);
  const scanned: readonly ScannedBlock[] = chain.map((raw) => scanBlock(raw));
  let model: ScriptModel;
  let derived: readonly Derived[] = [];
  const indexes: ScriptIndex[] = [];

  before(async function () {
    derived = derivedAnswers(needsShared(this));
    model = new ScriptModel(chain);
    for (const disk of [false, true]) {
      const index = await ScriptIndex.open(blockHash(chain[0] as Buffer), { disk });
      indexes.push(index);
      await index.connect(model.blocks);
    }
    await (indexes[1] as ScriptIndex).group(600);
  });

  after(() => Promise.all(indexes.map((index) => index.close())));

  /** For each recorded path that matches and either index: calls `check` with the derived answer and the path's parts at `#` and `*`. */
  async function each(
    pattern: RegExp,
    check: (snapshot: ScriptSnapshot, json: unknown, parts: readonly string[]) => Promise<void>,
    every = 1
  ): Promise<void> {
    let count = 0;
    for (const [number, index] of indexes.entries())
      await index.read(async (snapshot) => {
        let checks: Promise<void>[] = [];
        for (const [i, { path, json }] of derived.entries()) {
          const parts = pattern.exec(path)?.slice(1);
          // One of the two indexes is asked for everything, unless that takes long.
          if (parts === undefined || i % (number === 0 ? 10 : every) > 0) continue;
          count++;
          if (checks.push(check(snapshot, json, parts)) < 16) continue;
          await Promise.all(checks);
          checks = [];
        }
        await Promise.all(checks);
      });
    expect(count).to.be.greaterThan(1_000);
  }

  it('has the sums of every script', () =>
    each(/^\/scripthash\/(\w+)$/, async (snapshot, json, [script = '']) => {
      const { transactions, funded, spent } = await snapshot.totals(Buffer.from(script, 'hex'), EVERYTHING);
      expect({
        tx_count: transactions,
        funded_txo_count: funded.count,
        funded_txo_sum: funded.value,
        spent_txo_count: spent.count,
        spent_txo_sum: spent.value
      }).to.deep.equal((json as Stats).chain_stats);
    }));

  it('has every page of every history, wherever it begins', () =>
    each(/^\/scripthash\/(\w+)\/txs\/chain(?:\/(\w+))?#txids$/, async (snapshot, json, [script = '', last]) => {
      const beyond = last === undefined ? undefined : positionOf(snapshot, last);
      const rows = await snapshot.history(Buffer.from(script, 'hex'), { beyond, limit: PAGE });
      expect(rows.map(({ txid }) => toDisplayHex(txid))).to.deep.equal(json);
    }));

  it('has the coins of every script; outputs that nobody can spend are not coins', async () => {
    const spent = spentByPool();
    let unspendable = 0;
    await each(/^\/scripthash\/(\w+)\/utxo#sorted$/, async (snapshot, json, [script = '']) => {
      const { coins } = await snapshot.coins(Buffer.from(script, 'hex'), EVERYTHING);
      const found = [...coins]
        .filter(({ txid, index }) => !spent.has(`${toDisplayHex(txid)}:${index}`))
        .map(({ txid, index, value, height }) => `${toDisplayHex(txid)}:${index} ${value} ${height}`);
      const expected = (json as Utxo[]).filter(({ status }) => status.confirmed);
      const missing = expected.filter(
        ({ txid, vout, value, status }) => !found.includes(`${txid}:${vout} ${value} ${status.block_height ?? 0}`)
      );
      for (const { txid, vout } of missing) {
        const { height = 0, index = 0 } = positionOf(snapshot, txid) ?? {};
        expect(scanned[height]?.transactions[index]?.outputs[vout]?.scriptLength).to.be.greaterThan(10_000);
        unspendable++;
      }
      expect(found.length).to.equal(expected.length - missing.length);
    });
    expect(unspendable).to.be.within(1, 2);
  });

  it('finds the spender of every output, and reads hardly any other transaction', async () => {
    let [read, spent] = [0, 0];
    const inputs = new Map<string, ReadonlyMap<string, number>>();
    /** The input of a transaction that spends an output, by outpoint. */
    const inputsAt = ({ height, index }: Position): ReadonlyMap<string, number> => {
      const name = `${height}/${index}`;
      const known =
        inputs.get(name) ??
        new Map(scanned[height]?.transactions[index]?.inputs.map((input, vin) => [`${toDisplayHex(input.txid)}:${input.index}`, vin]));
      inputs.set(name, known);
      return known;
    };
    await each(
      /^\/tx\/(\w+)\/outspends$/,
      async (snapshot, json, [txid = '']) => {
        const position = positionOf(snapshot, txid);
        const scripts = position && scanned[position.height]?.transactions[position.index]?.outputs.map(({ script }) => sha256(script));
        for (const [output, { txid: spender, vin, status }] of (json as Outspend[]).entries()) {
          const expected = status?.confirmed === true ? `${String(spender)} ${String(vin)} ${String(status.block_height)}` : 'none';
          let found = 'none';
          if (position !== undefined && scripts !== undefined)
            for await (const spending of snapshot.spenders(scripts[output] as Buffer, {
              txid: fromDisplayHex(txid),
              position,
              indexes: [output]
            })) {
              read++;
              const input = inputsAt(spending).get(`${txid}:${output}`);
              if (input === undefined) continue;
              found = `${toDisplayHex(snapshot.txidAt(spending) as Buffer)} ${input} ${spending.height}`;
              break;
            }
          expect(found, `${txid}:${output}`).to.equal(expected);
          if (found !== 'none') spent++;
        }
      },
      testScale() > 1 ? 1 : 4
    );
    expect(spent).to.be.greaterThan(1_000);
    expect(read - spent).to.be.lessThan(100);
  });

  it('has the txids of every block', async () => {
    for (const index of indexes)
      await index.read(async (snapshot) => {
        for (const [height, { transactions }] of scanned.entries())
          expect(await snapshot.txids(height)).to.deep.equal(transactions.map(({ txid }) => txid));
      });
  });
});
