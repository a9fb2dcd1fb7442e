// A wallet of BDK's that knows of the chain what it reads from our interface.

import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { caught } from '../support/expectations/caught';
import { withEarlyForks } from '../support/chain/early-forks';
import { KeyWallet } from '../support/chain/key-wallet';
import { BdkWallet, idsOf } from './bdk-wallet';
import { WalletNode } from './wallet-node';

const RECEIVED = 100_000_000;
const SENT = 30_000_000;
/** More than a page of a history. */
const PAYMENTS = 26;
const PAID = 20_000;

const TIMEOUT_MS = 300_000;

describe('a wallet of BDK’s', function () {
  this.timeout(TIMEOUT_MS);
  withEarlyForks();
  const seed = randomBytes(64);
  const [shop, bystander] = [new KeyWallet(), new KeyWallet()];
  let served: WalletNode;
  let wallet: BdkWallet;
  /** From the same seed. */
  let again: BdkWallet;
  let received: string;
  let sent: { readonly txid: string; readonly fee: number };

  before(async () => {
    served = await WalletNode.open(PAYMENTS + 2);
    wallet = await BdkWallet.open(served.port, seed);
  });
  after(async () => {
    await wallet.close();
    await again.close();
    await served.close();
  });

  const tip = (): number => served.node.chain.height;
  const left = (): number => RECEIVED - SENT - sent.fee;

  it('finds nothing that was ever paid to it, and the tip of the chain', async () => {
    const { total, height, transactions } = await wallet.fullScan();
    expect({ total, height, transactions }).to.deep.equal({ total: 0, height: tip(), transactions: [] });
  });

  it('receives: sees it in the pool, then in a block', async () => {
    received = await served.faucet.pays(await wallet.newAddress(), RECEIVED);
    const pooled = await wallet.sync();
    expect(pooled).to.containSubset({ confirmed: 0, total: RECEIVED, transactions: [{ txid: received, height: undefined }] });
    await served.confirm();
    const confirmed = await wallet.sync();
    expect(confirmed).to.containSubset({ confirmed: RECEIVED, total: RECEIVED, height: tip() });
    expect(confirmed.transactions).to.deep.equal([{ txid: received, height: tip(), block: confirmed.hash }]);
  });

  it('sends', async () => {
    sent = await wallet.send(shop.address, SENT);
    expect(await wallet.has(sent.txid)).to.equal(true);
    expect(await wallet.sync()).to.containSubset({ confirmed: 0, total: left() });
    await served.confirm();
    const state = await wallet.sync();
    expect(state).to.containSubset({ confirmed: left(), total: left() });
    expect(idsOf(state)).to.have.members([received, sent.txid]);
  });

  it('follows the chain to other blocks', async () => {
    const before = await wallet.sync();
    await served.takeBack(2, bystander.address);
    const after = await wallet.sync();
    expect(after.height).to.equal(tip());
    expect(after.hash).to.not.equal(before.hash);
    expect(after).to.containSubset({ confirmed: 0, total: left() });
    expect(after.transactions.map(({ height }) => height)).to.deep.equal([undefined, undefined]);
    await served.confirm();
    expect(await wallet.sync()).to.containSubset({ confirmed: left(), total: left(), height: tip() });
  });

  it('is told what the service does not have', async () => {
    expect(await wallet.has('ff'.repeat(32))).to.equal(false);
  });

  it('reads a history of more than one page, in the pool and in blocks, and finds all of it again from its seed', async () => {
    const address = await wallet.newAddress();
    const payments: string[] = [];
    while (payments.length < PAYMENTS) payments.push(await served.faucet.pays(address, PAID));
    expect(await wallet.sync()).to.containSubset({ confirmed: left(), total: left() + PAYMENTS * PAID });
    await served.confirm();
    again = await BdkWallet.open(served.port, seed);
    const state = await again.fullScan();
    expect(state).to.containSubset({ confirmed: left() + PAYMENTS * PAID, height: tip() });
    expect(idsOf(state)).to.have.members([received, sent.txid, ...payments]);
  });

  it('is told why a coin is not spent twice', async () => {
    // Needs all its coins.
    const { confirmed } = await wallet.sync();
    await wallet.send(shop.address, confirmed - PAID + 1_000);
    const error = await caught(again.send(shop.address, confirmed - PAID + 2_000));
    expect(String(error)).to.match(/sendrawtransaction RPC error: .*-26.*txn-mempool-conflict/);
  });
});
