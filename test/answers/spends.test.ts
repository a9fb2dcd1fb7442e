import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { Spends, type SpendLimits } from '../../lib/answers/transactions/spends';
import { Transactions } from '../../lib/answers/transactions/transactions';
import { merkleRootOf } from '../../lib/bitcoin/header';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { HistoryTooLongError } from '../../lib/scripts/errors';
import { AnswerCache } from '../../lib/server/cache/answer-cache';
import { ClientGoneError } from '../../lib/turns/client';
import { bcoin, type HostKeyRing } from '../support/bcoin/bcoin';
import { caught } from '../support/expectations/caught';
import { regtestGenesis } from '../support/chain/chain-a';
import { COINBASE_SATS, FEE_SATS } from '../support/chain/coinbases';
import { ServedNode } from '../support/node/served-node';
import { entryOf, mine } from '../support/bcoin/regtest-node';
import { signed } from '../support/chain/signed';
import type { HostTransaction } from '../../lib/node/host';
import type { ScriptSnapshot } from '../../lib/scripts/types';
import type { EsploraSpend } from '../../lib/views/esplora/coins';

/** Transactions that pay to the script between an output of it and its spend. */
const BETWEEN = 60;

const here = { isGone: false };

describe('spends of outputs of a busy script', () => {
  const ring: HostKeyRing = bcoin.KeyRing.generate();
  let served: ServedNode;
  let coinbase: HostTransaction;
  /** Has four outputs: three to the busy script, and one that nothing spends. */
  let funding: HostTransaction;
  let first: HostTransaction;
  let second: HostTransaction;
  /** How many walks through histories have begun. */
  let walks = 0;

  const quarter = COINBASE_SATS / 4 - FEE_SATS;

  const txidOf = (transaction: HostTransaction): string => toDisplayHex(transaction.hash());

  const spending = (from: HostTransaction, indexes: readonly number[], values: readonly number[]): HostTransaction =>
    signed(
      ring,
      indexes.map((index) => [from, index]),
      values.map((value) => [ring.getAddress(), value])
    );

  /** The body of the reply, and how many walks it took. */
  async function asked(path: string): Promise<{ text: string; walked: number }> {
    const start = walks;
    const { status, body } = await served.get(path);
    expect(status).to.equal(200);
    return { text: body.toString(), walked: walks - start };
  }

  async function statusAt(height: number): Promise<string> {
    const entry = await served.source.activeHash(height);
    const time = served.node.chain.tip.height === height ? served.node.chain.tip.time : undefined;
    return `{"confirmed":true,"block_height":${height},"block_hash":"${toDisplayHex(entry as Buffer)}","block_time":${time}}`;
  }

  before(async () => {
    served = await ServedNode.open();
    const { node } = served;
    const { reader } = served.scripts;
    const read = reader.read.bind(reader);
    reader.read = (use) =>
      read((snapshot) =>
        use(
          new Proxy(snapshot, {
            get: (target, name) => {
              if (name === 'spenders') walks++;
              const member: unknown = Reflect.get(target, name, target);
              return typeof member === 'function' ? (member as (...values: unknown[]) => unknown).bind(target) : member;
            }
          })
        )
      );
    const [block] = await mine(node, 101, undefined, ring.getAddress());
    coinbase = block?.txs[0] as HostTransaction;
    funding = spending(coinbase, [0], [quarter, quarter, quarter, quarter]);
    await node.mempool.addTX(funding);
    await mine(node, 1 + BETWEEN, undefined, ring.getAddress());
    first = spending(funding, [2, 0], [2 * quarter - FEE_SATS]);
    second = spending(funding, [1], [quarter - FEE_SATS]);
    for (const transaction of [first, second]) await node.mempool.addTX(transaction);
    await mine(node, 1, undefined, ring.getAddress());
    await served.settle();
  });
  after(() => served.node.close());

  it('are found in one walk for all clients that ask at a time', async () => {
    const { ask } = within({ mostRows: 1_000, mostReads: 9 });
    const start = walks;
    const found = await Promise.all(Array.from({ length: 4 }, ask));
    expect(found.map((spend) => (spend as EsploraSpend).txid)).to.deep.equal(Array.from({ length: 4 }, () => second.hash()));
    expect(walks - start).to.equal(1);
  });

  it('are found without a walk once they were asked for twice', async () => {
    const path = `/tx/${txidOf(funding)}/outspend/1`;
    const status = await statusAt(served.node.chain.height);
    const text = `{"spent":true,"txid":"${txidOf(second)}","vin":0,"status":${status}}`;
    expect((await asked(path)).text).to.equal(text);
    // Another tip, so that no reply comes from memory.
    await mine(served.node, 1);
    await served.settle();
    await asked(path);
    await mine(served.node, 1);
    await served.settle();
    expect(await asked(path)).to.deep.equal({ text, walked: 0 });
  });

  it('are found in one walk for all outputs of a transaction', async () => {
    const { spends } = within({ mostRows: 1_000, mostReads: 9 });
    const start = walks;
    const found = (await spends.ofAll(funding.hash(), here))?.spends;
    expect(found?.map((spend) => spend?.txid)).to.deep.equal([first.hash(), second.hash(), first.hash(), undefined]);
    expect(walks - start).to.equal(1);
  });

  it('are in the replies about all outputs of a transaction, and of many', async () => {
    const path = `/tx/${txidOf(funding)}/outspends`;
    const spends = JSON.parse((await asked(path)).text) as { spent: boolean; txid?: string; vin?: number }[];
    const expected = [
      { spent: true, txid: txidOf(first), vin: spends[0]?.vin },
      { spent: true, txid: txidOf(second), vin: 0 },
      { spent: true, txid: txidOf(first), vin: 1 - (spends[0]?.vin ?? 0) },
      { spent: false, txid: undefined, vin: undefined }
    ];
    expect(spends.map(({ spent, txid, vin }) => ({ spent, txid, vin }))).to.deep.equal(expected);
    expect((await asked(path)).walked).to.be.at.most(1);
    const many = `/txs/outspends?txids=${txidOf(funding)},${txidOf(first)}`;
    expect(await asked(many)).to.deep.equal({ text: `[${JSON.stringify(spends)},[{"spent":false}]]`, walked: 0 });
  });

  it('are those of the pool for outputs that no block spends', async () => {
    const pooled = spending(funding, [3], [quarter - FEE_SATS]);
    await served.node.mempool.addTX(pooled);
    const spends = JSON.parse((await asked(`/tx/${txidOf(funding)}/outspends`)).text) as unknown[];
    expect(spends).to.have.length(4);
    expect(spends[3]).to.deep.equal({ spent: true, txid: txidOf(pooled), vin: 0, status: { confirmed: false } });
  });

  /** Finds spends within limits, with a cache of its own. */
  function within(limits: SpendLimits, isGone = false): { spends: Spends; ask: () => Promise<unknown> } {
    const { answers } = served;
    const { scripts } = answers;
    const own = { ...answers, cache: new AnswerCache(1 << 20) };
    const spends = new Spends({ ...own, transactions: new Transactions(own) }, limits);
    const ask = (): Promise<unknown> =>
      scripts.read((snapshot: ScriptSnapshot) =>
        spends.of(funding.hash(), 1, snapshot, { isGone }).then(
          ({ spend }) => spend,
          (error: unknown) => error
        )
      );
    return { spends, ask };
  }

  it('are none for the genesis block, whose output is no coin', async () => {
    // It has one transaction, whose txid is its Merkle root.
    const txid = toDisplayHex(merkleRootOf(regtestGenesis));
    expect((await asked(`/tx/${txid}/outspends`)).text).to.equal('[{"spent":false}]');
    expect((await asked(`/tx/${txid}/outspend/0`)).text).to.equal('{"spent":false}');
  });

  it('that are too far away are refused, and not searched for again', async () => {
    const { spends, ask } = within({ mostRows: BETWEEN, mostReads: 9 });
    expect(await ask()).to.be.instanceOf(HistoryTooLongError);
    const start = walks;
    expect(await ask()).to.be.instanceOf(HistoryTooLongError);
    expect(await caught(spends.ofAll(funding.hash(), here))).to.be.instanceOf(HistoryTooLongError);
    expect(walks - start).to.equal(0);
    const { ask: askEnough } = within({ mostRows: BETWEEN + 3, mostReads: 9 });
    expect(await askEnough()).to.have.property('input', 0);
  });

  it('are counted for all transactions of a request together', async () => {
    const limits = { mostRows: 1_000, mostReads: 2 };
    for (const txid of [funding.hash(), coinbase.hash()]) expect((await within(limits).spends.ofAll(txid, here))?.spends).to.be.an('array');
    expect(await caught(within(limits).spends.ofMany([funding.hash(), coinbase.hash()], here))).to.be.instanceOf(HistoryTooLongError);
    const enough = { ...limits, mostReads: 3 };
    expect(await within(enough).spends.ofMany([funding.hash(), undefined, coinbase.hash()], here)).to.have.length(3);
  });

  it('are no longer searched for once the client has gone', async () => {
    const { ask } = within({ mostRows: 1_000, mostReads: 9 }, true);
    expect(await ask()).to.be.instanceOf(ClientGoneError);
  });

  it('are looked for again if they are of a coinbase whose scripts have changed: another one may have its txid', async () => {
    const { node, answers } = served;
    const moved = signed(ring, [[first, 0]], [[bcoin.KeyRing.generate().getAddress(), 2 * quarter - 2 * FEE_SATS]]);
    await node.mempool.addTX(moved);
    await mine(node, 1);
    await served.settle();
    // All outputs of both are spent.
    const bases = await Promise.all(
      [coinbase, first].map(async (transaction) => (await answers.spends.ofAll(transaction.hash(), here))?.basis)
    );
    const areSame = (): unknown => bases.map((basis) => basis?.isSame());
    expect(areSame()).to.deep.equal([true, true]);
    await mine(node, 1, undefined, ring.getAddress());
    await served.settle();
    expect(areSame()).to.deep.equal([false, true]);
  });

  it('are other ones after a reorganization', async () => {
    const { node } = served;
    const path = `/tx/${txidOf(funding)}/outspend/1`;
    const ofAll = [funding, first].map((transaction) => `/tx/${txidOf(transaction)}/outspends`);
    for (let time = 0; time < 2; time++) for (const one of ofAll) expect((await asked(one)).text).to.contain('"confirmed":true');
    const height = 101 + BETWEEN + 1;
    const top = node.chain.tip.height;
    const fork = await node.chain.getEntryByHeight(height);
    let [side] = await mine(node, 1, fork ?? undefined);
    while (node.chain.tip.height <= top) [side] = await mine(node, 1, side && (await entryOf(node, side)));
    await served.settle();
    expect((await asked(path)).text).to.not.contain('"confirmed":true');
    for (const one of ofAll) expect((await served.get(one)).body.toString()).to.not.contain('"confirmed":true');
    await node.mempool.addTX(second).catch(() => undefined);
    await mine(node, 1);
    await served.settle();
    const status = await statusAt(node.chain.height);
    expect((await asked(path)).text).to.equal(`{"spent":true,"txid":"${txidOf(second)}","vin":0,"status":${status}}`);
  });
});
