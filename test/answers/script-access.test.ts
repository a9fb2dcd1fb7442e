import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { FEE, PayingWallet } from '../support/chain/paying-wallet';
import { mine } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { until } from '../support/expectations/until';

const VALUE = 1_000_000;

describe('scripts for other plugins of the node', () => {
  let served: RestNode;
  let wallet: PayingWallet;

  before(async () => {
    served = await openRestNode({ settings: { 'rest-addresses': true } });
    await untilReady(served);
    await served.node.connect();
    wallet = await PayingWallet.on(served.node);
  });
  after(() => served.node.close());

  it('have a history, coins, sums, and a status that changes', async () => {
    const scripts = served.rest.scripts ?? expect.fail('what answers');
    const till = wallet.tillScript;
    const told: (string | undefined)[] = [];
    const subscription = scripts.subscribe$(till).subscribe((status) => told.push(status?.toString('hex')));
    await until(() => told.length === 1);
    expect(told).to.deep.equal([undefined]);

    const paying = wallet.sends(0, till, VALUE);
    await served.node.mempool.addTX(paying);
    await until(() => told.length === 2);
    const txid = toDisplayHex(paying.hash());
    const shown = async (): Promise<unknown> =>
      (await scripts.history(till)).map(({ txid: id, ...rest }) => ({ txid: toDisplayHex(id), ...rest }));
    const coins = async (): Promise<unknown> =>
      (await scripts.coins(till)).map(({ txid: id, ...rest }) => ({ txid: toDisplayHex(id), ...rest }));
    const none = { transactions: 0, funded: { count: 0, value: 0 }, spent: { count: 0, value: 0 } };
    const one = { transactions: 1, funded: { count: 1, value: VALUE }, spent: { count: 0, value: 0 } };
    expect(await shown()).to.deep.equal([{ txid, height: 0, fee: FEE }]);
    expect(await coins()).to.deep.equal([{ txid, index: 0, value: VALUE, height: 0 }]);
    expect(await scripts.stats(till)).to.deep.equal({ chain: none, pool: one });

    await mine(served.node, 1);
    const { height } = served.node.chain;
    await until(() => told.length === 3);
    expect(await shown()).to.deep.equal([{ txid, height }]);
    expect(await coins()).to.deep.equal([{ txid, index: 0, value: VALUE, height }]);
    expect(await scripts.stats(till)).to.deep.equal({ chain: one, pool: none });
    expect(new Set(told)).to.have.property('size', 3);

    subscription.unsubscribe();
    await served.node.mempool.addTX(wallet.takes(paying, 0, VALUE - FEE));
    await until(async () => (await scripts.coins(till)).length === 0);
    expect(told).to.have.length(3);
  });
});
