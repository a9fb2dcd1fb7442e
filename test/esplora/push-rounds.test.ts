import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { scriptAt } from '../support/faucet';
import { KeyWallet } from '../support/key-wallet';
import { type PushingNode, txidsOf, withPushingNode } from '../support/pushing-node';
import { mine, mineOnly } from '../support/regtest-node';
import { until } from '../support/until';
import type { PushClient, Told } from '../support/push-client';
import type { ServedNode } from '../support/served-node';

const PAID = 50_000;

/** More than one pass compares. */
const MANY = 70;

describe('what one block changes, over mempool’s WebSocket', () => {
  let pushing: PushingNode;
  let served: ServedNode;

  withPushingNode((opened) => {
    pushing = opened;
    ({ served } = opened);
  });

  const withBlock = async ({ told }: PushClient): Promise<Told> => {
    await until(() => told.some((one) => 'block' in one));
    return told.find((one) => 'block' in one) ?? {};
  };

  it('comes in one message, even if the pool is told while the block is being read', async () => {
    const { node, source } = served;
    const { projections } = served.answers;
    const { address } = new KeyWallet();
    const own = await pushing.client();
    const txid = await pushing.faucet.pays(address, PAID);
    await own.ask({ action: 'want', data: ['blocks', 'stats'], 'track-tx': txid, 'track-address': address });
    const [read, project] = [source.rawBlock.bind(source), projections.get.bind(projections)];
    let goOn: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    let projected = 0;
    source.rawBlock = async (hash) => {
      await held;
      return read(hash);
    };
    await mine(node, 1);
    projections.get = () => {
      projected++;
      return project();
    };
    // As often as an update of the pool asks for it.
    await until(() => projected >= 3);
    await own.ask();
    goOn();
    const told = await withBlock(own);
    source.rawBlock = read;
    projections.get = project;
    expect(told).to.include({ txConfirmed: txid });
    expect(txidsOf(told['block-transactions'])).to.deep.equal([txid]);
  });

  it('comes in one message, even if it is more than one pass can tell', async () => {
    const { addresses, transactions } = await pushing.payments(MANY);
    const txids = transactions.map((transaction) => toDisplayHex(transaction.hash()));
    const [own, other] = [await pushing.client(), await pushing.client()];
    await other.ask({ 'track-scriptpubkeys': addresses.map((address) => scriptAt(address).toString('hex')) });
    await own.ask({
      action: 'want',
      data: ['blocks'],
      'track-txs': txids,
      'track-tx': txids.at(-1),
      'track-address': addresses.at(-1)
    });
    await mineOnly(served.node, transactions);
    const { 'tracked-txs': tracked, 'block-transactions': confirmed, ...told } = await withBlock(own);
    expect(told).to.include({ txConfirmed: txids.at(-1) });
    expect(txidsOf(confirmed)).to.deep.equal(txids.slice(-1));
    expect(tracked).to.deep.equal(Object.fromEntries(txids.map((txid) => [txid, { confirmed: true }])));
    await until(() => other.told.length === MANY);
  });
});
