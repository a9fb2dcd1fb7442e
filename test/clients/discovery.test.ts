// A wallet of a descriptor that @bitcoinerlab/discovery 1.3.1 fills, over @bitcoinerlab/explorer 1.0.0, from our interface.

import { DiscoveryFactory, type DiscoveryInstance } from '@bitcoinerlab/discovery';
import { EsploraExplorer } from '@bitcoinerlab/explorer';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { bcoin } from '../support/bcoin/bcoin';
import { caught } from '../support/expectations/caught';
import { withEarlyForks } from '../support/chain/early-forks';
import { KeyWallet, type SignedSpend } from '../support/chain/key-wallet';
import { REGTEST } from './electrum-clients';
import { WalletNode } from './wallet-node';

const RECEIVED = 100_000_000;
const SENT = 30_000_000;
const GAP = 3;
const TIMEOUT_MS = 300_000;

describe('a wallet of @bitcoinerlab/discovery', function () {
  this.timeout(TIMEOUT_MS);
  withEarlyForks();
  const account = bcoin.HDPrivateKey.generate();
  // Bitcoin Core's regtest spells keys as its test network does.
  const descriptor = `wpkh(${account.xpubkey('testnet')}/0/*)`;
  const keyAt = (index: number): KeyWallet => new KeyWallet(bcoin.KeyRing.fromPrivate(account.derive(0).derive(index).privateKey, true));
  const [first, second] = [keyAt(0), keyAt(GAP)];
  const [shop, bystander] = [new KeyWallet(), new KeyWallet()];
  let served: WalletNode;
  let explorer: EsploraExplorer;
  let discovery: DiscoveryInstance;
  let received: readonly string[];
  let sent: SignedSpend;

  before(async () => {
    served = await WalletNode.open(3);
    explorer = new EsploraExplorer({ url: `http://127.0.0.1:${served.port}/api` });
    await explorer.connect();
    const { Discovery } = DiscoveryFactory(explorer, REGTEST);
    discovery = new Discovery();
  });
  after(async () => {
    explorer.close();
    await served.close();
  });

  const tip = (): number => served.node.chain.height;

  /** What it has learned, and what it owns. */
  async function fetched(): Promise<{
    readonly heights: Readonly<Record<string, number>>;
    readonly balance: number;
    readonly coins: number;
  }> {
    await discovery.fetch({ descriptor, gapLimit: GAP });
    const { balance, utxos } = discovery.getUtxosAndBalance({ descriptor });
    const history = discovery.getHistory({ descriptor }, true) as readonly { readonly txId: string; readonly blockHeight: number }[];
    return { heights: Object.fromEntries(history.map(({ txId, blockHeight }) => [txId, blockHeight])), balance, coins: utxos.length };
  }

  it('finds nothing in the first addresses', async () => {
    expect(await fetched()).to.deep.equal({ heights: {}, balance: 0, coins: 0 });
    expect(await explorer.isConnected()).to.equal(true);
  });

  it('receives at addresses with a gap between them: sees it in the pool, then in a block', async () => {
    received = [await served.faucet.pays(first.address, RECEIVED), await served.faucet.pays(second.address, RECEIVED)];
    const [a = '', b = ''] = received;
    expect(await fetched()).to.deep.equal({ heights: { [a]: 0, [b]: 0 }, balance: 2 * RECEIVED, coins: 2 });
    await served.confirm();
    expect(await fetched()).to.deep.equal({ heights: { [a]: tip(), [b]: tip() }, balance: 2 * RECEIVED, coins: 2 });
  });

  it('sends', async () => {
    const [txId = ''] = received;
    sent = first.sends(discovery.getTxHex({ txId }), RECEIVED, shop.address, SENT);
    await discovery.push({ txHex: sent.hex });
    expect(await fetched()).to.deep.include({ balance: RECEIVED + sent.change, coins: 2 });
    await served.confirm();
    const { heights, balance } = await fetched();
    expect({ height: heights[sent.txid], balance }).to.deep.equal({ height: tip(), balance: RECEIVED + sent.change });
  });

  it('is told why a coin is not spent twice', async () => {
    const [txId = ''] = received;
    const twice = first.sends(discovery.getTxHex({ txId }), RECEIVED, shop.address, SENT + 1);
    expect(String(await caught(discovery.push({ txHex: twice.hex })))).to.match(/"code":-25,"message":"bad-txns-inputs-missingorspent"/);
  });

  it('sees in the pool again what a reorganization took out of the chain, and in another block later', async () => {
    await served.takeBack(2, bystander.address);
    const [a = '', b = ''] = received;
    const all = { balance: RECEIVED + sent.change, coins: 2 };
    expect(await fetched()).to.deep.equal({ heights: { [a]: 0, [b]: 0, [sent.txid]: 0 }, ...all });
    await served.confirm();
    expect(await fetched()).to.deep.equal({ heights: { [a]: tip(), [b]: tip(), [sent.txid]: tip() }, ...all });
  });
});
