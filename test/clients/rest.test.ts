// What the npm clients of Bitcoin Core read from our REST interface, in both editions, held against bcoin's own objects.

import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { RESTClient } from 'rpc-bitcoin';
import { blockFields, headerFields, transactionFields, type TransactionFields } from './bcoin-objects';
import { caught } from '../support/expectations/caught';
import { chainAActiveBlocks, chainAAnswers, chainAManifest, chainAPool, recordedBody, type RecordedAnswer } from '../support/chain/chain-a';
import { CHAIN_A_TIMEOUT_MS } from '../support/node/chain-a-node';
import { MODERN, openClientNode } from './client-node';
import { CORE_CLIENTS, refusalOf, type CoreClient, type Outpoint } from './core-clients';
import type { RestNode } from '../support/node/rest-node';

/** As the formats of a reply's bytes give them to a program. */
const asHexText = (bytes: Buffer): string => `${bytes.toString('hex')}\n`;

const HEADERS = 3;
/** Of the outpoint `cb-unspent`. */
const COIN_HEIGHT = 100;

const outpointNamed = (name: string): Outpoint => {
  const { txid, vout } = chainAManifest().outpoints[name] ?? {};
  if (txid === undefined || vout === undefined) throw new Error(`chain A has no outpoint called ${name}`);
  return { txid, vout };
};

const recordedAnswer = (path: string): RecordedAnswer => {
  const found = chainAAnswers().find((answer) => answer.path === path && answer.method === 'GET');
  if (found === undefined) throw new Error(`nothing was recorded for ${path}`);
  return found;
};

for (const { edition, settings } of [
  { edition: '0.17', settings: {} },
  { edition: 'modern', settings: MODERN }
])
  describe(`clients over REST, in the edition ${edition}`, () => {
    const { height: tipHeight, tip, mempool, blocks } = chainAManifest();
    // With witnesses and outputs of many kinds.
    const [mixed = { hash: '', height: 0, raw: Buffer.alloc(0) }, ...above] = chainAActiveBlocks().slice(blocks['mixed']?.height);
    const expected = blockFields(mixed.raw);
    const [coinbase, transaction] = expected.tx as [TransactionFields, TransactionFields];
    let served: RestNode;

    before(async function () {
      this.timeout(CHAIN_A_TIMEOUT_MS);
      served = await openClientNode(settings);
    });

    after(() => served.node.close());

    for (const { name, connect } of CORE_CLIENTS)
      describe(name, () => {
        let client: CoreClient;

        before(() => {
          client = connect({ port: served.port, user: 'anybody', password: 'nobody asks' });
        });

        it('reads transactions of the chain and of the pool', async () => {
          expect(await client.transaction(transaction.txid, 'json')).to.containSubset({ ...transaction, blockhash: mixed.hash });
          const [waiting = Buffer.alloc(0)] = chainAPool();
          const { txid, ...fields } = transactionFields(waiting);
          expect(await client.transaction(txid, 'json')).to.containSubset(fields);
          expect(await client.transaction(txid, 'bin')).to.deep.equal(waiting);
          expect(await client.transaction(txid, 'hex')).to.equal(asHexText(waiting));
        });

        it('reads blocks', async () => {
          const { hash, raw } = mixed;
          expect(await client.block(hash, 'json')).to.containSubset(expected);
          expect(await client.blockSummary(hash)).to.containSubset({ ...expected, tx: expected.tx.map(({ txid }) => txid) });
          expect(await client.block(hash, 'bin')).to.deep.equal(raw);
          expect(await client.block(hash, 'hex')).to.equal(asHexText(raw));
        });

        it('reads headers', async () => {
          const run = [mixed, ...above].slice(0, HEADERS);
          const bytes = Buffer.concat(run.map(({ raw }) => raw.subarray(0, 80)));
          const fields = (await client.headers(mixed.hash, HEADERS, 'json')) as readonly unknown[];
          expect(fields)
            .to.have.length(HEADERS)
            .and.to.containSubset(run.map(({ raw }) => headerFields(raw)));
          expect(await client.headers(mixed.hash, HEADERS, 'bin')).to.deep.equal(bytes);
          expect(await client.headers(mixed.hash, HEADERS, 'hex')).to.equal(asHexText(bytes));
        });

        it('reads the state of the chain', async () => {
          expect(await client.chainInfo()).to.containSubset({
            chain: 'regtest',
            blocks: tipHeight,
            headers: tipHeight,
            bestblockhash: tip
          });
        });

        it('reads the pool', async () => {
          const bytes = [...served.node.mempool.map.values()].reduce((sum, { size }) => sum + size, 0);
          expect(await client.poolInfo()).to.containSubset({ size: mempool.length, bytes });
          const contents = (await client.poolContents()) as Readonly<Record<string, unknown>>;
          expect(Object.keys(contents)).to.have.members(mempool.map(({ txid }) => txid));
          for (const { txid, fee, parents } of mempool)
            expect(contents[txid]).to.containSubset({ fees: { base: fee / 1e8 }, depends: [...parents].sort() });
        });

        it('reads coins', async () => {
          const [unspent, spent] = [outpointNamed('cb-unspent'), outpointNamed('spent-p2pk')];
          const [{ vout } = coinbase] = blockFields(chainAActiveBlocks()[COIN_HEIGHT]?.raw ?? mixed.raw).tx;
          const { value, scriptPubKey } = vout[unspent.vout] ?? {};
          expect(await client.coins([unspent, spent], 'json')).to.containSubset({
            chainHeight: tipHeight,
            chaintipHash: tip,
            bitmap: '10',
            utxos: [{ height: COIN_HEIGHT, value, scriptPubKey }]
          });
          const { txid, vout: index } = unspent;
          const recorded = recordedBody(recordedAnswer(`/rest/getutxos/checkmempool/${txid}-${index}.bin`));
          expect(await client.coins([unspent], 'bin')).to.deep.equal(recorded);
          expect(await client.coins([unspent], 'hex')).to.equal(asHexText(recorded));
        });

        it('is told what is not there', async () => {
          const unknown = 'ff'.repeat(32);
          for (const format of ['bin', 'hex', 'json'] as const)
            expect(refusalOf(await caught(client.transaction(unknown, format)))).to.deep.equal({
              code: 404,
              message: `${unknown} not found`
            });
        });
      });

    it('rpc-bitcoin reads hashes of blocks by height', async () => {
      const client = new RESTClient({ url: 'http://127.0.0.1', port: served.port });
      expect(await client.getBlockHashByHeight({ height: mixed.height })).to.deep.equal({ blockhash: mixed.hash });
      expect(await client.getBlockHashByHeight({ height: mixed.height, format: 'hex' })).to.equal(`${mixed.hash}\n`);
    });
  });
