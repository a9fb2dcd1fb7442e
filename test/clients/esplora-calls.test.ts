// What the npm clients of Esplora's interface read from ours, call by call, held against bcoin's own objects; and how they hold their connections.

import { createHash } from 'node:crypto';
import { Agent } from 'node:http';
import { AddressApi, BlockApi, Configuration, FeeEstimatesApi, MempoolApi, ScripthashApi, TxApi } from '@interlay/esplora-btc-api';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { fromDisplayHex, hash256, toDisplayHex } from '../../lib/bitcoin/hash';
import { blockFields, type BlockFields } from './bcoin-objects';
import { caught } from '../support/expectations/caught';
import { withEarlyForks } from '../support/chain/early-forks';
import { scriptAt } from '../support/chain/faucet';
import { ask } from '../support/client/http';
import { KeyWallet, type SignedSpend } from '../support/chain/key-wallet';
import { frontEndFault } from '../support/client/mempool-front-end';
import { mempoolJs, refusalOf, type MempoolJs } from './esplora-clients';
import { WalletNode } from './wallet-node';

const RECEIVED = 100_000_000;
const SENT = 30_000_000;
const FEE = 10_000;
const HEADER_LENGTH = 80;
const ORIGIN = 'https://wallet.example';
const TIMEOUT_MS = 300_000;

describe('calls of clients of Esplora’s interface', () => {
  withEarlyForks();
  const wallet = new KeyWallet();
  const shop = new KeyWallet();
  const { address } = wallet;
  const scriptHash = createHash('sha256').update(scriptAt(address)).digest('hex');
  let served: WalletNode;
  let mempool: MempoolJs;
  let basePath: string;
  let api: Configuration;
  let raw: Buffer;
  let block: BlockFields;
  let txid: string;
  let sent: SignedSpend;

  before(async function () {
    this.timeout(TIMEOUT_MS);
    served = await WalletNode.open(1, { 'rest-cors': ORIGIN });
    mempool = mempoolJs(served.port);
    basePath = `http://127.0.0.1:${served.port}/api`;
    api = new Configuration({ basePath });
    txid = await served.faucet.pays(address, RECEIVED);
    raw = await served.confirm();
    block = blockFields(raw);
    const hex = block.tx.find((transaction) => transaction.txid === txid)?.hex ?? '';
    sent = wallet.sends(hex, RECEIVED, shop.address, SENT);
    await mempool.transactions.postTx({ txhex: sent.hex });
  });
  after(() => served.close());

  const tip = (): number => served.node.chain.height;

  /** The answers of mempool.js 3.0.0 and esplora-btc-api 1.3.0. */
  const both = async (one: Promise<unknown>, other: Promise<{ readonly data: unknown }>): Promise<unknown[]> => [
    await one,
    (await other).data
  ];

  async function expectBoth(one: Promise<unknown>, other: Promise<{ readonly data: unknown }>, expected: unknown): Promise<void> {
    for (const answer of await both(one, other)) expect(answer).to.deep.equal(expected);
  }

  it('read blocks', async () => {
    const { blocks } = mempool;
    const blockApi = new BlockApi(api);
    const { hash } = block;
    const txids = block.tx.map((transaction) => transaction.txid);
    await expectBoth(blocks.getBlocksTipHash({}), blockApi.getLastBlockHash(), hash);
    await expectBoth(blocks.getBlocksTipHeight({}), blockApi.getLastBlockHeight(), tip());
    await expectBoth(blocks.getBlockHeight({ height: tip() }), blockApi.getBlockAtHeight(tip()), hash);
    await expectBoth(blocks.getBlockHeader({ hash }), blockApi.getBlockHeader(hash), raw.subarray(0, HEADER_LENGTH).toString('hex'));
    await expectBoth(blocks.getBlockTxids({ hash }), blockApi.getBlockTxids(hash), txids);
    await expectBoth(blocks.getBlockTxid({ hash, index: 1 }), blockApi.getBlockTxByIndex(hash, 1), txids[1]);
    const status = { in_best_chain: true, height: tip(), next_best: null };
    await expectBoth(blocks.getBlockStatus({ hash }), blockApi.getBlockStatus(hash), status);
    expect((await blockApi.getBlock(hash)).data).to.include({ id: hash, height: tip(), tx_count: txids.length, size: raw.length });
    expect((await blockApi.getBlockRaw(hash, { responseType: 'arraybuffer' })).data).to.deep.equal(raw);
    const transactions = (await blocks.getBlockTxs({ hash, start_index: 0 })) as readonly { readonly txid: string }[];
    expect(transactions.map((transaction) => transaction.txid)).to.deep.equal(txids);
  });

  it('read transactions, and what spends their outputs', async () => {
    const { transactions } = mempool;
    const txApi = new TxApi(api);
    const { hex, vout } = block.tx[1] ?? { hex: '', vout: [] };
    const status = { confirmed: true, block_height: tip(), block_hash: block.hash, block_time: block['time'] };
    for (const answer of await both(transactions.getTx({ txid }), txApi.getTx(txid))) {
      expect(answer).to.containSubset({ txid, fee: FEE, size: hex.length / 2, status });
      expect(answer).to.have.nested.property('vout[0].scriptpubkey', vout[0]?.scriptPubKey.hex);
      expect(answer).to.have.nested.property('vin[0].prevout.value').that.is.above(RECEIVED);
    }
    await expectBoth(transactions.getTxHex({ txid }), txApi.getTxHex(txid), hex);
    await expectBoth(transactions.getTxStatus({ txid }), txApi.getTxStatus(txid), status);
    const spend = { spent: true, txid: sent.txid, vin: 0, status: { confirmed: false } };
    await expectBoth(transactions.getTxOutspend({ txid, vout: 0 }), txApi.getTxOutspend(txid, 0), spend);
    await expectBoth(transactions.getTxOutspends({ txid }), txApi.getAllTxOutspends(txid), [spend, { spent: false }]);
    expect((await txApi.getTxRaw(txid, { responseType: 'arraybuffer' })).data).to.deep.equal(Buffer.from(hex, 'hex'));
  });

  it('prove that a transaction is in a block', async () => {
    const { transactions } = mempool;
    const txApi = new TxApi(api);
    for (const answer of await both(transactions.getTxMerkleProof({ txid }), txApi.getTxMerkleProof(txid))) {
      const { merkle, pos, block_height: height } = answer as { merkle: string[]; pos: number; block_height: number };
      let hash = fromDisplayHex(txid);
      for (const [level, text] of merkle.entries()) {
        const other = fromDisplayHex(text);
        hash = hash256(Buffer.concat((pos >> level) & 1 ? [other, hash] : [hash, other]));
      }
      expect([toDisplayHex(hash), height]).to.deep.equal([block['merkleroot'], tip()]);
    }
    const [proof, same] = await both(transactions.getTxMerkleBlockProof({ txid }), txApi.getTxMerkleBlockProof(txid));
    expect(proof)
      .to.be.a('string')
      .that.satisfies((text: string) => text.startsWith(raw.subarray(0, HEADER_LENGTH).toString('hex')));
    expect(same).to.equal(proof);
    // Of the pool there is no proof.
    const { txid: pooled } = sent;
    expect(refusalOf(await caught(transactions.getTxMerkleProof({ txid: pooled })))).to.deep.equal({
      status: 404,
      message: 'Transaction not found or is unconfirmed'
    });
  });

  it('read histories and coins of addresses', async () => {
    const { addresses } = mempool;
    const addressApi = new AddressApi(api);
    const idsOf = (answer: unknown): string[] => (answer as readonly { readonly txid: string }[]).map((transaction) => transaction.txid);
    const all = [sent.txid, txid];
    for (const answer of await both(addresses.getAddressTxs({ address }), addressApi.getAddressTxHistory(address)))
      expect(idsOf(answer)).to.deep.equal(all);
    for (const answer of await both(addresses.getAddressTxsMempool({ address }), addressApi.getAddressTxMempool(address)))
      expect(idsOf(answer)).to.deep.equal([sent.txid]);
    const scripthashApi = new ScripthashApi(api);
    for (const answer of await both(addresses.getAddressTxsChain({ address }), scripthashApi.getRecentTxsByScripthash(scriptHash)))
      expect(idsOf(answer)).to.deep.equal([txid]);
    expect(idsOf((await scripthashApi.getTxsByScripthash(scriptHash)).data)).to.deep.equal(all);
    expect(idsOf(await addresses.getAddressTxs({ address, after_txid: sent.txid }))).to.deep.equal([txid]);
    expect((await scripthashApi.getTxsBeforeTxidByScripthash(scriptHash, txid)).data).to.deep.equal([]);
    const coin = { txid: sent.txid, vout: 1, status: { confirmed: false }, value: sent.change };
    await expectBoth(addresses.getAddressTxsUtxo({ address }), addressApi.getAddressUtxo(address), [coin]);
  });

  it('read the pool, and estimates of fees', async () => {
    const mempoolApi = new MempoolApi(api);
    const pool = mempool.mempool;
    const [entry] = served.node.mempool.map.values();
    const vsize = Math.ceil((entry?.tx.getWeight() ?? 0) / 4);
    for (const answer of await both(pool.getMempool(undefined), mempoolApi.getMempool()))
      expect(answer).to.containSubset({ count: 1, vsize, total_fee: FEE }).and.to.have.nested.property('fee_histogram[0][1]', vsize);
    await expectBoth(pool.getMempoolTxids(undefined), mempoolApi.getMempoolTxids(), [sent.txid]);
    const recent = { txid: sent.txid, fee: FEE, vsize, value: RECEIVED };
    for (const answer of await both(pool.getMempoolRecent(undefined), mempoolApi.getMempoolRecent()))
      expect((answer as readonly unknown[])[0]).to.deep.equal(recent);
    // Too few blocks have confirmed anything.
    expect((await new FeeEstimatesApi(api).getFeeEstimates()).data).to.deep.equal({});
  });

  it('ask for what only mempool’s interface has: blocks with what they pay, the next blocks, difficulty', async () => {
    const { blocks, difficulty, fees } = mempool;
    const shown = (await blocks.getBlock({ hash: block.hash })) as object;
    expect(frontEndFault('BlockExtended', shown)).to.equal(undefined);
    const { height } = served.node.chain;
    const page = (await blocks.getBlocks({ start_height: height })) as readonly object[];
    expect(frontEndFault('BlockExtended', page, true)).to.equal(undefined);
    expect(await blocks.getBlocks({})).to.deep.equal(page);
    expect(frontEndFault('DifficultyAdjustment', await difficulty.getDifficultyAdjustment(undefined))).to.equal(undefined);
    expect(await difficulty.getHashrate({ interval: '1m' })).to.have.keys(
      'hashrates',
      'difficulty',
      'currentHashrate',
      'currentDifficulty'
    );
    expect(frontEndFault('Recommendedfees', await fees.getFeesRecommended(undefined))).to.equal(undefined);
    const projected = (await fees.getFeesMempoolBlocks(undefined)) as readonly object[];
    expect(projected).to.have.lengthOf(1);
    expect(frontEndFault('MempoolBlock', projected, true)).to.equal(undefined);
    expect(frontEndFault('CpfpInfo', await fees.getCPFP({ txid: sent.txid }))).to.equal(undefined);
  });

  it('ask on one connection, whatever the answers are', async () => {
    const httpAgent = new Agent({ keepAlive: true, maxSockets: 1 });
    const { transactions, blocks } = mempoolJs(served.port, { httpAgent });
    let connections = 0;
    const count = (): unknown => connections++;
    served.httpServer.on('connection', count);
    await blocks.getBlocksTipHeight({});
    await caught(transactions.getTx({ txid: 'ff'.repeat(32) }));
    await caught(transactions.postTx({ txhex: '00' }));
    await caught(blocks.getBlockHeight({ height: tip() + 1 }));
    await new BlockApi(new Configuration({ basePath, baseOptions: { httpAgent, method: 'HEAD' } })).getBlockRaw(block.hash);
    await Promise.all(Array.from({ length: 10 }, () => transactions.getTxHex({ txid })));
    served.httpServer.off('connection', count);
    httpAgent.destroy();
    expect(connections).to.equal(1);
  });

  it('may send from pages of an origin that is named, whose browser asks before', async () => {
    const { port } = served;
    const preflight = await ask(port, {
      method: 'OPTIONS',
      path: '/api/tx',
      headers: { Origin: ORIGIN, 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'content-type' }
    });
    expect(preflight).to.deep.include({ status: 204, body: Buffer.alloc(0) });
    const { headers } = preflight;
    expect(headers['access-control-allow-origin']).to.equal(ORIGIN);
    expect(headers['access-control-allow-methods']?.split(', ')).to.include('POST');
    expect(headers['access-control-allow-headers']?.toLowerCase().split(', ')).to.include('content-type');
    // The page may read why it was refused, too.
    const headersOfPage = { Origin: ORIGIN, 'Content-Type': 'application/octet-stream' };
    const refused = await ask(port, { method: 'POST', path: '/api/tx', headers: headersOfPage, body: Buffer.from('00') });
    expect([refused.status, refused.headers['access-control-allow-origin']]).to.deep.equal([400, ORIGIN]);
  });
});
