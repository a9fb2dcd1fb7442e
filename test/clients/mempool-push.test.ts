// A wallet over mempool.js, as it is published: it is told of what concerns it, and asks for the rest.

import { once } from 'node:events';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { withEarlyForks } from '../support/chain/early-forks';
import { KeyWallet } from '../support/chain/key-wallet';
import { PushClient } from '../support/client/push-client';
import { mempoolJs, type MempoolJs } from './esplora-clients';
import { WalletNode } from './wallet-node';

const RECEIVED = 100_000_000;
const TIMEOUT_MS = 60_000;

interface ToldTransaction {
  readonly txid: string;
  readonly status: { readonly confirmed: boolean; readonly block_height?: number };
}

describe('a wallet over mempool.js 3.0.0', () => {
  withEarlyForks();
  const [wallet, other, bystander] = [new KeyWallet(), new KeyWallet(), new KeyWallet()];
  let served: WalletNode;
  let bitcoin: MempoolJs;
  let client: PushClient;
  let received: string;

  before(async function () {
    this.timeout(TIMEOUT_MS);
    served = await WalletNode.open(10);
    bitcoin = mempoolJs(served.port);
    client = new PushClient(bitcoin.websocket.wsInit());
    await once(client.socket, 'open');
  });
  after(async () => {
    client.socket.terminate();
    await served.close();
  });

  const historyOf = async (): Promise<unknown> => bitcoin.addresses.getAddressTxs({ address: wallet.address });

  it('begins with the last blocks, and knows what to pay', async () => {
    const blocks = (await client.next('blocks')) as { readonly id: string }[];
    expect(blocks.at(-1)?.id).to.equal(await bitcoin.blocks.getBlocksTipHash({}));
    const fees = await bitcoin.fees.getFeesRecommended(undefined);
    expect(fees).to.deep.equal({ fastestFee: 1, halfHourFee: 1, hourFee: 1, economyFee: 1, minimumFee: 1 });
  });

  it('receives: is told of it in the pool, then in a block', async () => {
    bitcoin.websocket.wsWantData(client.socket, ['blocks', 'stats', 'mempool-blocks', 'live-2h-chart']);
    bitcoin.websocket.wsTrackAddress(client.socket, wallet.address);
    bitcoin.websocket.wsTrackAddresses(client.socket, [wallet.address, other.address]);
    await client.ask();
    received = await served.faucet.pays(wallet.address, RECEIVED);
    const told = (await client.next('address-transactions')) as ToldTransaction[];
    expect(told).to.deep.equal(await historyOf());
    expect(told.map(({ txid, status }) => [txid, status.confirmed])).to.deep.equal([[received, false]]);
    bitcoin.websocket.wsTrackTransaction(client.socket, received);
    expect(await client.next('tx')).to.include({ txid: received });
    await served.confirm();
    expect(await client.next('block')).to.include({ height: served.node.chain.height });
    const confirmed = (await client.next('block-transactions')) as ToldTransaction[];
    expect(confirmed).to.deep.equal(await historyOf());
    expect(confirmed[0]?.status.block_height).to.equal(served.node.chain.height);
    expect(await client.next('txConfirmed')).to.equal(received);
  });

  it('is told of a reorganization: the blocks that are left, the new ones, and that the payment waits again', async () => {
    await served.takeBack(1, bystander.address);
    const { height } = served.node.chain;
    const left = (await client.next('blocks')) as { readonly height: number }[];
    expect(left.at(-1)?.height).to.equal(height - 2);
    expect(await client.next('block')).to.include({ height: height - 1 });
    expect(await client.next('block')).to.include({ height });
    const [waiting] = (await client.next('address-transactions')) as ToldTransaction[];
    expect(waiting).to.deep.include({ txid: received, status: { confirmed: false } });
    expect(await client.next('tx')).to.include({ txid: received });
    await served.confirm();
    expect(await client.next('block-transactions')).to.deep.equal(await historyOf());
  });

  it('is told nothing more once it has stopped everything', async () => {
    const { websocket } = bitcoin;
    websocket.wsStopData(client.socket);
    websocket.wsStopTrackingAddress(client.socket);
    websocket.wsStopTrackingAddresses(client.socket);
    websocket.wsStopTrackingTransaction(client.socket);
    websocket.wsTrackRbfSummary(client.socket);
    websocket.wsStopTrackingRbf(client.socket);
    websocket.wsStopTrackingMempoolBlock(client.socket);
    await client.ask();
    await served.faucet.pays(wallet.address, RECEIVED);
    await served.confirm();
    expect(await client.ask()).to.deep.equal([]);
  });
});
