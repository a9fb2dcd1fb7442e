// What the npm clients of Bitcoin Core get over JSON-RPC on the node's port, held against bcoin's own objects.

import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { blockFields, headerFields, transactionFields, type TransactionFields } from './bcoin-objects';
import { caught } from '../support/expectations/caught';
import { chainAActiveBlocks, chainAManifest, chainAPool } from '../support/chain/chain-a';
import { CHAIN_A_TIMEOUT_MS } from '../support/node/chain-a-node';
import { ACCOUNT, MODERN, openClientNode } from './client-node';
import { CORE_CLIENTS, refusalOf, type CoreClient } from './core-clients';
import type { RestNode } from '../support/node/rest-node';

// Error codes of Bitcoin Core.
const INVALID_PARAMETER = -8;
const INVALID_ADDRESS_OR_KEY = -5;
const DESERIALIZATION = -22;
const MISSING_INPUTS = -25;

const HEADER_LENGTH = 80;
const SATS = 100_000_000;
const UNAUTHORIZED = 401;
const FORBIDDEN = 403;
const UNKNOWN = 'ff'.repeat(32);

describe('clients over JSON-RPC', () => {
  const { height: tipHeight, tip, mempool, blocks, outpoints } = chainAManifest();
  // With witnesses and outputs of many kinds.
  const [mixed = { hash: '', height: 0, raw: Buffer.alloc(0) }] = chainAActiveBlocks().slice(blocks['mixed']?.height);
  const { hash, height, raw } = mixed;
  const expected = blockFields(raw);
  const [, transaction] = expected.tx as [TransactionFields, TransactionFields];
  const [pooled = Buffer.alloc(0)] = chainAPool();
  const waiting = transactionFields(pooled);
  const txids = mempool.map(({ txid }) => txid);
  let served: RestNode;

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    served = await openClientNode(MODERN);
  });

  after(() => served.node.close());

  for (const { name, connect } of CORE_CLIENTS)
    describe(name, () => {
      let client: CoreClient;

      before(() => {
        client = connect({ port: served.port, ...ACCOUNT });
      });

      const call: CoreClient['call'] = (...order) => client.call(...order);

      it('reads the state of the chain', async () => {
        expect(await call('getblockcount')).to.equal(tipHeight);
        expect(await call('getbestblockhash')).to.equal(tip);
        expect(await call('getblockchaininfo')).to.containSubset({ chain: 'regtest', blocks: tipHeight, bestblockhash: tip });
        expect(await call('getchaintips')).to.containSubset([{ height: tipHeight, hash: tip, branchlen: 0, status: 'active' }]);
        expect(await call('getdeploymentinfo', hash)).to.containSubset({ hash, height });
        expect(await call('getindexinfo')).to.have.nested.property('txindex.best_block_height', tipHeight);
      });

      it('reads blocks as deep as it asks for', async () => {
        expect(await call('getblockhash', height)).to.equal(hash);
        expect(await call('getblockheader', hash)).to.containSubset(headerFields(raw));
        expect(await call('getblockheader', hash, false)).to.equal(raw.subarray(0, HEADER_LENGTH).toString('hex'));
        expect(await call('getblock', hash, 0)).to.equal(raw.toString('hex'));
        expect(await call('getblock', hash)).to.containSubset({ ...expected, tx: expected.tx.map(({ txid }) => txid) });
        expect(await call('getblock', hash, 2)).to.containSubset(expected);
        const { tx } = (await call('getblock', hash, 3)) as { readonly tx: readonly { readonly vin: readonly object[] }[] };
        expect(tx[1]?.vin[0]).to.have.property('prevout');
        expect(await call('getblockfilter', hash)).to.have.keys('filter', 'header');
      });

      it('reads transactions of the chain and of the pool, and coins', async () => {
        expect(await call('getrawtransaction', waiting.txid)).to.equal(waiting.hex);
        expect(await call('getrawtransaction', waiting.txid, true)).to.containSubset(waiting);
        expect(await call('getrawtransaction', transaction.txid, 1, hash)).to.containSubset({ ...transaction, blockhash: hash });
        expect(await call('getrawtransaction', transaction.txid, 2))
          .to.have.property('fee')
          .that.is.a('number');
        const { txid, vout } = outpoints['cb-unspent'] ?? {};
        expect(await call('gettxout', txid, vout)).to.containSubset({ bestblock: tip, value: 50, coinbase: true });
        expect(await call('gettxout', outpoints['spent-p2pk']?.txid, 0)).to.equal(null);
      });

      it('reads the pool', async () => {
        expect(await call('getrawmempool')).to.have.members(txids);
        expect(await call('getrawmempool', true)).to.have.keys(txids);
        const base = (mempool[0]?.fee ?? 0) / SATS;
        expect(await call('getmempoolentry', waiting.txid)).to.containSubset({ wtxid: waiting['hash'], fees: { base } });
        expect(await call('getmempoolinfo')).to.containSubset({ loaded: true, size: txids.length });
      });

      it('learns who answers', async () => {
        const { version, subversion } = (await call('getnetworkinfo')) as Readonly<Record<string, unknown>>;
        expect(version).to.be.a('number').that.is.at.least(290_000);
        expect(subversion).to.match(/bcoin/);
        expect(await call('uptime')).to.be.a('number');
        expect(await call('getzmqnotifications')).to.deep.equal([]);
        const { feerate, errors } = (await call('estimatesmartfee', 6, 'ECONOMICAL')) as Readonly<Record<string, unknown>>;
        expect(feerate ?? errors).to.satisfy((value: unknown) => typeof value === 'number' || Array.isArray(value));
      });

      it('tries and sends transactions, and is told why they are not taken', async () => {
        expect(await call('testmempoolaccept', [waiting.hex])).to.containSubset([{ txid: waiting.txid, allowed: false }]);
        expect(refusalOf(await caught(call('sendrawtransaction', '00'))).code).to.equal(DESERIALIZATION);
        expect(refusalOf(await caught(call('sendrawtransaction', transaction.hex))).code).to.equal(MISSING_INPUTS);
        expect(refusalOf(await caught(call('submitpackage', ['00']))))
          .to.have.property('code')
          .that.is.below(0);
      });

      it('names parameters', async () => {
        expect(await client.callByName('getblockhash', { height })).to.equal(hash);
        expect(await client.callByName('getblockheader', { blockhash: hash, verbose: true })).to.containSubset(headerFields(raw));
        expect(await client.callByName('getrawtransaction', { txid: waiting.txid, verbose: true })).to.containSubset({ hex: waiting.hex });
      });

      it('sends several calls at once, of which one fails', async () => {
        const results = await client.callAll([
          { method: 'getblockcount', params: [] },
          { method: 'getblockhash', params: [tipHeight + 1] },
          { method: 'getblockhash', params: [tipHeight] }
        ]);
        expect([results[0], refusalOf(results[1]).code, results[2]]).to.deep.equal([tipHeight, INVALID_PARAMETER, tip]);
      });

      it('is told what is not there', async () => {
        expect(refusalOf(await caught(call('getblock', UNKNOWN)))).to.deep.equal({
          code: INVALID_ADDRESS_OR_KEY,
          message: 'Block not found'
        });
      });

      it('needs a password: that of its user, or the key of the node with any user', async () => {
        const { port } = served;
        expect(await connect({ port, user: 'anybody', password: MODERN['api-key'] }).call('getblockcount')).to.equal(tipHeight);
        const stranger = connect({ port, user: ACCOUNT.user, password: 'guessed' });
        expect(refusalOf(await caught(stranger.call('getblockcount'))).code).to.equal(UNAUTHORIZED);
      });

      it('reaches bcoin with what is not ours and the key of the node', async () => {
        const owner = connect({ port: served.port, user: 'anybody', password: MODERN['api-key'] });
        // No Bitcoin Core of today has it.
        expect(await owner.call('getinfo')).to.containSubset({ blocks: tipHeight });
        expect(refusalOf(await caught(call('getinfo'))).code).to.equal(FORBIDDEN);
      });
    });
});
