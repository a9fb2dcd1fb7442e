// Electrum's own wallet, as Debian packages it, against the node: over TCP and over TLS.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { transactionFields, type TransactionFields } from '../bcoin-objects';
import { caught } from '../../support/expectations/caught';
import { withEarlyForks } from '../../support/chain/early-forks';
import { newFolder } from '../../support/process/folders';
import { KeyWallet } from '../../support/chain/key-wallet';
import { freePort } from '../../support/bcoin/regtest-node';
import { WalletNode } from '../wallet-node';
import { ElectrumDaemon, electrumVersion, inBitcoins, inSatoshis, MISSING } from './electrum-daemon';

const RECEIVED = 50_000_000;
const SENT = 30_000_000;
/** Satoshis for a virtual byte. */
const FEE_RATE = 20;
/** More than the wallet looks ahead. */
const PAYMENTS = 25;
const PAID = 100_000;
const TIMEOUT_MS = 60_000;

describe('Electrum', function () {
  this.timeout(TIMEOUT_MS);
  withEarlyForks();
  let folder: string | undefined;
  let served: WalletNode;
  let ports: { readonly t: number; readonly s: number };

  before(async function () {
    const version = await electrumVersion();
    if (version === undefined) {
      console.log(`      skipped: ${MISSING}`);
      this.skip();
    }
    folder = await newFolder();
    ports = { t: await freePort(), s: await freePort() };
    const settings = { 'rest-electrum': ports.t, 'rest-electrum-tls': ports.s };
    served = await WalletNode.open(2 * (PAYMENTS + 6), settings, join(folder, 'node'));
  });
  after(async () => {
    if (folder === undefined) return;
    await served.close();
  });

  for (const [way, letter] of [
    ['TCP', 't'],
    ['TLS', 's']
  ] as const)
    describe(`over ${way}`, () => {
      const [shop, bystander] = [new KeyWallet(), new KeyWallet()];
      let home: string;
      let wallet: ElectrumDaemon;
      let received: string;
      let sent: TransactionFields;
      /** What it has of the first payment, when it has paid. */
      let left: number;

      before(async () => {
        home = join(folder as string, letter); // made above
        wallet = await ElectrumDaemon.open(home, `127.0.0.1:${ports[letter]}:${letter}`);
      });
      after(() => wallet.close());

      const tip = (): number => served.node.chain.height;

      /** Until it knows of transactions at these heights; of those in the chain it has seen proofs. */
      const untilAt = (heights: Readonly<Record<string, number>>): Promise<void> =>
        wallet.until(async () => {
          const history = await wallet.history();
          return Object.entries(heights).every(([txid, height]) => {
            const found = history.get(txid);
            return found?.height === height && found.confirmations === Math.max(0, height > 0 ? tip() - height + 1 : 0);
          });
        });

      /** It makes some when others have been used some blocks ago. */
      const freshAddress = async (): Promise<string> => {
        let address = '';
        await wallet.until(async () => (address = (await wallet.call<string | null>('getunusedaddress')) ?? '') !== '');
        return address;
      };

      const payment = (satoshis: number): Promise<string> =>
        wallet.call('payto', { destination: shop.address, amount: inBitcoins(satoshis), feerate: FEE_RATE });

      it('creates a wallet that nobody has paid, and knows the tip of the chain', async () => {
        await wallet.call('create');
        await wallet.call('load_wallet');
        await wallet.until(() => wallet.call('is_synchronized'));
        expect(await wallet.totals()).to.deep.equal({ confirmed: 0, unconfirmed: 0 });
        expect(await wallet.info()).to.deep.include({ connected: true, blockchain_height: tip(), server_height: tip() });
        if (letter === 's') expect(await readdir(join(home, 'regtest/certs'))).to.deep.equal(['127.0.0.1']);
      });

      it('receives: is told of it in the pool, then in a block', async () => {
        received = await served.faucet.pays(await freshAddress(), RECEIVED);
        await untilAt({ [received]: 0 });
        expect(await wallet.totals()).to.deep.equal({ confirmed: 0, unconfirmed: RECEIVED });
        await served.confirm();
        await untilAt({ [received]: tip() });
        expect(await wallet.totals()).to.deep.equal({ confirmed: RECEIVED, unconfirmed: 0 });
      });

      it('pays, and is told why a coin is not spent twice', async () => {
        const [once, twice] = [await payment(SENT), await payment(SENT + 1)];
        sent = transactionFields(Buffer.from(once, 'hex'));
        expect(await wallet.call('broadcast', [once])).to.equal(sent.txid);
        expect(String(await caught(wallet.call('broadcast', [twice])))).to.include('txn-mempool-conflict');
        await untilAt({ [sent.txid]: 0 });
        left = sent.vout.reduce((sum, { value }) => sum + inSatoshis(String(value)), 0) - SENT;
        // It counts its own change as confirmed.
        expect(await wallet.totals()).to.deep.equal({ confirmed: left, unconfirmed: 0 });
        const [pooled] = await wallet.call<readonly object[]>('getaddresshistory', [shop.address]);
        expect(pooled).to.deep.include({ tx_hash: sent.txid, height: 0 });
        await served.confirm();
        await untilAt({ [sent.txid]: tip() });
      });

      it('asks about others, and is answered from the chain', async () => {
        const { address } = shop;
        expect(await wallet.call('getaddresshistory', [address])).to.deep.equal([{ tx_hash: sent.txid, height: tip() }]);
        expect(await wallet.call('getaddressbalance', [address])).to.deep.equal({ confirmed: inBitcoins(SENT), unconfirmed: '0' });
        const [coin, ...others] = await wallet.call<readonly object[]>('getaddressunspent', [address]);
        expect(others).to.deep.equal([]);
        expect(coin).to.deep.include({ tx_hash: sent.txid, height: tip(), value: SENT });
        expect(await wallet.call('gettransaction', [sent.txid])).to.equal(sent.hex);
      });

      it('sees in the pool again what a reorganization took out of the chain, and in another block later', async () => {
        await served.takeBack(2, bystander.address);
        await untilAt({ [received]: 0, [sent.txid]: -1 });
        await wallet.until(async () => (await wallet.info()).blockchain_height === tip());
        await served.confirm();
        await untilAt({ [received]: tip(), [sent.txid]: tip() });
        expect(await wallet.totals()).to.deep.equal({ confirmed: left, unconfirmed: 0 });
      });

      it('connects again to a node that was started again', async () => {
        await served.restart();
        const txid = await served.faucet.pays(await freshAddress(), PAID);
        await untilAt({ [txid]: 0 });
        await served.confirm();
        await untilAt({ [txid]: tip() });
        expect(await wallet.info()).to.deep.include({ connected: true, blockchain_height: tip() });
      });

      it('finds all that it was ever paid again from its seed', async () => {
        for (let paid = 0; paid < PAYMENTS; paid++) {
          const txid = await served.faucet.pays(await freshAddress(), PAID);
          await served.confirm();
          await untilAt({ [txid]: tip() });
        }
        const all = { confirmed: left + (PAYMENTS + 1) * PAID, unconfirmed: 0 };
        const path = join(home, 'again');
        await wallet.call('restore', { text: await wallet.call('getseed'), wallet_path: path });
        await wallet.call('load_wallet', { wallet_path: path });
        // It looks at some addresses, then at those behind them.
        for (const each of [undefined, path]) {
          await wallet.until(async () => (await wallet.totals(each)).confirmed === all.confirmed);
          expect(await wallet.totals(each)).to.deep.equal(all);
        }
      });
    });
});
