// Imported first: bcoin 1.0.2 cannot read its pool from the disk otherwise.
import '../../plugin/leveldown-6';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { SCRIPT_ERRORS } from '../../lib/taproot/script-error';
import { bcoin, type TestFullNode } from '../support/bcoin/bcoin';
import { caught } from '../support/expectations/caught';
import { withEarlyForks } from '../support/chain/early-forks';
import { newFolder } from '../support/process/folders';
import { LineClient } from '../support/client/line-client';
import { openModernNode, type ModernNode } from '../support/bcoin/modern-node';
import { freePort, mine, mineOnly } from '../support/bcoin/regtest-node';
import { RpcCaller } from '../support/client/rpc';
import { ServedNode } from '../support/node/served-node';
import { until } from '../support/expectations/until';
import { byKey, byScript, coinOf, payment, wrongly, type TaprootCoin } from '../taproot/spent-coins';
import type { BcoinNode } from '../../lib/node/bcoin';
import type { HostTransaction } from '../../lib/node/host';

const MATURITY = 100;
const COINS = 40;

const txidOf = (transaction: HostTransaction): string => toDisplayHex(transaction.hash());
const hexOf = (transaction: HostTransaction): string => transaction.toRaw().toString('hex');

/** Why a wrong spend of a coin is refused. */
const refusalOf = (transaction: HostTransaction, { outpoint }: TaprootCoin): string =>
  `mempool-script-verify-flag-failed (${SCRIPT_ERRORS.SCHNORR_SIG}), input 0 of ${txidOf(transaction)} ` +
  `(wtxid ${toDisplayHex(transaction.witnessHash())}), spending ${toDisplayHex(outpoint.subarray(0, 32))}:${outpoint.readUInt32LE(32)}`;

describe('spends of taproot outputs', function () {
  this.timeout(120_000);
  withEarlyForks();
  const ring = bcoin.KeyRing.generate();
  let prefix: string;
  let electrum: number;
  let p2p: number;
  let served: ServedNode;
  let coins: TaprootCoin[];
  /** A right spend, and a wrong one of another coin. */
  let [right, wrong]: HostTransaction[] = [];
  let refusal: string;

  const open = (): Promise<ServedNode> => {
    const pool = { 'rest-pool': 'modern', 'require-standard': true, 'persistent-mempool': true };
    const network = { listen: true, host: '127.0.0.1', port: p2p, 'no-auth': true, 'rest-electrum': electrum };
    return ServedNode.open(
      { prefix, settings: { 'rest-core': 'modern', 'rest-deprecated': 'fullrbf', ...pool, ...network } },
      { inMemory: false }
    );
  };

  before(async () => {
    prefix = await newFolder();
    [electrum, p2p] = [await freePort(), await freePort()];
    served = await open();
    const [block] = await mine(served.node, 1 + MATURITY, undefined, ring.getAddress());
    const paid = payment(block?.txs[0] ?? expect.fail('a coinbase'), ring, COINS);
    ({ coins } = paid);
    await mineOnly(served.node, [paid.transaction]);
    await served.settle();
  });
  after(() => served.close());
  beforeEach(() => {
    const [coin, other] = coins.splice(0, 2) as [TaprootCoin, TaprootCoin];
    [right, wrong] = [byKey([coin]), wrongly([other])];
    refusal = refusalOf(wrong, other);
  });

  const hasIn = ({ pool }: Pick<BcoinNode, 'pool'>, transaction = right): boolean =>
    pool.transaction((transaction as HostTransaction).hash()) !== undefined;
  const isPooled = (transaction = right): boolean => hasIn(served.source, transaction);
  const expectOnlyRight = (): void => {
    expect([right, wrong].map(isPooled)).to.deep.equal([true, false]);
  };

  it('come over JSON-RPC', async () => {
    const rpc = new RpcCaller(served.port);
    expect(await rpc.call('testmempoolaccept', [hexOf(right as HostTransaction)])).to.have.nested.property('[0].allowed', true);
    expect(await rpc.call('sendrawtransaction', hexOf(right as HostTransaction))).to.equal(txidOf(right as HostTransaction));
    const [reason, ...details] = refusal.split(', ');
    expect(await rpc.call('testmempoolaccept', [hexOf(wrong as HostTransaction)]))
      .to.have.nested.property('[0]')
      .that.deep.includes({
        allowed: false,
        'reject-reason': reason,
        'reject-details': [reason, ...details].join(', ')
      });
    expect(await rpc.failure('sendrawtransaction', [hexOf(wrong as HostTransaction)])).to.deep.equal({ code: -26, message: refusal });
    expect(await rpc.call('getmempoolinfo')).to.include({
      minrelaytxfee: 0.000001,
      incrementalrelayfee: 0.000001,
      maxdatacarriersize: 100_000,
      limitclustercount: 64,
      limitclustersize: 101_000,
      fullrbf: true
    });
    expectOnlyRight();
  });

  it("come over bcoin's own call, which says when one is refused", async () => {
    const { rpc } = served.node as unknown as { readonly rpc: { execute(call: object, help: boolean): Promise<unknown> } };
    const send = (transaction: HostTransaction): Promise<unknown> =>
      rpc.execute({ method: 'sendrawtransaction', params: [hexOf(transaction)] }, false);
    expect(await send(right as HostTransaction)).to.equal(txidOf(right as HostTransaction));
    expect(await caught(send(wrong as HostTransaction))).to.deep.include({ code: -26, message: refusal });
    expectOnlyRight();
  });

  it('come over Esplora’s API', async () => {
    const post = (transaction: HostTransaction) => served.get('/tx', { method: 'POST', body: Buffer.from(hexOf(transaction)) });
    expect((await post(right as HostTransaction)).body.toString()).to.equal(txidOf(right as HostTransaction));
    const { status, body } = await post(wrong as HostTransaction);
    expect([status, body.toString()]).to.deep.equal([400, `sendrawtransaction RPC error: {"code":-26,"message":"${refusal}"}`]);
    expectOnlyRight();
  });

  it('come over the Electrum protocol', async () => {
    const client = await LineClient.connect(electrum);
    try {
      await client.ask('server.version', ['test', '1.4']);
      const send = (transaction: HostTransaction) => client.ask('blockchain.transaction.broadcast', [hexOf(transaction)]);
      expect((await send(right as HostTransaction)).result).to.equal(txidOf(right as HostTransaction));
      expect((await send(wrong as HostTransaction)).error?.message).to.include(refusal);
    } finally {
      client.socket.destroy();
    }
    expectOnlyRight();
  });

  it('come from peers, and go to them; who sends a wrong one is banned', async () => {
    const peer = await peerOf(served, p2p);
    const [own] = coins.splice(0, 1) as [TaprootCoin];
    const ours = byScript([own]);
    try {
      await served.node.connect();
      await peer.host.connect();
      await peer.node.broadcast((right as HostTransaction).toRaw());
      await until(() => announced(peer.host, right as HostTransaction, isPooled));
      await served.source.broadcast(ours.toRaw());
      await until(() => announced(served.node, ours, () => hasIn(peer.node, ours)));
      const { banned } = (served.node.pool as unknown as { readonly hosts: { readonly banned: ReadonlyMap<string, number> } }).hosts;
      // Its own pool would not take it: it is announced without.
      void peer.host.broadcast(wrong as HostTransaction).catch(() => undefined);
      await until(() => banned.size > 0);
      expectOnlyRight();
    } finally {
      await peer.host.close();
    }
  });

  it('are there again after a restart, with what spends from them', async () => {
    const child = byScript([coinOf(right as HostTransaction, 0)]);
    for (const transaction of [right as HostTransaction, child]) await served.source.broadcast(transaction.toRaw());
    await served.close();
    served = await open();
    expect([right, child].map(isPooled)).to.deep.equal([true, true]);
    expectOnlyRight();
    const bumped = byKey([coinOf(right as HostTransaction, 0)], 2_000);
    await served.source.broadcast(bumped.toRaw());
    expect([child, bumped].map(isPooled)).to.deep.equal([false, true]);
  });

  it('come back from blocks that have left the chain, but for wrong ones, which bcoin takes', async () => {
    const fork = served.node.chain.tip;
    await mineOnly(served.node, [right, wrong] as HostTransaction[]);
    expect([right, wrong].map(isPooled)).to.deep.equal([false, false]);
    await mineOnly(served.node, [], await mineOnly(served.node, [], fork));
    expectOnlyRight();
  });
});

/** Announces a transaction until it has come: the nodes may not have connected yet. */
async function announced({ pool }: TestFullNode, transaction: HostTransaction, hasCome: () => boolean): Promise<boolean> {
  pool.announceTX(transaction);
  await setTimeout(10);
  return hasCome();
}

/** Another node with today's pool on the same chain, which connects to this one only. */
async function peerOf({ node }: ServedNode, port: number): Promise<ModernNode> {
  const peer = await openModernNode({ settings: { only: [`127.0.0.1:${port}`], requireStandard: true } });
  for (let height = 1; height <= node.chain.tip.height; height++) {
    const entry = (await node.chain.getEntryByHeight(height)) ?? expect.fail('a block');
    const raw = (await node.chain.getRawBlock(entry.hash)) ?? expect.fail('a block');
    await peer.host.chain.add(bcoin.Block.fromRaw(raw));
  }
  return peer;
}
