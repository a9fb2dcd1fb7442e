import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { fromDisplayHex, toDisplayHex } from '../../lib/bitcoin/hash';
import * as plugin from '../../plugin';
import { ask } from '../support/client/http';
import { PoolWalk, SCRIPTS, scriptHash } from '../support/pool/walk';
import { testScale } from '../support/process/scale';
import type { AddressInfo } from 'node:net';
import type { HostTransaction } from '../../lib/node/host';

interface Shown {
  readonly txid: string;
  readonly status: { readonly confirmed: boolean };
}
interface Stats {
  readonly tx_count: number;
  readonly funded_txo_count: number;
  readonly funded_txo_sum: number;
  readonly spent_txo_count: number;
  readonly spent_txo_sum: number;
}
interface Told {
  readonly chain_stats: Stats;
  readonly mempool_stats: Stats;
}

/** The walk has coins of each script for this many rounds. */
const ROUNDS = 3;
/** The number of the script to which all payments go; the walk's own coins have other scripts. */
const KIND = 3;

describe('the pool and the index by script, under constant requests over HTTP', function () {
  this.timeout(300_000);
  const script = `/api/scripthash/${scriptHash((SCRIPTS[KIND] as (typeof SCRIPTS)[number]).script).toString('hex')}`; // there are more
  let walk: PoolWalk;
  let port: number;
  let asked: number;

  beforeEach(async () => {
    asked = 0;
    walk = await PoolWalk.start({ plugins: [plugin], settings: { 'rest-addresses': true, 'rest-warmup': 'indexed' } });
    const rest = (walk.host as unknown as { get(name: string): plugin.RestPlugin }).get(plugin.id);
    ({ port } = rest.http.server.address() as AddressInfo);
    while ((await ask(port, { path: script })).status !== 200) await setImmediate();
  });
  afterEach(() => walk.close());

  async function told<T>(path = ''): Promise<T> {
    const { status, body } = await ask(port, { path: script + path });
    expect(`${status} ${status === 200 ? '' : body.toString()}`).to.equal('200 ');
    asked++;
    return JSON.parse(body.toString()) as T;
  }

  /** The script's history and coins, whether its transactions are in pool or chain. */
  async function expectAlways(txids: readonly string[], sats: number): Promise<void> {
    const { chain_stats: chain, mempool_stats: pool } = await told<Told>();
    expect(chain.tx_count + pool.tx_count).to.equal(txids.length);
    expect(chain.funded_txo_sum + pool.funded_txo_sum - chain.spent_txo_sum - pool.spent_txo_sum).to.equal(sats);
    const utxos = await told<{ readonly value: number }[]>('/utxo');
    expect(utxos.reduce((sum, { value }) => sum + value, 0)).to.equal(sats);
    const shown = await told<Shown[]>('/txs');
    expect(shown.map(({ txid }) => txid)).to.have.members(txids);
    // Transactions of the pool come first.
    const confirmed = shown.map(({ status }) => status.confirmed);
    expect(confirmed).to.deep.equal([...confirmed].sort((a, b) => Number(a) - Number(b)));
  }

  for (let number = 1; number <= testScale(); number++)
    it(`have each transaction once, and all coins, at every moment of their way into the chain: walk ${number}`, async () => {
      const [funding] = await told<Shown[]>('/txs');
      const txids = [funding?.txid ?? expect.fail('a transaction that paid')];
      const sats = async (): Promise<number> => {
        const coins = (await walk.spendable()).map((outpoint) => walk.coin(outpoint));
        return coins
          .filter((coin) => coin.script.equals(SCRIPTS[KIND]?.script ?? Buffer.alloc(0)))
          .reduce((sum, { value }) => sum + value, 0);
      };
      for (let round = 0; round < ROUNDS; round++) {
        const [coin, ...others] = (await walk.spendable()).filter(({ txid }) => txid.equals(fromDisplayHex(txids[0] as string)));
        const ours = others.find((outpoint) => walk.coin(outpoint).script.equals(SCRIPTS[KIND]?.script ?? Buffer.alloc(0)));
        const first = await walk.send([coin ?? expect.fail('a coin')], [KIND, KIND, 0], 20_000);
        const second = await walk.send([{ txid: first ?? expect.fail('it was sent'), index: 1 }], [KIND, 0], 20_000);
        const third = ours && (await walk.send([ours], [KIND, KIND], 20_000));
        txids.push(...[first, second, third].flatMap((txid) => (txid === undefined ? [] : [toDisplayHex(txid)])));
        const expected = await sats();
        const over = new AbortController();
        const asking = (async () => {
          while (!over.signal.aborted) await expectAlways(txids, expected);
        })();
        try {
          const pooled = Array.from(walk.host.mempool.map.values(), ({ tx }): HostTransaction => tx);
          // Into an empty pool bcoin puts nothing back.
          const staying = others.find((outpoint) => walk.coin(outpoint).script.equals(SCRIPTS[1]?.script ?? Buffer.alloc(0)));
          await walk.send([staying ?? expect.fail('a coin')], [1], 20_000);
          await walk.mineOnly(pooled);
          await walk.mineOnly([]);
          await walk.goBack('fork', 2);
          expect(walk.host.mempool.map.size).to.equal(pooled.length + 1);
          await walk.mineOnly(pooled);
          await walk.goBack('fork', 1);
          expect(walk.host.mempool.map.size).to.equal(pooled.length + 1);
          await expectAlways(txids, expected);
        } finally {
          over.abort();
          await asking;
        }
      }
      expect(asked).to.be.greaterThan(10 * ROUNDS);
    });
});
