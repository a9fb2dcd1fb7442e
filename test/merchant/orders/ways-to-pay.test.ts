import { expect } from 'chai';
import { describe, it } from 'mocha';
import { answerGet } from '../../../lib/merchant/orders/http';
import { parseBitcoinUri } from '../../../lib/payments/transport/bitcoin-uri';
import { rejection } from '../../payments/vectors';
import { START, inShop, order, outputOf, paying, paymentFor, script } from './shop';

describe('the ways to pay', () => {
  it(
    'stay while the customer chooses the amount and others have paid, and his Payment is taken',
    inShop(async (shop) => {
      const { merchant, chain } = shop;
      const { id, url } = await merchant.create({ outputs: [{ amount: 0n, script }], expires: order.expires ?? 0n });
      await chain.broadcast([paying(1, 294n)]);
      merchant.seenInPool(outputOf(paying(1, 294n)));
      const asked = async (): Promise<string | undefined> => {
        const { ways } = await merchant.view(id);
        return ways && parseBitcoinUri(ways.uri).paymentUrl;
      };
      expect((await merchant.progress(id)).status).to.equal('seen');
      expect(await asked()).to.equal(url);
      chain.confirm(1);
      expect(await asked()).to.equal(url);
      shop.now = new Date(START.getTime() + 901_000);
      expect(await asked()).to.equal(undefined);
      shop.now = START;
      await merchant.pay(id, paymentFor(id, [paying(2, 500_000n)]));
      expect(await asked()).to.equal(undefined);
      expect((await rejection(merchant.pay(id, paymentFor(id, [paying(3, 500_000n)])))).code).to.equal('already-paid');
    })
  );

  it(
    'ask for no less than can be sent, and the page says so',
    inShop(async (shop) => {
      const { merchant, chain } = shop;
      chain.addressOf = () => 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
      const { id } = await merchant.create(order);
      await chain.broadcast([paying(1, 9_999n)]);
      merchant.seenInPool(outputOf(paying(1, 9_999n)));
      const { ways } = await merchant.view(id);
      expect(parseBitcoinUri(ways?.uri ?? '').amount).to.equal(294n);
      const page = (await answerGet(merchant, id, 'text/html')).body.toString();
      expect(page)
        .to.include('0.00000001 BTC is missing')
        .and.to.include('The least that can be sent, in BTC')
        .and.to.include('0.00000294');
    })
  );
});
