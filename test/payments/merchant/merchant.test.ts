import { expect } from 'chai';
import { describe, it } from 'mocha';
import { detailsOf } from '../../../lib/payments/merchant/record';
import { decodePaymentACK, decodePaymentRequest } from '../../../lib/payments/messages';
import { checkPaymentRequest } from '../../../lib/payments/rules/request';
import { verifyPaymentRequest } from '../../../lib/payments/verify';
import { parseTransaction } from '../../../lib/payments/rules/transaction';
import { outpoint, outpointOf, serialize } from '../transactions';
import { VALID_TIME, identity, rejection, testRoots } from '../vectors';
import { START, START_SECONDS, inShop, order, paying, paymentFor, refused, script } from './shop';

const LATER = new Date(START.getTime() + 3_600_000);

describe('Merchant', () => {
  describe('creating a request', () => {
    it('makes one that a wallet can pay', inShop(async ({ merchant }) => {
      const { id, url, uri } = await merchant.create(order);
      expect(url).to.equal(`https://shop.example/pay/${id}`);
      expect(uri).to.equal(`bitcoin:?r=https%3A%2F%2Fshop.example%2Fpay%2F${id}`);
      const { request } = await merchant.request(id);
      expect(checkPaymentRequest(decodePaymentRequest(request), { network: 'test', time: START })).to.deep.equal({
        network: 'test', outputs: [{ amount: 10_000n, script }], total: 10_000n, time: START_SECONDS, expires: START_SECONDS + 900n,
        memo: 'Two <mugs>', paymentUrl: url, merchantData: Buffer.from(id, 'hex')
      });
    }));

    it('signs it when there is an identity', inShop(async ({ merchant }) => {
      const { id } = await merchant.create(order);
      const { request } = await merchant.request(id);
      expect(verifyPaymentRequest(request, { roots: testRoots(), time: VALID_TIME })).to.include({ status: 'trusted', name: 'shop.example' });
    }, { identity: () => identity(['p256', 'intermediate']) }));

    it('gives every request an id of its own', inShop(async ({ merchant }) => {
      const ids = await Promise.all(Array.from({ length: 20 }, async () => (await merchant.create(order)).id));
      expect(new Set(ids).size).to.equal(20);
    }));

    it('refuses orders that nobody could pay', inShop(async ({ merchant }) => {
      expect((await rejection(merchant.create({ outputs: [] }))).code).to.equal('unpayable');
      expect((await rejection(merchant.create({ outputs: [{ amount: 1n, script }] }))).code).to.equal('unpayable');
      expect((await rejection(merchant.create({ ...order, expires: START_SECONDS - 1n }))).code).to.equal('expired');
    }));
  });

  describe('taking a Payment', () => {
    it('broadcasts it and acknowledges it', inShop(async ({ merchant, chain }) => {
      const { id } = await merchant.create(order);
      const transaction = paying(1);
      const acknowledgement = decodePaymentACK(await merchant.pay(id, paymentFor(id, [transaction])));
      expect(acknowledgement.payment.transactions).to.deep.equal([transaction]);
      expect(chain.broadcasts).to.deep.equal([[transaction]]);
    }));

    it('gives the same acknowledgement whenever the same Payment comes, and broadcasts once', inShop(async (shop) => {
      const { id } = await shop.merchant.create(order);
      const payment = paymentFor(id, [paying(1)], { memo: 'Thanks' });
      const first = await shop.merchant.pay(id, payment);
      shop.now = LATER;
      expect(await shop.merchant.pay(id, payment)).to.deep.equal(first);
      expect(await (await shop.reopened()).pay(id, payment)).to.deep.equal(first);
      expect(shop.chain.broadcasts).to.have.length(1);
    }));

    it('gives one acknowledgement for one Payment that comes twice at once', inShop(async ({ merchant, chain }) => {
      const { id } = await merchant.create(order);
      const payment = paymentFor(id, [paying(1)]);
      const [first, second] = await Promise.all([merchant.pay(id, payment), merchant.pay(id, payment)]);
      expect(second).to.deep.equal(first);
      expect(chain.broadcasts).to.have.length(1);
    }));

    it('records where a refund would go', inShop(async (shop) => {
      const { id } = await shop.merchant.create(order);
      const refundTo = [{ amount: 10_000n, script: Buffer.from('51', 'hex') }, { script: Buffer.from('52', 'hex') }];
      await shop.merchant.pay(id, paymentFor(id, [paying(1)], { refundTo }));
      const [stored] = (await (await shop.reopened()).request(id)).payments;
      expect(stored).to.deep.include({ refundTo, receivedAt: START });
    }));

    it('does not broadcast what the wallet has broadcast itself', inShop(async ({ merchant, chain }) => {
      const { id } = await merchant.create(order);
      await chain.broadcast([paying(1)]);
      await merchant.pay(id, paymentFor(id, [paying(1)]));
      expect(chain.broadcasts).to.have.length(1);
    }));

    const bad: [title: string, payment: (id: string) => Buffer, code: string][] = [
      ['pays too little', (id) => paymentFor(id, [paying(1, 9_999n)]), 'underpaid'],
      ['has no transaction', (id) => paymentFor(id, []), 'underpaid'],
      ['has other merchant_data', () => paymentFor('00', [paying(1)]), 'wrong-merchant-data'],
      ['is no Payment', () => Buffer.from('0a', 'hex'), 'malformed'],
      ['has a transaction that is none', (id) => paymentFor(id, [Buffer.from('00', 'hex')]), 'malformed']
    ];
    for (const [title, payment, code] of bad) {
      it(`refuses one that ${title}, and broadcasts nothing`, inShop(async ({ merchant, chain }) => {
        const { id } = await merchant.create(order);
        expect((await rejection(merchant.pay(id, payment(id)))).code).to.equal(code);
        expect(chain.broadcasts).to.deep.equal([]);
        expect((await merchant.request(id)).payments).to.deep.equal([]);
      }));
    }

    it('refuses one after expiry, and broadcasts nothing', inShop(async (shop) => {
      const { id } = await shop.merchant.create(order);
      shop.now = LATER;
      expect((await rejection(shop.merchant.pay(id, paymentFor(id, [paying(1)])))).code).to.equal('expired');
      expect(shop.chain.broadcasts).to.deep.equal([]);
    }));

    it('refuses one for a request that does not exist', inShop(async ({ merchant }) => {
      for (const id of ['00'.repeat(16), '', '../secret', '00'.repeat(15)]) {
        expect((await rejection(merchant.pay(id, paymentFor('', [paying(1)])))).code, id).to.equal('unknown-request');
      }
    }));

    it('passes on what the node refuses, and forgets that Payment', inShop(async ({ merchant, chain }) => {
      const { id } = await merchant.create(order);
      chain.refusal = refused;
      expect(await rejection(merchant.pay(id, paymentFor(id, [paying(1)])))).to.equal(refused);
      expect((await merchant.request(id)).payments).to.deep.equal([]);
      chain.refusal = undefined;
      expect(await merchant.pay(id, paymentFor(id, [paying(2)]))).to.not.have.length(0);
    }));

    it('keeps one of which the node took a part, for the refund', inShop(async ({ merchant, chain }) => {
      const { id } = await merchant.create(order);
      const parts = [paying(1, 4_000n), paying(2, 6_000n)] as const;
      await chain.broadcast([parts[0]]);
      chain.refusal = refused;
      expect(await rejection(merchant.pay(id, paymentFor(id, parts)))).to.equal(refused);
      expect((await merchant.request(id)).payments).to.have.length(1);
      expect(await merchant.state(id)).to.deep.equal({ state: 'open' });
    }));

    it('keeps no more of those than a few: a stranger can make any number', inShop(async ({ merchant, chain }) => {
      const { id } = await merchant.create(order);
      await chain.broadcast([paying(0, 4_000n)]);
      chain.refusal = refused;
      for (let seed = 1; seed <= 12; seed++) {
        expect(await rejection(merchant.pay(id, paymentFor(id, [paying(0, 4_000n), paying(seed, 6_000n)])))).to.equal(refused);
      }
      expect((await merchant.request(id)).payments).to.have.length(8);
      chain.refusal = undefined;
      expect(await merchant.pay(id, paymentFor(id, [paying(99)]))).to.not.have.length(0);
    }));

    it('forgets a refused one beside which a transaction is known that pays nothing', inShop(async ({ merchant, chain }) => {
      const { id } = await merchant.create(order);
      const elsewhere = serialize({ inputs: [outpoint(7)], outputs: [{ script: Buffer.from('51', 'hex'), value: 10_000n }] });
      await chain.broadcast([elsewhere]);
      chain.refusal = refused;
      expect(await rejection(merchant.pay(id, paymentFor(id, [elsewhere, paying(1)])))).to.equal(refused);
      expect((await merchant.request(id)).payments).to.deep.equal([]);
    }));

    it('gives the node parents before children, and only what it does not know', inShop(async ({ merchant, chain }) => {
      const parent = serialize({ inputs: [outpoint(7)], outputs: [{ script: Buffer.from('51', 'hex'), value: 10_000n }] });
      const child = serialize({ inputs: [outpointOf(parseTransaction(parent).txid)], outputs: [{ script, value: 10_000n }] });
      const { id } = await merchant.create(order);
      await merchant.pay(id, paymentFor(id, [child, parent, child]));
      chain.known.delete(parseTransaction(child).txid.toString('hex'));
      await merchant.pay(id, paymentFor(id, [child, parent]));
      expect(chain.broadcasts).to.deep.equal([[parent, child], [child]]);
    }));

    it('finishes what a crash interrupted, also after expiry', inShop(async (shop) => {
      const { id } = await shop.merchant.create(order);
      const payment = paymentFor(id, [paying(1)]);
      shop.chain.refusal = new Error('the node went away');
      const crash = await shop.merchant.pay(id, payment).catch((error: unknown) => error);
      expect(crash).to.equal(shop.chain.refusal);
      shop.chain.refusal = undefined;
      shop.now = LATER;
      expect(await (await shop.reopened()).pay(id, payment)).to.not.have.length(0);
      expect(shop.chain.broadcasts).to.have.length(1);
    }));
  });

  describe('against paying with the same coins twice', () => {
    it('refuses another Payment while the first one stands', inShop(async ({ merchant, chain }) => {
      const { id } = await merchant.create(order);
      await merchant.pay(id, paymentFor(id, [paying(1)]));
      expect((await rejection(merchant.pay(id, paymentFor(id, [paying(2)])))).code).to.equal('already-paid');
      expect(chain.broadcasts).to.have.length(1);
    }));

    it('takes another Payment once the chain has lost the first one', inShop(async ({ merchant, chain }) => {
      const { id } = await merchant.create(order);
      await merchant.pay(id, paymentFor(id, [paying(1)]));
      chain.known.clear();
      await merchant.pay(id, paymentFor(id, [paying(2)]));
      expect(await merchant.state(id)).to.deep.equal({ state: 'unconfirmed' });
    }));

    it('counts an output for one request only, though two have the same script', inShop(async (shop) => {
      const { id } = await shop.merchant.create(order);
      const { id: other } = await shop.merchant.create(order);
      await shop.merchant.pay(id, paymentFor(id, [paying(1)]));
      expect((await rejection((await shop.reopened()).pay(other, paymentFor(other, [paying(1)])))).code).to.equal('underpaid');
    }));

    it('takes one transaction for two requests that it pays by different outputs', inShop(async ({ merchant }) => {
      const second = Buffer.from(`0014${'bb'.repeat(20)}`, 'hex');
      const both = serialize({ inputs: [outpoint(1)], outputs: [{ script, value: 10_000n }, { script: second, value: 10_000n }] });
      const { id } = await merchant.create(order);
      const { id: other } = await merchant.create({ outputs: [{ amount: 10_000n, script: second }] });
      await merchant.pay(id, paymentFor(id, [both]));
      expect(await merchant.pay(other, paymentFor(other, [both]))).to.not.have.length(0);
    }));
  });

  describe('state', () => {
    it('follows the chain: open, in the pool, confirmed, lost in a reorganization, back', inShop(async ({ merchant, chain }) => {
      const { id } = await merchant.create(order);
      const states = [await merchant.state(id)];
      const next = async (): Promise<void> => { states.push(await merchant.state(id)); };
      await merchant.pay(id, paymentFor(id, [paying(1)]));
      await next();
      chain.confirm(1);
      await next();
      chain.confirm(6);
      await next();
      chain.known.clear();
      await next();
      await chain.broadcast([paying(1)]);
      await next();
      expect(states).to.deep.equal([
        { state: 'open' }, { state: 'unconfirmed' }, { state: 'confirmed', confirmations: 1 }, { state: 'confirmed', confirmations: 6 },
        { state: 'missing' }, { state: 'unconfirmed' }
      ]);
    }));

    it('is that of the transaction with the fewest confirmations', inShop(async ({ merchant, chain }) => {
      const { id } = await merchant.create(order);
      await chain.broadcast([paying(1, 4_000n)]);
      chain.confirm(3);
      await merchant.pay(id, paymentFor(id, [paying(1, 4_000n), paying(2, 6_000n)]));
      expect(await merchant.state(id)).to.deep.equal({ state: 'unconfirmed' });
    }));

    it('is expired when nobody paid in time', inShop(async (shop) => {
      const { id } = await shop.merchant.create(order);
      shop.now = LATER;
      expect(await shop.merchant.state(id)).to.deep.equal({ state: 'expired' });
    }));
  });

  it('shows the details as they were sent', inShop(async ({ merchant }) => {
    const { id } = await merchant.create(order);
    expect(detailsOf(await merchant.request(id))).to.include({ memo: 'Two <mugs>', network: 'test' });
  }));
});
