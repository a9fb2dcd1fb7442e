// Electrum's own wallet changes what it has sent, on a node with today's pool.

import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { transactionFields } from '../bcoin-objects';
import { caught } from '../../support/expectations/caught';
import { withEarlyForks } from '../../support/chain/early-forks';
import { newFolder } from '../../support/process/folders';
import { KeyWallet } from '../../support/chain/key-wallet';
import { freePort } from '../../support/bcoin/regtest-node';
import { WalletNode } from '../wallet-node';
import { ElectrumDaemon, electrumVersion, inBitcoins, MISSING } from './electrum-daemon';

const RECEIVED = 50_000_000;
const SENT = 30_000_000;
/** Satoshis for a virtual byte. */
const [LOW, HIGH] = [2, 20];
const TIMEOUT_MS = 60_000;

describe('Electrum, which changes what it has sent', function () {
  this.timeout(TIMEOUT_MS);
  withEarlyForks();
  const shop = new KeyWallet();
  let served: WalletNode | undefined;
  let wallet: ElectrumDaemon;

  before(async function () {
    if ((await electrumVersion()) === undefined) {
      console.log(`      skipped: ${MISSING}`);
      this.skip();
    }
    const [folder, port] = [await newFolder(), await freePort()];
    served = await WalletNode.open(4, { 'rest-electrum': port, 'rest-pool': 'modern' }, join(folder, 'node'));
    wallet = await ElectrumDaemon.open(join(folder, 'wallet'), `127.0.0.1:${port}:t`);
    await wallet.call('create');
    await wallet.call('load_wallet');
    await wallet.until(() => wallet.call('is_synchronized'));
  });
  after(async () => {
    if (served === undefined) return;
    await wallet.close();
    await served.close();
  });

  const payment = (destination: string, feerate: number, satoshis = SENT): Promise<string> =>
    wallet.call('payto', { destination, amount: inBitcoins(satoshis), feerate });

  const broadcast = async (hex: string): Promise<string> => {
    const { txid } = transactionFields(Buffer.from(hex, 'hex'));
    expect(await wallet.call('broadcast', [hex])).to.equal(txid);
    return txid;
  };

  /** Until it knows of some transactions that are in the pool or in blocks, and of no others. */
  const untilKnown = (...txids: readonly string[]): Promise<void> =>
    wallet.until(async () => {
      const known = [...(await wallet.history()).values()].filter(({ height }) => height >= -1).map(({ txid }) => txid);
      return [...known].sort().join() === [...txids].sort().join();
    });

  const receive = async (node: WalletNode): Promise<string> => {
    const txid = await node.faucet.pays(await wallet.call('getunusedaddress'), RECEIVED);
    await node.confirm();
    await wallet.until(async () => ((await wallet.history()).get(txid)?.confirmations ?? 0) > 0);
    return txid;
  };

  it('pays more for it', async () => {
    const node = served as WalletNode; // opened above
    const received = await receive(node);
    // All spend the same coin: it signs without sending. Debian's version has no `bumpfee` any more.
    const [paid, same, more] = [
      await payment(shop.address, LOW),
      await payment(shop.address, LOW, SENT + 1),
      await payment(shop.address, HIGH)
    ];
    const first = await broadcast(paid);
    await untilKnown(received, first);
    expect(String(await caught(wallet.call('broadcast', [same])))).to.include('insufficient fee');
    const better = await broadcast(more);
    await untilKnown(received, better);
    await node.confirm();
    await wallet.until(async () => (await wallet.history()).get(better)?.confirmations === 1);
  });

  it('takes it back', async () => {
    const node = served as WalletNode; // opened above
    const [before] = [await wallet.history(), await receive(node)];
    const own = await wallet.call<string>('getunusedaddress');
    const [paid, back] = [await payment(shop.address, LOW), await payment(own, HIGH)];
    const known = [...(await wallet.history()).keys()];
    expect(known).to.have.length(before.size + 1);
    const first = await broadcast(paid);
    await untilKnown(...known, first);
    const second = await broadcast(back);
    await untilKnown(...known, second);
    await node.confirm();
    await wallet.until(async () => (await wallet.history()).get(second)?.confirmations === 1);
  });
});
