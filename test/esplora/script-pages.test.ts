import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { writeBase58Check } from '../../lib/bitcoin/base58';
import { scanWholeTransaction } from '../../lib/bitcoin/transaction';
import { TextWriter } from '../../lib/bitcoin/text-writer';
import { fromDisplayHex, toDisplayHex } from '../../lib/bitcoin/hash';
import { PAGE_TXIDS } from '../../lib/scripts/txids/transaction-numbers';
import { MemoryStore } from '../../lib/store/memory-store';
import { bcoin } from '../support/bcoin/bcoin';
import { needsNode, NO_FEED_WHILE_SHORTER } from '../support/fleet/fleet';
import { holdReads } from '../support/index/held-reads';
import { countConnections, openSocket, requestBytes, type RawRequest } from '../support/client/http';
import { ServedNode } from '../support/node/served-node';
import { signed } from '../support/chain/signed';
import { PayingWallet } from '../support/chain/paying-wallet';
import { entryOf, mine, mineOnly } from '../support/bcoin/regtest-node';
import { until } from '../support/expectations/until';
import type { HostTransaction } from '../../lib/node/host';

/** As many coins as the wallet has at first. */
const MAX_UNSPENT = 102;

const PAGE = 25;

/** The value of two coins of the wallet after they were moved once, less the fees. */
const JOINED = 4_999_940_000;

interface ShownTransaction {
  readonly txid: string;
  readonly status: { readonly confirmed: boolean };
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const base58 = (version: number, keyHash: Buffer): string => {
  const writer = new TextWriter();
  writeBase58Check(writer, version, keyHash);
  return writer.toString();
};

const idOf = (transaction: HostTransaction): string => toDisplayHex(scanWholeTransaction(transaction.toRaw()).txid);

describe('a script over Esplora’s interface', () => {
  let served: ServedNode;
  let wallet: PayingWallet;
  let script: string;
  /** The txids of the script, the newest first. */
  let history: string[];
  let joined: HostTransaction;

  before(async () => {
    served = await ServedNode.open({ settings: { 'rest-max-unspent': MAX_UNSPENT } });
    wallet = await PayingWallet.on(served.node);
    await served.settle();
    script = `/scripthash/${sha256(Buffer.concat([Buffer.from('76a914', 'hex'), wallet.ring.getKeyHash(), Buffer.from('88ac', 'hex')]))}`;
    history = await txids('/txs/chain?max_txs=100');
    history.push(...(await txids(`/txs/chain/${history.at(-1) ?? ''}`)));
  });
  after(() => served.node.close());

  const text = async (path: string, request?: Partial<RawRequest>): Promise<string> => {
    const { status, body } = await served.get(path, request);
    return `${status} ${body.toString()}`;
  };
  const ofScript = (path = ''): Promise<string> => text(`${script}${path}`);
  const shown = async (path: string): Promise<ShownTransaction[]> => JSON.parse((await ofScript(path)).slice(4)) as ShownTransaction[];
  const txids = async (path: string): Promise<string[]> => (await shown(path)).map(({ txid }) => txid);
  const ofScripts = (hashes: readonly string[], query = ''): Promise<string> =>
    text(`/scripthashes/txs${query}`, { method: 'POST', body: Buffer.from(JSON.stringify(hashes)) });
  /** The transactions of the script and another one. */
  const txidsWith = async (hash: string, query = ''): Promise<string[]> =>
    (JSON.parse((await ofScripts([script.slice('/scripthash/'.length), hash], query)).slice(4)) as ShownTransaction[]).map(
      ({ txid }) => txid
    );
  const coins = async (): Promise<number> => (await shown('/utxo')).length;
  it('can be named by its address as well, with the prefixes of the node or of Bitcoin Core', async () => {
    const keyHash = wallet.ring.getKeyHash();
    const stats = (await ofScript()).replace(/^200 \{(.*),"scripthash":"\w+"\}$/, '$1');
    for (const version of [served.source.network.addressPrefixes.pubkeyhash, 0x6f]) {
      const address = base58(version, keyHash);
      expect(await text(`/address/${address}`)).to.equal(`200 {"address":"${address}",${stats}}`);
      expect(await text(`/address/${address}/txs/chain`)).to.equal(await ofScript('/txs/chain'));
      expect(await text(`/address/${address}/utxo`)).to.equal(await ofScript('/utxo'));
    }
    const upper = script.slice('/scripthash/'.length).toUpperCase();
    expect(await text(`/scripthash/${upper}`)).to.equal(`200 {${stats},"scripthash":"${upper}"}`);
  });

  it('is refused if the text is not an address, or one of another network, or not a hash', async () => {
    for (const path of ['', '/txs', '/txs/chain', '/txs/mempool', '/utxo']) {
      expect(await text(`/address/zz${path}`)).to.equal('400 Invalid Bitcoin address');
      expect(await text(`/address/${base58(0, wallet.ring.getKeyHash())}${path}`)).to.equal('400 Address on invalid network');
      expect(await text(`/scripthash/${'0'.repeat(63)}${path}`)).to.equal('400 Invalid scripthash');
    }
    expect(await text(`/scripthash/${'0'.repeat(63)}g`)).to.equal('400 Invalid scripthash');
    expect(await text('/address-prefix/bc1q')).to.equal('400 address search disabled');
  });

  it('has empty answers if it was never used', async () => {
    const unused = `/scripthash/${'00'.repeat(32)}`;
    const none = '{"funded_txo_count":0,"funded_txo_sum":0,"spent_txo_count":0,"spent_txo_sum":0,"tx_count":0}';
    expect(await text(unused)).to.equal(`200 {"chain_stats":${none},"mempool_stats":${none},"scripthash":"${'00'.repeat(32)}"}`);
    for (const path of ['/txs', '/txs/chain', '/txs/mempool', '/utxo']) expect(await text(`${unused}${path}`)).to.equal('200 []');
  });

  it('shows its history page by page, after the last transaction of the previous page', async () => {
    expect(history).to.have.length(102);
    expect(new Set(history)).to.have.property('size', 102);
    expect(await txids('/txs')).to.deep.equal(history.slice(0, PAGE));
    for (let at = 0; at < history.length; at += PAGE) {
      const page = await txids(`/txs/chain${at === 0 ? '' : `/${history[at - 1] ?? ''}`}`);
      expect(page).to.deep.equal(history.slice(at, at + PAGE));
    }
    expect(await ofScript(`/txs/chain/${history.at(-1) ?? ''}`)).to.equal('200 []');
  });

  it('has nothing after a cursor that is not in its history, and starts again after a malformed cursor', async () => {
    const [foreign] = await mine(served.node, 1);
    await served.settle();
    const foreignCoinbase = idOf(foreign?.txs[0] as HostTransaction);
    for (const cursor of [foreignCoinbase, 'ff'.repeat(32)]) expect(await ofScript(`/txs/chain/${cursor}`)).to.equal('200 []');
    for (const cursor of ['', 'zz', 'ff'.repeat(31)]) expect(await ofScript(`/txs/chain/${cursor}`)).to.equal(await ofScript('/txs/chain'));
    expect(await txids(`/txs/chain/${history[3]?.toUpperCase() ?? ''}`)).to.deep.equal(history.slice(4, 4 + PAGE));
    expect(await ofScript(`/txs?after_txid=${foreignCoinbase}`)).to.equal('200 []');
    expect(await ofScript(`/txs?after_txid=${'ff'.repeat(32)}`)).to.equal('422 after_txid not found');
    expect(await ofScript('/txs?after_txid=zz')).to.equal(await ofScript('/txs'));
  });

  it('gives as many transactions as are asked for, at most a hundred', async () => {
    for (const path of ['/txs', '/txs/chain']) {
      expect(await txids(`${path}?max_txs=3`)).to.deep.equal(history.slice(0, 3));
      expect(await txids(`${path}?max_txs=0`)).to.deep.equal([]);
      expect(await txids(`${path}?max_txs=1000`)).to.deep.equal(history.slice(0, 100));
      expect(await txids(`${path}?max_txs=x`)).to.deep.equal(history.slice(0, PAGE));
    }
    expect(await txids(`/txs/chain/${history[9] ?? ''}?max_txs=2`)).to.deep.equal(history.slice(10, 12));
    expect(await txids(`/txs?max_txs=2&after_txid=${history[9] ?? ''}`)).to.deep.equal(history.slice(10, 12));
  });

  it('shows the pool before the chain, and continues after a transaction of either', async () => {
    const [first, second] = [wallet.moves(0), wallet.moves(1)];
    for (const transaction of [first, second]) await served.node.mempool.addTX(transaction);
    const pooled = [idOf(first), idOf(second)];
    expect(await txids('/txs/mempool')).to.deep.equal(pooled);
    expect(await txids('/txs/mempool?max_txs=1')).to.deep.equal(pooled.slice(0, 1));
    expect(await txids('/txs')).to.deep.equal([...pooled, ...history.slice(0, PAGE)]);
    expect(await txids('/txs?max_txs=1')).to.deep.equal(pooled.slice(0, 1));
    expect(await txids('/txs?max_txs=3')).to.deep.equal([...pooled, ...history.slice(0, 1)]);
    expect(await txids(`/txs?max_txs=3&after_txid=${pooled[0] ?? ''}`)).to.deep.equal([...pooled.slice(1), ...history.slice(0, 2)]);
    expect(await txids(`/txs?after_txid=${pooled[1] ?? ''}`)).to.deep.equal(history.slice(0, PAGE));
    expect(await txids(`/txs?after_txid=${history[0] ?? ''}`)).to.deep.equal(history.slice(1, 1 + PAGE));
    expect(await ofScript(`/txs/chain/${pooled[0] ?? ''}`)).to.equal('200 []');
    expect((await shown('/txs')).map(({ status }) => status.confirmed)).to.deep.equal([false, false, ...Array<boolean>(PAGE).fill(true)]);
  });

  it('is shown with others in one list, of fifty transactions or as many as are asked for, at most a hundred', async () => {
    const coinbaseAt = async (height: number): Promise<string> => {
      const block = (await text(`/block-height/${height}`)).slice(4);
      return (await text(`/block/${block}/txid/0`)).slice(4);
    };
    const [before, last] = [await coinbaseAt(102), await coinbaseAt(103)];
    const [, scriptPubKey = ''] = /"scriptpubkey":"(\w+)"/.exec(await text(`/tx/${last}`)) ?? [];
    const other = sha256(Buffer.from(scriptPubKey, 'hex'));
    const list = (query: string): Promise<string[]> => txidsWith(other, query);
    const [newest = '', ...older] = history;
    const all = [...(await txids('/txs/mempool')), last, newest, before, ...older];
    expect(await list('')).to.deep.equal(all.slice(0, 50));
    expect(await list('?max_txs=x')).to.deep.equal(all.slice(0, 50));
    for (const most of [0, 1, 3, 4, 100]) expect(await list(`?max_txs=${most}`)).to.deep.equal(all.slice(0, most));
    expect(await list('?max_txs=1000')).to.deep.equal(all.slice(0, 100));
    for (let at = 1; at < 6; at++) expect(await list(`?max_txs=2&after_txid=${all[at - 1] ?? ''}`)).to.deep.equal(all.slice(at, at + 2));
    // The transaction of the pool has to do with the other script alone.
    expect(await ofScripts([other], `?after_txid=${all[0] ?? ''}`)).to.equal('200 []');
    const hashes = Array.from({ length: 101 }, (_, i) => sha256(Buffer.of(i)));
    expect(await ofScripts([other], `?after_txid=${'ff'.repeat(32)}`)).to.equal('422 after_txid not found');
    expect(await ofScripts(hashes.slice(1))).to.equal('200 []');
    expect(await ofScripts(hashes)).to.equal('400 Exceeded maximum of 100 addresses or script hashes');
  });

  it('refuses to show more than the allowed number of coins of chain and pool together', async () => {
    expect(await coins()).to.equal(MAX_UNSPENT);
    await mine(served.node, 1, undefined, wallet.ring.getAddress());
    await served.settle();
    expect(await ofScript('/utxo')).to.equal('400 Too many unspent outputs');
    // Two coins of the chain become one.
    joined = signed(wallet.ring, [wallet.moves(0), wallet.moves(1)], [[wallet.ring.getAddress(), JOINED]]);
    await served.node.mempool.addTX(joined);
    expect(await coins()).to.equal(MAX_UNSPENT);
    expect(
      (await ofScript('/utxo')).endsWith(`,{"txid":"${idOf(joined)}","vout":0,"status":{"confirmed":false},"value":${JOINED}}]`)
    ).to.equal(true);
  });

  it('shows a transaction once while a block confirms it, and while a block is disconnected', async function () {
    needsNode(this, NO_FEED_WHILE_SHORTER);
    const { mempool, chain } = served.node;
    const poolCount = async (): Promise<string | undefined> => /"mempool_stats":\{[^}]*"tx_count":(\d+)/.exec(await ofScript())?.[1];
    const id = idOf(joined);
    const seen: unknown[] = [];
    const look = async (): Promise<void> => {
      const isPooled = served.source.pool.transaction(fromDisplayHex(id)) !== undefined;
      const all = (await shown('/txs?max_txs=100')).filter(({ txid }) => txid === id);
      const confirmed = all.map(({ status }) => status.confirmed);
      seen.push({ isPooled, confirmed, ofPool: await txids('/txs/mempool'), poolCount: await poolCount(), coins: await coins() });
    };
    const addBlock = mempool._addBlock.bind(mempool);
    const removeBlock = mempool._removeBlock.bind(mempool);
    mempool._addBlock = async (...block) => {
      await look();
      await addBlock(...block);
    };
    mempool._removeBlock = async (...block) => {
      await removeBlock(...block);
      await look();
    };
    const below = chain.tip;
    await mine(served.node, 1);
    const [side] = await mine(served.node, 1, below);
    // An empty pool takes nothing back.
    const coinbase = await served.get(`/tx/${history.at(-2) ?? ''}/raw`);
    const other = signed(wallet.ring, [bcoin.TX.fromRaw(coinbase.body)], [[wallet.tillScript, 4_999_980_000]]);
    await served.settle();
    await mempool.addTX(other);
    // Once, although both scripts have it.
    const shownTogether = async (): Promise<number> =>
      (await txidsWith(sha256(wallet.tillScript))).filter((txid) => txid === idOf(other)).length;
    expect(await shownTogether()).to.equal(1);
    await mine(served.node, 1, side && (await entryOf(served.node, side)));
    await served.settle();
    expect(await shownTogether()).to.equal(1);
    expect(seen).to.deep.equal([
      { isPooled: true, confirmed: [true], ofPool: [], poolCount: '0', coins: MAX_UNSPENT },
      { isPooled: true, confirmed: [true], ofPool: [idOf(other)], poolCount: '1', coins: MAX_UNSPENT - 1 },
      { isPooled: true, confirmed: [false], ofPool: [idOf(other), id], poolCount: '2', coins: MAX_UNSPENT - 1 },
      { isPooled: true, confirmed: [false], ofPool: [id], poolCount: '1', coins: MAX_UNSPENT - 1 }
    ]);
  });
});

describe('the histories of several scripts', () => {
  it('fail for their client alone when it leaves while they are read', async () => {
    let isHeld = false;
    const waiting: (() => void)[] = [];
    const scriptStore = holdReads(new MemoryStore(), () => (isHeld ? new Promise((resolve) => waiting.push(resolve)) : undefined));
    const served = await ServedNode.open({}, { scriptStore });
    const wallet = await PayingWallet.on(served.node);
    const script = sha256(Buffer.concat([Buffer.from('76a914', 'hex'), wallet.ring.getKeyHash(), Buffer.from('88ac', 'hex')]));
    await served.node.mempool.addTX(wallet.moves(0));
    // The txids of the last block fill a page of the store, so that they are not in memory. One block has two.
    while ((served.node.chain.tip.height + 2) % PAGE_TXIDS !== 0) await mineOnly(served.node, []);
    await served.settle();
    isHeld = true;
    const client = await openSocket(served.port);
    client.write(requestBytes({ method: 'POST', path: '/api/scripthashes/txs', body: Buffer.from(JSON.stringify([script])) }, false));
    const unheard: unknown[] = [];
    const take = (error: unknown): void => void unheard.push(error);
    process.on('unhandledRejection', take);
    // First the txids of the tip are read, to see what is still in the pool, then those of the script.
    await until(() => waiting.length === 1);
    client.destroy();
    await until(async () => (await countConnections(served.serving.host.server)) === 0);
    waiting[0]?.();
    await until(() => waiting.length === 2);
    await setImmediate();
    process.off('unhandledRejection', take);
    // Such an error ends the process.
    expect(unheard).to.deep.equal([]);
    waiting[1]?.();
    isHeld = false;
    expect((await served.get(`/scripthash/${script}/txs`)).status).to.equal(200);
    await served.close();
  });
});
