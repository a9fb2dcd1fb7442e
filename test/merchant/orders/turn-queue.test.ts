import { expect } from 'chai';
import { describe, it } from 'mocha';
import { rejection } from '../../payments/vectors';
import { inShop, order, outputOf, ownOrder, paying, paymentFor, type Shop } from './shop';

/** Holds all broadcasts until the function that it returns is called. */
function hold({ chain }: Shop): () => void {
  let release = (): void => undefined;
  chain.held = new Promise<void>((resolve) => (release = resolve));
  return release;
}

describe('those who ask for an order with confirmations that are not recorded', () => {
  it(
    'share the turn in which these are recorded',
    inShop(async (shop) => {
      const { merchant, chain } = shop;
      const [{ id }, { id: other }] = [await merchant.create(order), await merchant.create(ownOrder(1))];
      await merchant.pay(id, paymentFor(id, [paying(1)]));
      chain.confirm(1);
      const release = hold(shop);
      const busy = rejection(merchant.pay(other, paymentFor(other, [paying(2)])));
      const { txid } = outputOf(paying(1));
      const standing = chain.standing.bind(chain);
      let looks = 0;
      chain.standing = (asked, seenIn) => {
        if (asked.txid.equals(txid)) looks++;
        return standing(asked, seenIn);
      };
      const states = Promise.all(Array.from({ length: 50 }, () => merchant.state(id)));
      release();
      await busy;
      for (const { state } of await states) expect(state).to.equal('confirmed');
      // Each of them looks for the transaction before and afterwards, and the turn once.
      expect(looks).to.equal(101);
      const [payment] = (await merchant.request(id)).payments;
      expect(payment?.seenIn.size).to.equal(1);
    })
  );
});

describe('Payments that wait for others', () => {
  it(
    'are two for one order, and a third is refused, recorded nowhere, and taken later',
    inShop(async (shop) => {
      const { merchant } = shop;
      const { id } = await merchant.create(order);
      const release = hold(shop);
      const [first, second, third] = [1, 2, 3].map((seed) => paymentFor(id, [paying(seed)])) as [Buffer, Buffer, Buffer];
      const waiting = [merchant.pay(id, first), rejection(merchant.pay(id, second))] as const;
      expect((await rejection(merchant.pay(id, third))).code).to.equal('busy');
      release();
      await waiting[0];
      expect((await waiting[1]).code).to.equal('already-paid');
      expect((await merchant.request(id)).payments.map(({ payment }) => payment)).to.deep.equal([first, second]);
      expect((await rejection(merchant.pay(id, third))).code).to.equal('already-paid');
    })
  );

  it(
    'for one order do not keep a Payment for another one from its turn',
    inShop(async (shop) => {
      const { merchant } = shop;
      const [{ id }, { id: other }] = [await merchant.create(order), await merchant.create(ownOrder(1))];
      const release = hold(shop);
      const flood = Array.from({ length: 100 }, (_, seed) => merchant.pay(id, paymentFor(id, [paying(seed)])).catch(() => undefined));
      const own = rejection(merchant.pay(other, paymentFor(other, [paying(200)])));
      release();
      expect((await own).code).to.equal('underpaid');
      await Promise.all(flood);
    })
  );

  it(
    'are 64 for all orders',
    inShop(async (shop) => {
      const { merchant } = shop;
      const ids: string[] = [];
      for (let i = 0; i < 33; i++) ids.push((await merchant.create(ownOrder(i))).id);
      const release = hold(shop);
      const payments = ids.flatMap((id, i) => [1, 2].map((seed) => merchant.pay(id, paymentFor(id, [paying(2 * i + seed)]))));
      const codes = Promise.all(payments.map(async (payment) => (await rejection(payment)).code));
      release();
      expect((await codes).filter((code) => code === 'busy')).to.have.length(2);
    })
  );

  it(
    'are none for orders that do not exist',
    inShop(async (shop) => {
      const { merchant } = shop;
      const { id } = await merchant.create(order);
      const release = hold(shop);
      const first = merchant.pay(id, paymentFor(id, [paying(1)]));
      const ids = Array.from({ length: 70 }, (_, seed) => seed.toString(16).padStart(32, '0'));
      const codes = Promise.all(ids.map(async (unknown) => (await rejection(merchant.pay(unknown, Buffer.alloc(0)))).code));
      expect(new Set(await codes)).to.deep.equal(new Set(['unknown-request']));
      release();
      await first;
    })
  );
});
