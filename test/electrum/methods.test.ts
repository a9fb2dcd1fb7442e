import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { PoolFees } from '../../lib/answers/pool/fees';
import { scriptHashOf, toDisplayHex } from '../../lib/bitcoin/hash';
import { scanTransaction } from '../../lib/bitcoin/transaction';
import { BROADCAST_POINTS, COIN_POINTS, COUNT_POINTS, ROW_POINTS, TRANSACTION_POINTS } from '../../lib/electrum/methods/points';
import { methodsByVersion } from '../../lib/electrum/server/versions';
import { fromHost, type HostTransaction } from '../../lib/node/host';
import { bcoin } from '../support/bcoin/bcoin';
import { nodeWith } from '../support/bcoin/changed-node';
import { Coinbases, COINBASE_SATS, FEE_SATS } from '../support/chain/coinbases';
import { ServedNode } from '../support/node/served-node';
import { MethodCaller } from '../support/node/method-caller';
import { mine } from '../support/bcoin/regtest-node';
import { signed } from '../support/chain/signed';

const BLOCKS = 116;

/** Deeper than JSON.stringify can follow. */
const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown;

describe('methods of the Electrum protocol', () => {
  let served: ServedNode;
  let caller: MethodCaller;
  let wallet: Coinbases;
  const txidOf = (transaction: HostTransaction): string => toDisplayHex(transaction.hash());
  const hexOf = (transaction: HostTransaction): string => transaction.toRaw().toString('hex');
  /** The name of the script to which everything is paid. */
  let script: string;

  before(async () => {
    served = await ServedNode.open({ settings: { 'require-standard': true, 'limit-free-relay': 0 } });
    await served.node.connect();
    wallet = await Coinbases.mine(served.node, BLOCKS);
    await served.settle();
    caller = new MethodCaller(served);
    script = toDisplayHex(scriptHashOf(wallet.script));
  });
  after(() => served.node.close());

  const result = async (method: string, values: readonly unknown[] = [], by = caller): Promise<unknown> => {
    const answer = await by.call(method, values);
    if ('error' in answer) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result;
  };
  const errorOf = async (method: string, values: readonly unknown[], by = caller): Promise<string> => {
    const answer = await by.call(method, values);
    return 'error' in answer ? `${answer.error.code} ${answer.error.message}` : JSON.stringify(answer.result);
  };

  it('describe the server', async () => {
    expect(await result('server.features')).to.deep.equal({
      hosts: {},
      pruning: null,
      server_version: 'bcoin-rest 1.2.3',
      protocol_min: '1.4',
      protocol_max: '1.6',
      genesis_hash: '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206',
      hash_function: 'sha256'
    });
    expect(await result('server.banner')).to.equal('Welcome to bcoin-rest 1.2.3.');
    expect(await result('server.add_peer', [{}])).to.equal(false);
  });

  it('are those of the version that is spoken', () => {
    const methodsOf = methodsByVersion(caller.table);
    for (const [method, without, since] of [
      ['blockchain.scripthash.unsubscribe', '1.4.1', '1.4.2'],
      ['blockchain.transaction.broadcast_package', '1.5', '1.6'],
      ['mempool.get_info', '1.5', '1.6'],
      ['blockchain.relayfee', '1.6', '1.5']
    ] as const)
      expect([methodsOf(without).has(method), methodsOf(since).has(method)], method).to.deep.equal([false, true]);
  });

  it('give back a script’s name as it was written', async () => {
    const [lower, upper] = [script, script.toUpperCase()];
    expect(await result('blockchain.scripthash.subscribe', [upper])).to.equal(await result('blockchain.scripthash.subscribe', [lower]));
    await result('blockchain.scripthash.subscribe', [upper]);
    expect([...caller.subscriptions.scripts.values()]).to.deep.equal([upper]);
    expect(await result('blockchain.scripthash.unsubscribe', [lower])).to.equal(true);
    expect(await result('blockchain.scripthash.unsubscribe', [lower])).to.equal(false);
  });

  it('tell new tips to clients that have asked for this one', async () => {
    const before = caller.subscriptions.headers;
    const tip = await result('blockchain.headers.subscribe');
    const { height } = served.node.chain.tip;
    expect(tip).to.deep.equal({ height, hex: await result('blockchain.block.header', [height]) });
    expect(caller.subscriptions.headers).to.equal(before + 1);
  });

  it('take transactions into the pool, and show them there and in the block that confirms them', async () => {
    const [parent, confirmed] = [wallet.paying([wallet.fresh()], COINBASE_SATS - FEE_SATS), wallet.fresh()];
    const child = wallet.paying([parent, confirmed], 2 * COINBASE_SATS - 3 * FEE_SATS);
    const history = async (): Promise<unknown> =>
      ((await result('blockchain.scripthash.get_history', [script])) as unknown[]).slice(BLOCKS);
    const all = { confirmed: BLOCKS * COINBASE_SATS, unconfirmed: 0 };
    expect(await result('blockchain.scripthash.get_balance', [script])).to.deep.equal(all);
    for (const transaction of [parent, child]) {
      expect(await result('blockchain.transaction.broadcast', [hexOf(transaction)])).to.equal(txidOf(transaction));
      expect(await result('blockchain.transaction.broadcast', [hexOf(transaction)])).to.equal(txidOf(transaction));
    }
    const inPool = [
      { tx_hash: txidOf(parent), height: 0, fee: FEE_SATS },
      { tx_hash: txidOf(child), height: -1, fee: 2 * FEE_SATS }
    ];
    expect(await history()).to.deep.equal(inPool);
    expect(await result('blockchain.scripthash.get_mempool', [script])).to.deep.equal(inPool);
    expect(await result('blockchain.scripthash.get_balance', [script])).to.deep.equal({ ...all, unconfirmed: -3 * FEE_SATS });
    const coins = (await result('blockchain.scripthash.listunspent', [script])) as unknown[];
    expect(coins).to.have.length(BLOCKS - 1);
    expect(coins.at(-1)).to.deep.equal({ tx_hash: txidOf(child), tx_pos: 0, height: 0, value: 2 * COINBASE_SATS - 3 * FEE_SATS });
    expect(await result('blockchain.transaction.get_height', [txidOf(child)])).to.equal(0);
    const output = { scripthash: script, value: 2 * COINBASE_SATS - 3 * FEE_SATS };
    expect(await result('blockchain.utxo.get_info', [txidOf(child), 0])).to.deep.equal(output);
    expect(await result('blockchain.utxo.get_info', [txidOf(parent), 0])).to.equal(null);

    await mine(served.node, 1);
    await served.settle();
    const { height } = served.node.chain.tip;
    expect(await result('blockchain.transaction.get_height', [txidOf(child)])).to.equal(height);
    expect(await result('blockchain.utxo.get_info', [txidOf(child), 0])).to.deep.equal({ ...output, confirmed_height: height });
    const tip = (await result('blockchain.headers.get_tip')) as { readonly hex: string };
    expect(tip).to.deep.equal({ height, hex: await result('blockchain.block.header', [height]) });
    const block = { block_hash: toDisplayHex(fromHost(served.node.chain.tip.hash)), block_height: height };
    expect(await result('blockchain.transaction.get_confirmed_blockhash', [txidOf(parent)])).to.deep.equal(block);
    expect(await result('blockchain.transaction.get_confirmed_blockhash', [txidOf(parent), true])).to.deep.equal({
      ...block,
      block_header: tip.hex
    });
    expect(await history()).to.deep.equal([parent, child].map((one) => ({ tx_hash: txidOf(one), height })));
    const { merkle } = (await result('blockchain.transaction.get_merkle', [txidOf(child), height])) as { merkle: unknown };
    expect(await result('blockchain.transaction.id_from_pos', [height, 2, true])).to.deep.equal({ tx_hash: txidOf(child), merkle });
    const shown = (await result('blockchain.transaction.get', [txidOf(child), true])) as Record<string, unknown>;
    expect(shown).to.include({ hex: hexOf(child), confirmations: 1, txid: txidOf(child) });
    expect(await errorOf('blockchain.transaction.broadcast', [hexOf(child)])).to.equal(
      `1 the transaction was rejected by network rules.\n\nTransaction outputs already in utxo set\n[${hexOf(child)}]`
    );
  });

  it('give the bytes of long transactions, and what the pool has of a fee rate once it is much', async () => {
    const outputs = Array.from({ length: 2_500 }, () => [wallet.script, 1_000] as const);
    const fee = 10 * FEE_SATS;
    const long = signed(wallet.ring, [wallet.fresh()], [...outputs, [wallet.script, COINBASE_SATS - 2_500 * 1_000 - fee]]);
    const { length: vsize } = long.toRaw();
    expect(vsize).to.be.above(0x1_0000);
    expect(await result('mempool.get_fee_histogram')).to.deep.equal([]);
    expect(await result('blockchain.transaction.broadcast', [hexOf(long)])).to.equal(txidOf(long));
    await served.settle();
    expect(await result('blockchain.transaction.get', [txidOf(long)])).to.equal(hexOf(long));
    expect(await result('blockchain.transaction.get', [txidOf(long), true])).to.include({ hex: hexOf(long) });
    expect(await result('mempool.get_fee_histogram')).to.deep.equal([[fee / vsize, vsize]]);
    await mine(served.node, 1);
    await served.settle();
    expect(await result('mempool.get_fee_histogram')).to.deep.equal([]);
  });

  it('know the first use of a script', async () => {
    const [{ tx_hash } = expect.fail('a transaction')] = (await result('blockchain.scripthash.get_history', [script])) as {
      tx_hash: string;
    }[];
    const { block_hash, ...first } = (await result('blockchain.scripthash.get_first_use', [script])) as Record<string, unknown>;
    expect(first).to.deep.equal({ height: 1, block_height: 1, tx_hash });
    const at = (await result('blockchain.transaction.get_confirmed_blockhash', [tx_hash])) as Record<string, unknown>;
    expect(at).to.deep.equal({ block_hash, block_height: 1 });
    const other = bcoin.KeyRing.generate();
    const payment = signed(wallet.ring, [wallet.fresh()], [[other.getAddress(), COINBASE_SATS - FEE_SATS]]);
    const [output] = scanTransaction(payment.toRaw()).outputs;
    const name = toDisplayHex(scriptHashOf(output?.script ?? expect.fail('an output')));
    expect(await result('blockchain.scripthash.get_first_use', [name])).to.equal(null);
    await result('blockchain.transaction.broadcast', [hexOf(payment)]);
    expect(await result('blockchain.scripthash.get_first_use', [name])).to.deep.equal({
      block_hash: '0'.repeat(64),
      height: 0,
      block_height: 0,
      tx_hash: txidOf(payment)
    });
  });

  it('say that a transaction is not known', async () => {
    const [unknown, words] = ['ab'.repeat(32), 'transaction matching the requested hash was found'];
    expect(await errorOf('blockchain.transaction.get_height', [unknown])).to.equal(`1 No ${words}`);
    expect(await errorOf('blockchain.transaction.get_confirmed_blockhash', [unknown])).to.equal(`1 No confirmed ${words}`);
    expect(await errorOf('blockchain.utxo.get_info', [unknown, -1])).to.equal('1 -1 should be a non-negative integer');
    expect(await result('blockchain.utxo.get_info', [unknown, 0])).to.equal(null);
  });

  it('take the transactions of a package one by one, and say what was refused', async () => {
    const parent = wallet.paying([wallet.fresh()], COINBASE_SATS - FEE_SATS);
    const child = wallet.paying([parent], COINBASE_SATS - 2 * FEE_SATS);
    expect(await result('blockchain.transaction.broadcast_package', [[hexOf(parent), hexOf(child)]])).to.deep.equal({ success: true });
    const poor = wallet.paying([wallet.fresh()], COINBASE_SATS + 1);
    const richer = wallet.paying([poor], COINBASE_SATS - FEE_SATS);
    const values = [[hexOf(poor), hexOf(richer)]];
    const { success, errors } = (await result('blockchain.transaction.broadcast_package', values)) as {
      success: boolean;
      errors: { txid: string; error: string }[];
    };
    expect(success).to.equal(false);
    expect(errors.map(({ txid }) => txid)).to.have.members([txidOf(poor), txidOf(richer)]);
    expect(await result('blockchain.transaction.broadcast_package', [...values, true])).to.have.keys(
      'package_msg',
      'tx-results',
      'replaced-transactions'
    );
  });

  it('refuse transactions if broadcasting is off, and histories that are too long', async () => {
    const strict = new MethodCaller(served, { broadcast: false, maxHistory: BLOCKS - 1 });
    const none = '1 this server does not broadcast transactions';
    expect(await errorOf('blockchain.transaction.broadcast', [hexOf(wallet.fresh())], strict)).to.equal(none);
    expect(await errorOf('blockchain.transaction.broadcast_package', [[hexOf(wallet.fresh())]], strict)).to.equal(none);
    expect(await errorOf('blockchain.scripthash.get_history', [script], strict)).to.equal('1 history too large');
    const few = new MethodCaller(served, { maxHistory: 5 });
    expect(await errorOf('blockchain.scripthash.listunspent', [script], few)).to.equal('1 too many unspent outputs');
  });

  it('refuse to burn coins, and to pay more than a tenth of a bitcoin for each 1,000 virtual bytes', async () => {
    const from = [wallet.fresh()];
    const unspendable = Buffer.from('6a', 'hex');
    const burning = wallet.paying(from, COINBASE_SATS - FEE_SATS, unspendable);
    const generous = wallet.paying(from, COINBASE_SATS / 2);
    for (const [transaction, reason] of [
      [burning, 'Unspendable output exceeds maximum configured by user (maxburnamount)'],
      [generous, 'Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)']
    ] as const)
      expect(await errorOf('blockchain.transaction.broadcast', [hexOf(transaction)])).to.equal(
        `1 the transaction was rejected by network rules.\n\n${reason}\n[${hexOf(transaction)}]`
      );
  });

  it('limit transactions and coins of chain and pool together, made anew and cached', async () => {
    const other = Buffer.from(`0014${'11'.repeat(20)}`, 'hex');
    const payment = signed(wallet.ring, [wallet.fresh()], [[other, COINBASE_SATS - FEE_SATS]]);
    await result('blockchain.transaction.broadcast', [hexOf(payment)]);
    for (const name of [script, toDisplayHex(scriptHashOf(other))])
      for (const [method, heights, error] of [
        ['get_history', [], 'history too large'],
        ['get_history', [1], 'history too large'],
        ['get_mempool', [], 'history too large'],
        ['listunspent', [], 'too many unspent outputs']
      ] as const) {
        const ask = [`blockchain.scripthash.${method}`, [name, ...heights]] as const;
        const { length } = (await result(...ask)) as readonly unknown[];
        const [enough, few] = [length, length - 1].map((maxHistory) => new MethodCaller(served, { maxHistory })) as [
          MethodCaller,
          MethodCaller
        ];
        for (let time = 0; time < 2; time++) {
          expect(await result(...ask, enough), method).to.have.length(length);
          expect(await errorOf(...ask, few), method).to.equal(`1 ${error}`);
        }
      }
    await mine(served.node, 1);
    await served.settle();
  });

  it('accept numbers, flags and hashes only in their own form', async () => {
    const wrong: readonly (readonly [method: string, values: readonly unknown[], error: string])[] = [
      ['blockchain.block.header', ['1'], '1 should be a non-negative integer'],
      ['blockchain.block.header', [1.5], '1.5 should be a non-negative integer'],
      ['blockchain.block.header', [true], 'true should be a non-negative integer'],
      ['blockchain.block.header', [2 ** 53], '9007199254740992 should be a non-negative integer'],
      ['blockchain.block.header', [nested(100_000)], 'a value that is nested too deep should be a non-negative integer'],
      ['blockchain.scripthash.get_balance', [nested(100_000)], 'a value that is nested too deep is not a valid script hash'],
      ['blockchain.block.header', [0, null], 'null should be a non-negative integer'],
      ['blockchain.block.headers', [0, 1, null], 'null should be a non-negative integer'],
      ['blockchain.block.headers', [0, { a: 1 }], '{"a":1} should be a non-negative integer'],
      ['blockchain.transaction.get', [`${'00'.repeat(31)}0g`], `${'00'.repeat(31)}0g should be a transaction hash`],
      ['blockchain.transaction.get', ['00'.repeat(32), null], '"verbose" must be a boolean'],
      ['blockchain.scripthash.get_balance', [`${script}00`], `${script}00 is not a valid script hash`],
      ['blockchain.transaction.broadcast', ['0'], '0 should be a hex string'],
      ['blockchain.transaction.broadcast', ['x'.repeat(201)], `${'x'.repeat(200)}… should be a hex string`],
      ['blockchain.transaction.get', ['00'.repeat(32), 2], '"verbose" must be a boolean'],
      ['blockchain.estimatefee', [6, 'economical?'], 'unknown estimatefee mode: economical?']
    ];
    for (const [method, values, error] of wrong) expect(await errorOf(method, values)).to.equal(`1 ${error}`);
    expect(await result('blockchain.estimatefee', [6, 'economical'])).to.equal(-1);
    const id = txidOf(wallet.fresh());
    for (const [flag, number] of [
      [false, 0],
      [true, 1]
    ])
      expect(await result('blockchain.transaction.get', [id, number])).to.deep.equal(
        await result('blockchain.transaction.get', [id, flag])
      );
  });

  it('give estimates in bitcoins for each 1,000 virtual bytes, those of the nearest target', async () => {
    const { node, pool } = served.answers;
    const mainNode = nodeWith(node, {
      network: { ...node.network, chain: 'main' },
      estimateFee: (blocks) => (blocks > 6 ? undefined : { rate: blocks > 2 ? 4_000 : 12_345, blocks })
    });
    const main = new MethodCaller({ serving: served.serving, answers: { ...served.answers, fees: new PoolFees(mainNode, pool) } });
    for (const [blocks, rate] of [
      [0, 0.00012345],
      [2, 0.00012345],
      [3, 0.00004],
      [100, 0.00004],
      [144, 0.00001],
      [10_000, 0.00001]
    ] as const)
      for (const mode of [[], [null], ['Conservative']])
        expect(await result('blockchain.estimatefee', [blocks, ...mode], main), String(blocks)).to.equal(rate);
  });

  it('show no output as unspent that the pool spends, or that nobody can spend, in the pool as in the chain', async () => {
    const data = Buffer.from('6a0178', 'hex');
    const outputs = [
      [wallet.script, COINBASE_SATS - FEE_SATS],
      [data, 0]
    ] as const;
    const coinbase = wallet.fresh();
    const payment = signed(wallet.ring, [coinbase], outputs);
    await result('blockchain.transaction.broadcast', [hexOf(payment)]);
    expect(await result('blockchain.utxo.get_info', [txidOf(coinbase), 0])).to.equal(null);
    const shown = async (): Promise<boolean[]> =>
      Promise.all([0, 1].map(async (index) => (await result('blockchain.utxo.get_info', [txidOf(payment), index])) !== null));
    expect(await shown()).to.deep.equal([true, false]);
    await mine(served.node, 1);
    await served.settle();
    expect(await shown()).to.deep.equal([true, false]);
  });

  describe('cost', () => {
    /** Without what adding points up has changed of their last digits. */
    const rounded = (points: number): number => Number(points.toFixed(6));
    const cost = async (method: string, values: readonly unknown[]): Promise<number> => {
      const before = caller.points;
      await result(method, values);
      return rounded(caller.points - before);
    };
    const costs = async (methods: readonly string[]): Promise<number[]> => {
      const found: number[] = [];
      for (const method of methods) found.push(await cost(`blockchain.scripthash.${method}`, [script]));
      return found;
    };
    const countOf = async (method: string): Promise<number> =>
      ((await result(`blockchain.scripthash.${method}`, [script])) as unknown[]).length;

    it('what they read of a script, made anew and cached, without and with a part of the pool', async () => {
      for (const isSpent of [false, true]) {
        await mine(served.node, 1, undefined, wallet.ring.getAddress());
        await served.settle();
        if (isSpent) {
          const payment = wallet.paying([wallet.fresh()], COINBASE_SATS - FEE_SATS);
          expect(await cost('blockchain.transaction.broadcast', [hexOf(payment)])).to.equal(BROADCAST_POINTS);
        }
        const methods = ['get_history', 'get_mempool', 'listunspent', 'get_balance', 'subscribe'];
        const [anew, again] = [await costs(methods), await costs(methods)];
        const [rows, pooled, coins] = [await countOf('get_history'), await countOf('get_mempool'), await countOf('listunspent')];
        const expected = [
          rows * ROW_POINTS,
          pooled * ROW_POINTS,
          (coins + pooled) * COIN_POINTS,
          (rows - pooled) * COUNT_POINTS,
          // The status is computed from the history, which costs the same again.
          2 * rows * ROW_POINTS
        ].map(rounded);
        expect([anew, again]).to.deep.equal([expected, expected]);
        expect(await cost('blockchain.scripthash.get_history', [script, 1])).to.equal(rounded(rows * ROW_POINTS));
      }
      await mine(served.node, 1);
      await served.settle();
      expect(await cost('blockchain.scripthash.get_history', ['00'.repeat(32)])).to.equal(0);
    });

    it('as much for each transaction that is tested or sent, whatever becomes of it', async () => {
      const parent = wallet.paying([wallet.fresh()], COINBASE_SATS - FEE_SATS);
      const hexes = [parent, wallet.paying([parent], COINBASE_SATS - 2 * FEE_SATS)].map(hexOf);
      for (const method of ['testmempoolaccept', 'broadcast_package', 'broadcast_package'])
        expect(await cost(`blockchain.transaction.${method}`, [hexes]), method).to.equal(2 * BROADCAST_POINTS);
      await mine(served.node, 1);
      await served.settle();
    });

    it('what they read of one transaction or output', async () => {
      const id = txidOf(wallet.fresh());
      expect(await cost('blockchain.transaction.get', [id])).to.equal(TRANSACTION_POINTS);
      expect(await cost('blockchain.utxo.get_info', [id, 0])).to.equal(COIN_POINTS);
      for (const method of ['get_height', 'get_confirmed_blockhash'])
        expect(await cost(`blockchain.transaction.${method}`, [id]), method).to.equal(ROW_POINTS);
      expect(await cost('blockchain.scripthash.get_first_use', [script])).to.equal(ROW_POINTS);
    });

    it('the more of an outpoint, the more rows of its script were walked through for its spend, up to a limit', async () => {
      const coinbase = wallet.fresh();
      const outpoint = [txidOf(coinbase), 0, ''];
      const methods = ['get_status', 'subscribe'].map((name) => `blockchain.outpoint.${name}`);
      for (const method of methods) expect(await cost(method, outpoint), method).to.equal(TRANSACTION_POINTS);
      await result('blockchain.transaction.broadcast', [hexOf(wallet.paying([coinbase], COINBASE_SATS - FEE_SATS))]);
      await mine(served.node, 1);
      await served.settle();
      for (const method of methods) expect(await cost(method, outpoint), method).to.be.within(TRANSACTION_POINTS + COUNT_POINTS, 10);
    });

    it('more the more headers they read, and with proofs', async () => {
      expect(await cost('blockchain.block.headers', [0, 100])).to.be.above(await cost('blockchain.block.headers', [0, 10]));
      expect(await cost('blockchain.block.headers', [0, 10, 50])).to.be.above(await cost('blockchain.block.headers', [0, 10]));
      expect(await cost('blockchain.transaction.id_from_pos', [7, 0, true])).to.be.above(
        await cost('blockchain.transaction.id_from_pos', [7, 0])
      );
    });
  });
});
