import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { PoolTexts } from '../../lib/answers/pool/texts';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { unavailable } from '../../lib/server/errors';
import { PROFILES } from '../../lib/views/profile';
import { caught } from '../support/expectations/caught';
import { nodeWith } from '../support/bcoin/changed-node';
import { COINBASE_SATS, FEE_SATS } from '../support/chain/coinbases';
import { ask } from '../support/client/http';
import { mineCoinbases, spend } from '../support/chain/regtest-chain';
import { openRestNode, type RestNode } from '../support/node/rest-node';
import type { HostTransaction } from '../../lib/node/host';

describe('the texts of the pool', () => {
  let served: RestNode;
  let coinbases: HostTransaction[];
  let isOpen: boolean;
  let texts: PoolTexts;
  const gate = {
    requireOpen: () => {
      if (!isOpen) throw unavailable('closing');
    }
  };

  beforeEach(async () => {
    isOpen = true;
    served = await openRestNode({ settings: { 'rest-core': 'modern' } });
    coinbases = await mineCoinbases(served.node, 104);
    texts = new PoolTexts(served.rest.node, PROFILES.modern.fields, gate);
  });
  afterEach(() => served.node.close());

  const spendNext = (): Promise<HostTransaction> => spend(served.node, coinbases.shift() as HostTransaction, COINBASE_SATS); // 104 were mined
  const sequence = async (): Promise<{ txids: string[]; mempool_sequence: number }> =>
    JSON.parse((await texts.text('sequence')).toString()) as { txids: string[]; mempool_sequence: number };

  it('have a sequence that begins with 1 and grows with every change', async () => {
    expect(await sequence()).to.deep.equal({ txids: [], mempool_sequence: 1 });
    const spent = await spendNext();
    const first = await sequence();
    expect(first).to.deep.equal({ txids: [toDisplayHex(spent.hash())], mempool_sequence: 2 });
    await spendNext();
    expect((await sequence()).mempool_sequence).to.be.above(first.mempool_sequence);
  });

  it('have a sequence of the pool once the chain is at rest', async () => {
    const { node } = served.rest;
    let spent: HostTransaction | undefined;
    const moving = nodeWith(node, {
      withChainLock: async (use) => {
        spent = await spendNext();
        return node.withChainLock(use);
      }
    });
    const text = await new PoolTexts(moving, PROFILES.modern.fields, gate).text('sequence');
    expect(JSON.parse(text.toString())).to.deep.equal({ txids: [toDisplayHex((spent as HostTransaction).hash())], mempool_sequence: 2 });
  });

  it('are of one state each, however many forms are asked for at once', async () => {
    await spendNext();
    await spendNext();
    const [entries, ids, again, numbered] = await Promise.all([
      texts.text('entries'),
      texts.text('txids'),
      texts.text('entries'),
      sequence()
    ]);
    const txids = JSON.parse(ids.toString()) as string[];
    expect(Object.keys(JSON.parse(entries.toString()) as object)).to.deep.equal(txids);
    expect(numbered.txids).to.deep.equal(txids);
    expect(again).to.equal(entries);
  });

  it('give each entry alone, as it is now', async () => {
    const spent = await spendNext();
    const child = await spend(served.node, spent, (COINBASE_SATS - FEE_SATS) / 2);
    const pool = (): Promise<Record<string, unknown>> =>
      texts.text('entries').then((text) => JSON.parse(text.toString()) as Record<string, unknown>);
    for (const { hash } of [spent, child].map((one) => ({ hash: one.hash() })))
      expect(JSON.parse(String(await texts.entry(hash)))).to.deep.equal((await pool())[toDisplayHex(hash)]);
    const [host] = served.node.mempool.map.values();
    served.node.mempool.prioritise(host, 0, 1_000);
    const [prioritised, other] = await Promise.all([texts.entry(spent.hash()), texts.entry(child.hash())]);
    expect(String(prioritised)).to.include('"modified":0.00011000');
    expect(String(other)).to.include('"ancestor":0.00021000');
    expect(await texts.entry(Buffer.alloc(32))).to.equal(undefined);
  });

  it('are refused to clients that waited while the gate closed', async () => {
    await spendNext();
    const first = texts.text('entries');
    const second = caught(texts.text('txids'));
    isOpen = false;
    await first;
    expect(await second).to.include({ status: 503 });
  });

  it('are written again after one failed', async () => {
    await spendNext();
    const { pool } = served.rest.node;
    const before = await texts.text('entries');
    const spent = await spendNext();
    const entry = pool.entry(spent.hash()) ?? expect.fail('a transaction');
    Object.defineProperty(entry, 'wtxid', { configurable: true, get: () => expect.fail('broken') });
    expect(await caught(texts.text('entries'))).to.be.instanceOf(Error);
    Reflect.deleteProperty(entry, 'wtxid');
    const after = await texts.text('entries');
    expect(after.length).to.be.above(before.length);
    expect(after.toString()).to.include(toDisplayHex(spent.hash()));
  });

  it('have deprecated fields if the profile brings them back', async () => {
    await spendNext();
    const other = await openRestNode({ settings: { 'rest-core': 'modern', 'rest-deprecated': 'bip125,fullrbf' } });
    const [coinbase] = await mineCoinbases(other.node, 101);
    await spend(other.node, coinbase as HostTransaction, COINBASE_SATS); // 101 were mined
    const replies = await Promise.all(['info', 'contents'].map((name) => ask(other.port, { path: `/rest/mempool/${name}.json` })));
    await other.node.close();
    expect(replies.map(({ body }) => body.toString())).to.satisfy(
      ([info, contents]: string[]) =>
        info?.endsWith(',"fullrbf":false}\n') === true && contents?.endsWith(',"bip125-replaceable":false}}\n') === true
    );
  });
});
