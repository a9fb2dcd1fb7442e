import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { PoolFees } from '../../lib/answers/pool/fees';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { EsploraRequest } from '../../lib/esplora/endpoint';
import { feeRoutes } from '../../lib/esplora/endpoints/fees';
import { BcoinNode } from '../../lib/node/bcoin';
import { ScriptPool } from '../../lib/pool/by-script/script-pool';
import { nodeWith } from '../support/bcoin/changed-node';
import { COINBASE_SATS, FEE_SATS } from '../support/chain/coinbases';
import { ServedNode } from '../support/node/served-node';
import { mineCoinbases, spend } from '../support/chain/regtest-chain';
import { mine, openRegtestNode } from '../support/bcoin/regtest-node';
import { unfailing } from '../support/expectations/unfailing';
import type { HostTransaction } from '../../lib/node/host';

describe('the pool over Esplora’s interface', () => {
  let served: ServedNode;
  let coinbases: HostTransaction[];
  /** Transactions of the pool, in the order of entering. */
  let pooled: HostTransaction[];

  const json = async (path: string): Promise<string> => {
    const { status, contentType, body } = await served.get(path);
    expect([status, contentType]).to.deep.equal([200, 'application/json']);
    return body.toString();
  };
  const listed = (txids: readonly Buffer[]): string => JSON.stringify(txids.map(toDisplayHex));
  const vsizeOf = (transaction: HostTransaction): number => Math.ceil(transaction.getWeight() / 4);
  const recentText = (transaction: HostTransaction, value: number): string =>
    `{"txid":"${toDisplayHex(transaction.hash())}","fee":${FEE_SATS},"vsize":${vsizeOf(transaction)},"value":${value}}`;

  before(async () => {
    served = await ServedNode.open();
    coinbases = await mineCoinbases(served.node, 105);
    await served.settle();
  });
  after(() => served.node.close());

  it('is empty at first', async () => {
    const paths = ['/mempool', '/mempool/txids', '/mempool/txids/page', '/mempool/recent', '/fee-estimates'];
    expect(await Promise.all(paths.map(json))).to.deep.equal([
      '{"count":0,"vsize":0,"total_fee":0,"fee_histogram":[]}',
      '[]',
      '[]',
      '[]',
      '{}'
    ]);
  });

  it('says how long each of its replies may be cached', async () => {
    const paths = [
      '/mempool',
      '/mempool/txids',
      '/mempool/txids/page',
      `/mempool/txids/page/${'0'.repeat(64)}`,
      '/mempool/recent',
      '/fee-estimates'
    ];
    const replies = await Promise.all(paths.map((path) => served.get(path)));
    expect(replies.map(({ headers }) => headers['cache-control'])).to.deep.equal(
      [10, 10, 10, 10, 5, 10].map((seconds) => `public, max-age=${seconds}`)
    );
  });

  it('shows what has entered, at once', async () => {
    pooled = [];
    for (const coinbase of coinbases.slice(0, 3)) {
      const value = COINBASE_SATS;
      pooled.push(await spend(served.node, coinbase, value));
      const vsize = pooled.reduce((sum, transaction) => sum + vsizeOf(transaction), 0);
      const lowest = Math.min(...pooled.map((transaction) => FEE_SATS / (transaction.getWeight() / 4)));
      expect(await json('/mempool')).to.equal(
        `{"count":${pooled.length},"vsize":${vsize},"total_fee":${pooled.length * FEE_SATS},"fee_histogram":[[${lowest},${vsize}]]}`
      );
      expect(await json('/mempool/txids')).to.equal(listed(pooled.map((transaction) => transaction.hash())));
      const recent = [...pooled].reverse().map((transaction) => recentText(transaction, value));
      expect(await json('/mempool/recent')).to.equal(`[${recent.join(',')}]`);
    }
  });

  it('lists its txids in the order of their bytes, page by page', async () => {
    const inOrder = pooled.map((transaction) => transaction.hash()).sort((a, b) => Buffer.compare(a, b));
    const [first, second] = inOrder as [Buffer, Buffer];
    const behind = Buffer.from(second);
    behind[31] = ((behind[31] ?? 0) + 1) & 0xff;
    expect(await json('/mempool/txids/page')).to.equal(listed(inOrder));
    expect(await json('/mempool/txids/page?max_txs=2')).to.equal(listed(inOrder.slice(0, 2)));
    expect(await json('/mempool/txids/page?max_txs=0')).to.equal('[]');
    expect(await json('/mempool/txids/page?max_txs=x')).to.equal(listed(inOrder));
    expect(await json(`/mempool/txids/page/${toDisplayHex(first)}`)).to.equal(listed(inOrder.slice(1)));
    expect(await json(`/mempool/txids/page/${toDisplayHex(first)}?max_txs=1`)).to.equal(listed(inOrder.slice(1, 2)));
    // A page may begin after a txid that is not in the pool.
    expect(await json(`/mempool/txids/page/${toDisplayHex(behind)}`)).to.equal(
      listed(inOrder.filter((txid) => Buffer.compare(txid, behind) > 0))
    );
    expect(await json(`/mempool/txids/page/${'f'.repeat(64)}`)).to.equal('[]');
    expect(await json('/mempool/txids/page/xx')).to.equal(listed(inOrder));
  });

  it('loses what a block confirms, but not from the recent transactions', async () => {
    await mine(served.node, 1);
    await served.settle();
    expect(await json('/mempool')).to.equal('{"count":0,"vsize":0,"total_fee":0,"fee_histogram":[]}');
    expect(await json('/mempool/txids')).to.equal('[]');
    expect(JSON.parse(await json('/mempool/recent'))).to.have.length(3);
  });
});

describe('fee estimates over Esplora’s interface', () => {
  it('are floats by number of blocks, and stay the same for a minute', async () => {
    const host = await openRegtestNode();
    const regtest = new BcoinNode(host);
    let rate = 12_345;
    const node = nodeWith(regtest, {
      network: { ...regtest.network, chain: 'main' },
      estimateFee: (blocks) => (blocks <= 2 ? { rate, blocks } : undefined)
    });
    const pool = new ScriptPool(node.pool, unfailing);
    const [route] = feeRoutes({ fees: new PoolFees(node, pool) });
    const request = new EsploraRequest(new Map(), '', Buffer.alloc(0), { destroyed: false });
    const expected = '{"1":12.345,"2":12.345,"144":1.0,"504":1.0,"1008":1.0}';
    expect((await route?.endpoint(request))?.body.toString()).to.equal(expected);
    rate = 1;
    expect((await route?.endpoint(request))?.body.toString()).to.equal(expected);
    await host.close();
  });
});
