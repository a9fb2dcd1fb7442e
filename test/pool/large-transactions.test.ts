import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import { keyOf, scriptHashOf } from '../../lib/bitcoin/hash';
import { scanWholeTransaction } from '../../lib/bitcoin/transaction';
import { Coinbases } from '../support/chain/coinbases';
import { ask } from '../support/client/http';
import { mine, mineOnly } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { ONE_SCRIPT, ownScripts, WIDE, WideTransactions } from '../support/chain/wide-transactions';
import type { HostTransaction } from '../../lib/node/host';

/** Enough coinbases for each transaction. */
const BLOCKS = 130;

/** As Esplora's `mempool_stats`. */
interface PoolTotals {
  tx_count: number;
  funded_txo_count: number;
  funded_txo_sum: number;
  spent_txo_count: number;
  spent_txo_sum: number;
}

const NOTHING: PoolTotals = { funded_txo_count: 0, funded_txo_sum: 0, spent_txo_count: 0, spent_txo_sum: 0, tx_count: 0 };

describe('answers by script count a transaction of nearly 100,000 bytes', function () {
  this.timeout(120_000);
  let served: RestNode;
  let wide: WideTransactions;
  /** All that were sent, and those of them that are in the pool. */
  const [sent, pool]: [Buffer[], Set<Buffer>] = [[], new Set()];

  before(async () => {
    served = await openRestNode({ settings: { 'rest-addresses': true, 'rest-core': 'modern' } });
    wide = new WideTransactions(await Coinbases.mine(served.node, BLOCKS), pooled);
    await untilReady(served);
  });
  after(() => served.node.close());

  afterEach(confirmed);

  async function pooled(transaction: HostTransaction): Promise<HostTransaction> {
    const { mempool } = served.node;
    const { size } = mempool.map;
    await mempool.addTX(transaction);
    expect(mempool.map.size).to.equal(size + 1);
    const raw = transaction.toRaw();
    sent.push(raw);
    pool.add(raw);
    return transaction;
  }

  async function confirmed(): Promise<void> {
    while (served.node.mempool.map.size > 0) await mine(served.node, 1);
    pool.clear();
  }

  async function expectTotals(scripts: readonly Buffer[]): Promise<void> {
    const expected = totalsByScript(sent, pool);
    for (const script of scripts) {
      const { body } = await ask(served.port, { path: `/api/scripthash/${scriptHashOf(script).toString('hex')}` });
      const { mempool_stats } = JSON.parse(body.toString()) as { mempool_stats: PoolTotals };
      expect(mempool_stats, script.toString('hex')).to.deep.equal(expected.get(keyOf(script)) ?? { ...NOTHING });
    }
  }

  const touched = [ONE_SCRIPT, ...ownScripts(3), ...ownScripts(3, WIDE - 1)];

  for (const name of WideTransactions.names)
    it(`${name}, until it is confirmed`, async () => {
      await pooled(await wide.made(name));
      await expectTotals(touched);
      await confirmed();
      await expectTotals(touched);
    });

  it('until it leaves, and still the thousands of others that spend its outputs', async () => {
    const parent = await wide.withChildren();
    const scripts = [...touched, ...ownScripts(2, WIDE), ...ownScripts(2, 3 * WIDE - 2)];
    await expectTotals(scripts);
    await mineOnly(served.node, [parent]);
    for (const raw of pool) if (raw.equals(parent.toRaw())) pool.delete(raw);
    expect(pool.size).to.equal(WIDE);
    await expectTotals(scripts);
  });
});

/** By key of the script. `sent`: also those that are spent from. */
function totalsByScript(sent: readonly Buffer[], pool: ReadonlySet<Buffer>): Map<string, PoolTotals> {
  const byTxid = new Map(sent.map((raw) => scanWholeTransaction(raw)).map((scanned) => [keyOf(scanned.txid), scanned.outputs]));
  const totals = new Map<string, PoolTotals>();
  const of = (key: string): PoolTotals => {
    const found = totals.get(key) ?? { ...NOTHING };
    totals.set(key, found);
    return found;
  };
  for (const raw of pool) {
    const { inputs, outputs } = scanWholeTransaction(raw);
    const spent = inputs.flatMap(({ txid, index }) => byTxid.get(keyOf(txid))?.[index] ?? []);
    for (const { script, value } of outputs) {
      const touched = of(keyOf(script));
      touched.funded_txo_count++;
      touched.funded_txo_sum += value;
    }
    for (const { script, value } of spent) {
      const touched = of(keyOf(script));
      touched.spent_txo_count++;
      touched.spent_txo_sum += value;
    }
    for (const key of new Set([...outputs, ...spent].map(({ script }) => keyOf(script)))) of(key).tx_count++;
  }
  return totals;
}
