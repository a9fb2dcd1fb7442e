import { expect } from 'chai';
import { describe, it } from 'mocha';
import { progressJson } from '../../../lib/merchant/orders/progress';
import { parseTransaction } from '../../../lib/payments/rules/transaction';
import { outpoint, serialize } from '../../payments/transactions';
import { BLOCK, START, START_SECONDS, inShop, order, outputOf, paying, paymentFor, script, type Shop } from './shop';

/** The money reaches the pool without a Payment, as from most wallets. */
async function arrives({ chain, merchant }: Shop, transaction: Buffer): Promise<void> {
  await chain.broadcast([transaction]);
  merchant.seenInPool(outputOf(transaction));
}

describe('how far an order has come', () => {
  it(
    'is open, underpaid by what is missing, seen, and confirmed',
    inShop(async (shop) => {
      const { merchant, chain } = shop;
      const { id, url } = await merchant.create({ ...order, merchantUrl: 'https://shop.example/cart' });
      const fixed = {
        id,
        url,
        memo: 'Two <mugs>',
        amount: 10_000,
        created: Number(START_SECONDS),
        expires: Number(START_SECONDS) + 900,
        merchant_url: 'https://shop.example/cart'
      };
      const progress = async (): Promise<unknown> => progressJson(await merchant.progress(id));
      expect(await progress()).to.deep.equal({ ...fixed, status: 'open', state: 'open', received: 0, confirmed: 0, missing: 10_000 });
      await arrives(shop, paying(1, 4_000n));
      expect(await progress()).to.deep.equal({
        ...fixed,
        status: 'underpaid',
        state: 'open',
        received: 4_000,
        confirmed: 0,
        missing: 6_000
      });
      await arrives(shop, paying(2, 6_500n));
      expect(await progress()).to.deep.equal({ ...fixed, status: 'seen', state: 'open', received: 10_500, confirmed: 0, missing: 0 });
      chain.confirm(3);
      expect(await progress()).to.deep.equal({
        ...fixed,
        status: 'confirmed',
        state: 'open',
        received: 10_500,
        confirmed: 10_500,
        missing: 0,
        confirmations: 3
      });
    })
  );

  it(
    'is seen while a part is in no block, and counts confirmations of what was enough',
    inShop(async (shop) => {
      const { merchant, chain } = shop;
      const { id } = await merchant.create(order);
      await arrives(shop, paying(1, 6_000n));
      await arrives(shop, paying(2, 4_000n));
      await arrives(shop, paying(3, 1_000n));
      const confirm = (seed: number, value: bigint, depth: number): unknown =>
        chain.known.set(outputOf(paying(seed, value)).txid.toString('hex'), depth);
      confirm(1, 6_000n, 9);
      expect(await merchant.progress(id)).to.include({ status: 'seen', received: 11_000n, confirmed: 6_000n });
      confirm(2, 4_000n, 7);
      expect(await merchant.progress(id)).to.include({ status: 'confirmed', confirmed: 10_000n, confirmations: 7 });
      confirm(3, 1_000n, 1);
      expect(await merchant.progress(id)).to.include({ status: 'confirmed', confirmed: 11_000n, confirmations: 7 });
    })
  );

  it(
    'lets too much for one script make up for nothing',
    inShop(async (shop) => {
      const { merchant } = shop;
      const other = Buffer.from(`0014${'cc'.repeat(20)}`, 'hex');
      const { id } = await merchant.create({
        outputs: [
          { amount: 10_000n, script },
          { amount: 5_000n, script: other }
        ]
      });
      await arrives(shop, paying(1, 15_000n));
      expect(await merchant.progress(id)).to.include({ status: 'underpaid', amount: 15_000n, received: 15_000n, missing: 5_000n });
      // After a restart the records say the scripts.
      await merchant.receive(BLOCK, [outputOf(paying(1, 15_000n))]);
      shop.chain.confirm(1);
      const reopened = await shop.reopened();
      expect(await reopened.progress(id)).to.include({ status: 'underpaid', confirmed: 15_000n, missing: 5_000n });
      const second = serialize({ inputs: [outpoint(2)], outputs: [{ script: other, value: 5_000n }] });
      await shop.chain.broadcast([second]);
      reopened.seenInPool({ txid: parseTransaction(second).txid, index: 0, amount: 5_000n, script: other });
      expect(await reopened.progress(id)).to.include({ status: 'seen', missing: 0n });
    })
  );

  it(
    'is expired without money, and underpaid with some',
    inShop(async (shop) => {
      const { merchant } = shop;
      const [{ id }, { id: part }] = [
        await merchant.create({ ...order, outputs: [{ amount: 10_000n, script: Buffer.from([0x51]) }] }),
        await merchant.create(order)
      ];
      await arrives(shop, paying(1, 4_000n));
      shop.now = new Date(START.getTime() + 900_999);
      expect((await merchant.progress(id)).status).to.equal('open');
      shop.now = new Date(START.getTime() + 901_000);
      expect((await merchant.progress(id)).status).to.equal('expired');
      expect((await merchant.progress(part)).status).to.equal('underpaid');
    })
  );

  it(
    'is paid with any amount if the customer may choose',
    inShop(async (shop) => {
      const { id } = await shop.merchant.create({ outputs: [{ script }] });
      expect(await shop.merchant.progress(id)).to.include({ status: 'open', amount: 0n, missing: 0n });
      await arrives(shop, paying(1, 700n));
      expect(await shop.merchant.progress(id)).to.include({ status: 'seen', received: 700n });
    })
  );

  it(
    'is lost when an acknowledged payment is in neither chain nor pool, and why',
    inShop(async (shop) => {
      const { merchant, chain } = shop;
      const { id } = await merchant.create(order);
      await merchant.pay(id, paymentFor(id, [paying(1)]));
      expect(await merchant.progress(id)).to.include({ status: 'seen', state: 'unconfirmed' });
      const txid = outputOf(paying(1)).txid.toString('hex');
      chain.known.clear();
      expect(await merchant.progress(id)).to.include({ status: 'lost', state: 'missing' });
      chain.conflicted.add(txid);
      expect(await merchant.progress(id)).to.include({ status: 'lost', state: 'conflicted' });
    })
  );
});
