// Every call of the npm clients of the Electrum protocol, held against the chain.

import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { blockFields, type BlockFields } from './bcoin-objects';
import { caught } from '../support/expectations/caught';
import { withEarlyForks } from '../support/chain/early-forks';
import { ask } from '../support/client/http';
import { KeyWallet } from '../support/chain/key-wallet';
import { freePort } from '../support/bcoin/regtest-node';
import {
  call,
  connectExplorer,
  firstClient,
  mempoolClient,
  resultOf,
  samouraiClient,
  scriptHashOf,
  type ElectrumCalls
} from './electrum-clients';
import { WalletNode } from './wallet-node';
import type { ElectrumExplorer } from '@bitcoinerlab/explorer';

const RECEIVED = 30_000_000;
const POOLED = 10_000_000;
const FAUCET_FEE = 10_000;
const RELAY_FEE = 0.00001;
const TIMEOUT_MS = 60_000;

const CODES = { badRequest: 1, unknownMethod: -32_601, invalidParameters: -32_602 };

/** Methods that protocol 1.4 took away. These clients still have functions for them, and are told that the method is unknown. */
const GONE = /^blockchain(Address_|Block_get|Utxo_|Numblocks_)/;

interface Call {
  readonly args: readonly unknown[];
  /** Of a call that asks many things at once: the answers to each. */
  readonly answer: unknown;
}

describe('calls of clients of the Electrum protocol', function () {
  this.timeout(TIMEOUT_MS);
  withEarlyForks();
  const [wallet, nobody] = [new KeyWallet(), new KeyWallet()];
  const [hash, unused] = [scriptHashOf(wallet.address), scriptHashOf(nobody.address)];
  let served: WalletNode;
  let port: number;
  let block: BlockFields;
  let header: string;
  let height: number;
  let received: BlockFields['tx'][number];
  let pooled: { readonly txid: string; readonly hex: string };

  before(async () => {
    port = await freePort();
    served = await WalletNode.open(2, { 'rest-electrum': port });
    await served.faucet.pays(wallet.address, RECEIVED);
    const raw = await served.confirm();
    block = blockFields(raw);
    header = raw.subarray(0, 80).toString('hex');
    height = served.node.chain.height;
    received = block.tx[1] as BlockFields['tx'][number]; // behind the coinbase
    const txid = await served.faucet.pays(wallet.address, POOLED);
    pooled = { txid, hex: (await ask(served.port, { path: `/api/tx/${txid}/hex` })).body.toString() };
  });
  after(() => served.close());

  function calls(): Readonly<Record<string, Call>> {
    const entry = { tx_hash: pooled.txid, height: 0, fee: FAUCET_FEE };
    const history = [{ tx_hash: received.txid, height }, entry];
    const balance = { confirmed: RECEIVED, unconfirmed: POOLED };
    const unspent = [
      { tx_hash: received.txid, tx_pos: 0, height, value: RECEIVED },
      { tx_hash: pooled.txid, tx_pos: 0, height: 0, value: POOLED }
    ];
    const status = createHash('sha256').update(`${received.txid}:${height}:${pooled.txid}:0:`).digest('hex');
    const [coinbase] = block.tx;
    return {
      server_banner: { args: [], answer: 'Welcome to bcoin-rest 0.1.0.' },
      server_features: {
        args: [],
        answer: {
          hosts: {},
          pruning: null,
          server_version: 'bcoin-rest 0.1.0',
          protocol_min: '1.4',
          protocol_max: '1.6',
          genesis_hash: '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206',
          hash_function: 'sha256'
        }
      },
      server_ping: { args: [], answer: null },
      server_addPeer: { args: [{}], answer: false },
      serverDonation_address: { args: [], answer: '' },
      serverPeers_subscribe: { args: [], answer: [] },
      blockchainScripthash_getBalance: { args: [hash], answer: balance },
      blockchainScripthash_getBalanceBatch: { args: [[hash, unused]], answer: [balance, { confirmed: 0, unconfirmed: 0 }] },
      blockchainScripthash_getHistory: { args: [hash], answer: history },
      blockchainScripthash_getHistoryBatch: { args: [[hash, unused]], answer: [history, []] },
      blockchainScripthash_getMempool: { args: [hash], answer: [entry] },
      blockchainScripthash_listunspent: { args: [hash], answer: unspent },
      blockchainScripthash_listunspentBatch: { args: [[unused, hash]], answer: [[], unspent] },
      blockchainScripthash_subscribe: { args: [hash], answer: status },
      blockchainBlock_headers: { args: [height, 10], answer: { count: 1, max: 2_016, hex: header } },
      // There is nothing to estimate from.
      blockchainEstimatefee: { args: [2], answer: -1 },
      blockchainHeaders_subscribe: { args: [], answer: { hex: header, height } },
      blockchain_relayfee: { args: [], answer: RELAY_FEE },
      // It is in the pool already.
      blockchainTransaction_broadcast: { args: [pooled.hex], answer: pooled.txid },
      blockchainTransaction_get: { args: [received.txid], answer: received.hex },
      blockchainTransaction_getBatch: { args: [[received.txid, pooled.txid]], answer: [received.hex, pooled.hex] },
      blockchainTransaction_getMerkle: {
        args: [received.txid, height],
        answer: { block_height: height, merkle: [coinbase?.txid], pos: 1 }
      },
      // Of larger pools.
      mempool_getFeeHistogram: { args: [], answer: [] }
    };
  }

  const CLIENTS: readonly {
    readonly name: string;
    readonly connect: typeof firstClient;
    /** Calls that it makes so that every server of protocol 1.4 refuses them. */
    readonly refused: Readonly<Record<string, number>>;
    /** Whether it asks for a transaction's fields, too. */
    readonly hasFields: boolean;
  }[] = [
    {
      name: '@mempool/electrum-client 1.1.9',
      connect: mempoolClient,
      // With a parameter that was taken out, and with a name that is misspelt.
      refused: { blockchainHeaders_subscribe: CODES.invalidParameters, blockchainBlock_headers: CODES.unknownMethod },
      hasFields: true
    },
    { name: '@samouraiwallet/electrum-client 1.5.2', connect: samouraiClient, refused: {}, hasFields: true },
    { name: 'electrum-client 0.0.6', connect: firstClient, refused: {}, hasFields: false }
  ];

  for (const { name, connect, refused, hasFields } of CLIENTS)
    describe(name, () => {
      let client: ElectrumCalls;
      let names: readonly string[];

      before(async () => {
        client = await connect({ protocol: 'tcp', port });
        names = Object.getOwnPropertyNames(Object.getPrototypeOf(client)).filter((method) => /^(server|blockchain|mempool)/.test(method));
      });
      after(() => {
        client.close();
      });

      it('are answered from the chain and the pool', async () => {
        const expected = calls();
        const asked = names.filter((method) => method !== 'server_version' && !GONE.test(method) && !(method in refused));
        const answers = Object.fromEntries(
          await Promise.all(
            asked.map(async (method) => {
              const { args } = expected[method] ?? expect.fail(`${method} is expected to answer nothing`);
              const answer = await call(client, method, ...args);
              return [method, method.endsWith('Batch') ? (answer as unknown[]).map(resultOf) : resultOf(answer)] as const;
            })
          )
        );
        expect(answers).to.deep.equal(Object.fromEntries(asked.map((method) => [method, expected[method]?.answer])));
        expect(asked.length).to.be.greaterThan(10);
      });

      it('are refused as every server does that speaks the protocol', async () => {
        const codeOf = async (method: string): Promise<unknown> =>
          ((await caught(call(client, method, 'x', 'y'))) as { readonly code: unknown }).code;
        for (const method of names.filter((one) => GONE.test(one))) expect(await codeOf(method), method).to.equal(CODES.unknownMethod);
        for (const [method, code] of Object.entries(refused)) expect(await codeOf(method), method).to.equal(code);
        expect(await codeOf('server_version')).to.equal(CODES.badRequest);
      });

      if (!hasFields) return;
      it('read a transaction’s fields', async () => {
        const fields = await call(client, 'blockchainTransaction_get', received.txid, true);
        expect(fields).to.containSubset({ txid: received.txid, hex: received.hex, blockhash: block.hash, confirmations: 1 });
      });
    });

  describe('@bitcoinerlab/explorer 1.0.0', () => {
    let explorer: ElectrumExplorer;

    before(async () => {
      explorer = await connectExplorer({ protocol: 'tcp', port });
    });

    it('are answered from the chain and the pool', async () => {
      const totals = { balance: RECEIVED, txCount: 1, unconfirmedBalance: POOLED, unconfirmedTxCount: 1 };
      expect(await explorer.fetchAddress(wallet.address)).to.deep.equal(totals);
      expect(await explorer.fetchScriptHash(hash)).to.deep.equal(totals);
      expect(await explorer.fetchTxHistory({ scriptHash: hash })).to.deep.equal([
        { txId: received.txid, blockHeight: height, irreversible: false },
        { txId: pooled.txid, blockHeight: 0, irreversible: false }
      ]);
      expect(await explorer.fetchBlockHeight()).to.equal(height);
      expect(await explorer.fetchBlockStatus(height)).to.deep.equal({
        blockHeight: height,
        blockHash: block.hash,
        blockTime: block['time'],
        irreversible: false
      });
      expect(await explorer.fetchTx(received.txid)).to.equal(received.hex);
      expect(await explorer.push(pooled.hex)).to.equal(pooled.txid);
      // It takes no estimate for a mistake.
      expect(await caught(explorer.fetchFeeEstimates())).to.have.property('message', 'Invalid fee estimates!');
      expect(await explorer.isConnected()).to.equal(true);
    });

    it('end', async () => {
      explorer.close();
      expect(explorer.isClosed()).to.equal(true);
      expect(await explorer.isConnected()).to.equal(false);
    });
  });
});
