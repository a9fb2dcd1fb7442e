// A wallet of BDK's with taproot addresses, on a node with today's pool.

import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { caught } from '../support/expectations/caught';
import { withEarlyForks } from '../support/chain/early-forks';
import { KeyWallet } from '../support/chain/key-wallet';
import { BdkWallet, idsOf } from './bdk-wallet';
import { WalletNode } from './wallet-node';

const RECEIVED = 100_000_000;
const SENT = 30_000_000;
const [LOW, HIGH] = [2, 10];

const TIMEOUT_MS = 120_000;
/** It tells which of two transactions is newer by the second. */
const NEWER_MS = 1100;

describe('a wallet of BDK’s with taproot addresses', function () {
  this.timeout(TIMEOUT_MS);
  withEarlyForks();
  const seed = randomBytes(64);
  const shop = new KeyWallet();
  let served: WalletNode;
  let wallet: BdkWallet;
  /** From the same seed; it knows of the wallet's first payment, and of nothing that the wallet sends. */
  let again: BdkWallet;
  let received: string;

  before(async () => {
    served = await WalletNode.open(4, { 'rest-pool': 'modern' });
    wallet = await BdkWallet.open(served.port, seed, 'p2tr');
    again = await BdkWallet.open(served.port, seed, 'p2tr');
  });
  after(async () => {
    await wallet.close();
    await again.close();
    await served.close();
  });

  it('receives and sends', async () => {
    received = await served.faucet.pays(await wallet.newAddress(), RECEIVED);
    await served.confirm();
    expect(await wallet.sync()).to.containSubset({ confirmed: RECEIVED, total: RECEIVED });
    expect(await again.fullScan()).to.containSubset({ confirmed: RECEIVED, total: RECEIVED });
    const { txid, fee } = await wallet.send(shop.address, SENT, LOW);
    const state = await wallet.sync();
    expect(state).to.containSubset({ confirmed: 0, total: RECEIVED - SENT - fee });
    expect(idsOf(state)).to.have.members([received, txid]);
  });

  it('pays more for what it has sent: the first transaction is gone', async () => {
    const [first] = idsOf(await wallet.sync()).filter((txid) => txid !== received);
    expect(String(await caught(again.send(shop.address, SENT + 1, LOW)))).to.match(/-26.*insufficient fee, rejecting replacement/);
    await delay(NEWER_MS);
    const { txid, fee } = await again.send(shop.address, SENT, HIGH);
    expect(await wallet.has(first ?? '')).to.equal(false);
    const state = await wallet.sync();
    expect(state).to.containSubset({ total: RECEIVED - SENT - fee });
    expect(idsOf(state)).to.have.members([received, txid]);
    await served.confirm();
    expect(await wallet.sync()).to.containSubset({ confirmed: RECEIVED - SENT - fee, total: RECEIVED - SENT - fee });
  });

  it('pays for a payment that it waits for with another that spends it', async () => {
    const before = await wallet.sync();
    const paid = await served.faucet.pays(await wallet.newAddress(), SENT);
    expect(await wallet.sync()).to.containSubset({ total: before.total + SENT });
    const { txid, fee } = await wallet.sweep(await wallet.newAddress(), HIGH);
    const state = await wallet.sync();
    expect(state).to.containSubset({ confirmed: 0, total: before.total + SENT - fee });
    await served.confirm();
    const after = await wallet.sync();
    expect(after).to.containSubset({ confirmed: state.total, total: state.total });
    expect(idsOf(after)).to.include.members([paid, txid]);
  });
});
