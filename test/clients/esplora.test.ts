// Wallets of one key that know of the chain what the npm clients of Esplora's interface read from ours.

import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { caught } from '../support/expectations/caught';
import { withEarlyForks } from '../support/chain/early-forks';
import { KeyWallet, type SignedSpend } from '../support/chain/key-wallet';
import { ESPLORA_CLIENTS, refusalOf, type EsploraClient } from './esplora-clients';
import { WalletNode } from './wallet-node';

const RECEIVED = 100_000_000;
const SENT = 30_000_000;
const SENT_BACK = 1_000_000;
const TIMEOUT_MS = 300_000;

describe('wallets over clients of Esplora’s interface', () => {
  withEarlyForks();
  let served: WalletNode;

  before(async function () {
    this.timeout(TIMEOUT_MS);
    served = await WalletNode.open(2 * ESPLORA_CLIENTS.length);
  });
  after(() => served.close());

  for (const { name, connect } of ESPLORA_CLIENTS)
    describe(name, () => {
      const wallet = new KeyWallet();
      const { address } = wallet;
      const [shop, bystander] = [new KeyWallet(), new KeyWallet()];
      let client: EsploraClient;
      let received: string;
      let sent: SignedSpend;

      before(() => {
        client = connect(served.port);
      });

      const tip = (): number => served.node.chain.height;

      it('finds nothing at an address that nobody has used', async () => {
        expect(await client.totals(address)).to.deep.equal({ confirmed: 0, pooled: 0 });
        expect(await client.history(address)).to.deep.equal([]);
      });

      it('receives: sees it in the pool, then in a block', async () => {
        received = await served.faucet.pays(address, RECEIVED);
        expect(await client.totals(address)).to.deep.equal({ confirmed: 0, pooled: RECEIVED });
        expect(await client.history(address)).to.deep.equal([{ txid: received, height: undefined }]);
        await served.confirm();
        expect(await client.tipHeight()).to.equal(tip());
        expect(await client.totals(address)).to.deep.equal({ confirmed: RECEIVED, pooled: 0 });
        expect(await client.history(address)).to.deep.equal([{ txid: received, height: tip() }]);
      });

      it('sends what it has received', async () => {
        sent = wallet.sends(await client.transaction(received), RECEIVED, shop.address, SENT);
        expect(await client.send(sent.hex)).to.equal(sent.txid);
        expect(await client.totals(address)).to.deep.equal({ confirmed: RECEIVED, pooled: sent.change - RECEIVED });
        expect(await client.totals(shop.address)).to.deep.equal({ confirmed: 0, pooled: SENT });
        await served.confirm();
        expect(await client.totals(address)).to.deep.equal({ confirmed: sent.change, pooled: 0 });
        expect(await client.history(address)).to.deep.equal([
          { txid: sent.txid, height: tip() },
          { txid: received, height: tip() - 1 }
        ]);
      });

      it('is told why a coin is not spent twice', async () => {
        const twice = wallet.sends(await client.transaction(received), RECEIVED, shop.address, SENT_BACK);
        const { status, message } = refusalOf(await caught(client.send(twice.hex)));
        expect(status).to.equal(400);
        expect(message).to.match(/^sendrawtransaction RPC error: \{"code":-25,"message":"bad-txns-inputs-missingorspent"\}$/);
      });

      it('sees in the pool again what a reorganization took out of the chain, and in other blocks later', async () => {
        const replaced = await client.blockHash(tip());
        await served.takeBack(2, bystander.address);
        expect(await client.tipHeight()).to.equal(tip());
        expect(await client.blockHash(tip() - 1))
          .to.be.a('string')
          .that.does.not.equal(replaced);
        expect(await client.totals(address)).to.deep.equal({ confirmed: 0, pooled: sent.change });
        expect(await client.history(address)).to.have.deep.members([
          { txid: received, height: undefined },
          { txid: sent.txid, height: undefined }
        ]);
        await served.confirm();
        expect(await client.totals(address)).to.deep.equal({ confirmed: sent.change, pooled: 0 });
        expect(await client.history(address)).to.deep.equal([
          { txid: sent.txid, height: tip() },
          { txid: received, height: tip() }
        ]);
      });
    });
});
