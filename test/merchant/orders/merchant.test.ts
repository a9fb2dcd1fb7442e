import { expect } from 'chai';
import { describe, it } from 'mocha';
import { detailsOf } from '../../../lib/merchant/orders/record';
import { decodePaymentACK, decodePaymentRequest } from '../../../lib/payments/messages';
import { checkPaymentRequest } from '../../../lib/payments/rules/request';
import { verifyPaymentRequest } from '../../../lib/payments/verify';
import { parseTransaction } from '../../../lib/payments/rules/transaction';
import { outpoint, outpointOf, serialize } from '../../payments/transactions';
import { VALID_TIME, identity, rejection, testRoots } from '../../payments/vectors';
import { FolderStorage } from '../../../lib/merchant/orders/storage';
import { PaymentStore } from '../../../lib/merchant/orders/store';
import { caught } from '../../support/expectations/caught';
import { START, START_SECONDS, LONG_MS, inShop, order, outputOf, ownOrder, paying, paymentFor, refused, script } from './shop';

const LATER = new Date(START.getTime() + 3_600_000);

/** The txid in display order. */
const txidOf = (transaction: Buffer): string => parseTransaction(transaction).txid.toString('hex');

describe('Merchant', () => {
  describe('creating a request', () => {
    it(
      'makes one that a wallet can pay',
      inShop(async ({ merchant }) => {
        const { id, url, uri } = await merchant.create(order);
        expect(url).to.equal(`https://shop.example/pay/${id}`);
        expect(uri).to.equal(`bitcoin:?r=https%3A%2F%2Fshop.example%2Fpay%2F${id}`);
        const { request } = await merchant.request(id);
        expect(checkPaymentRequest(decodePaymentRequest(request), { network: 'test', time: START })).to.deep.equal({
          network: 'test',
          outputs: [{ amount: 10_000n, script }],
          total: 10_000n,
          time: START_SECONDS,
          expires: START_SECONDS + 900n,
          memo: 'Two <mugs>',
          paymentUrl: url,
          merchantData: Buffer.from(id, 'hex')
        });
      })
    );

    it(
      'signs it when there is an identity',
      inShop(
        async ({ merchant }) => {
          const { id } = await merchant.create(order);
          const { request } = await merchant.request(id);
          expect(verifyPaymentRequest(request, { roots: testRoots(), time: VALID_TIME })).to.include({
            status: 'trusted',
            name: 'shop.example'
          });
        },
        { identity: () => identity(['p256', 'intermediate']) }
      )
    );

    it(
      'gives every request its own id',
      inShop(async ({ merchant }) => {
        const ids = await Promise.all(Array.from({ length: 20 }, async (_, i) => (await merchant.create(ownOrder(i))).id));
        expect(new Set(ids).size).to.equal(20);
      })
    );

    it(
      'refuses orders that cannot be paid',
      inShop(async ({ merchant }) => {
        expect((await rejection(merchant.create({ outputs: [] }))).code).to.equal('unpayable');
        expect((await rejection(merchant.create({ outputs: [{ amount: 1n, script }] }))).code).to.equal('unpayable');
        expect((await rejection(merchant.create({ ...order, expires: START_SECONDS - 1n }))).code).to.equal('expired');
        const outputs = Array.from({ length: 101 }, (_, seed) => ownOrder(seed).outputs).flat();
        expect((await rejection(merchant.create({ outputs }))).message).to.equal('At most 100 outputs expected, 101 came.');
        expect((await merchant.create({ outputs: outputs.slice(1) })).id).to.have.length(32);
      })
    );

    it(
      'takes URLs of up to 2,000 characters',
      inShop(async ({ merchant }) => {
        const url = 'https://shop.example/'.padEnd(2_000, 'x');
        expect((await merchant.create({ ...order, merchantUrl: url })).id).to.have.length(32);
        expect((await rejection(merchant.create({ ...order, merchantUrl: `${url}x` }))).code).to.equal('malformed');
      })
    );
  });

  describe('accepting a Payment', () => {
    it(
      'broadcasts it and acknowledges it',
      inShop(async ({ merchant, chain }) => {
        const { id } = await merchant.create(order);
        const transaction = paying(1);
        const acknowledgement = decodePaymentACK(await merchant.pay(id, paymentFor(id, [transaction])));
        expect(acknowledgement.payment.transactions).to.deep.equal([transaction]);
        expect(chain.broadcasts).to.deep.equal([[transaction]]);
      })
    );

    it(
      'gives the same acknowledgement whenever the same Payment comes, and broadcasts once',
      inShop(async (shop) => {
        const { id } = await shop.merchant.create(order);
        const payment = paymentFor(id, [paying(1)], { memo: 'Thanks' });
        const first = await shop.merchant.pay(id, payment);
        shop.now = LATER;
        expect(await shop.merchant.pay(id, payment)).to.deep.equal(first);
        expect(await (await shop.reopened()).pay(id, payment)).to.deep.equal(first);
        expect(shop.chain.broadcasts).to.have.length(1);
      })
    );

    it(
      'gives one acknowledgement for one Payment that comes twice at once',
      inShop(async ({ merchant, chain }) => {
        const { id } = await merchant.create(order);
        const payment = paymentFor(id, [paying(1)]);
        const [first, second] = await Promise.all([merchant.pay(id, payment), merchant.pay(id, payment)]);
        expect(second).to.deep.equal(first);
        expect(chain.broadcasts).to.have.length(1);
      })
    );

    it(
      'records where a refund would go',
      inShop(async (shop) => {
        const { id } = await shop.merchant.create(order);
        const refundTo = [{ amount: 10_000n, script: Buffer.from('51', 'hex') }, { script: Buffer.from('52', 'hex') }];
        await shop.merchant.pay(id, paymentFor(id, [paying(1)], { refundTo }));
        const [stored] = (await (await shop.reopened()).request(id)).payments;
        expect(stored).to.deep.include({ refundTo, receivedAt: START });
      })
    );

    it(
      'does not broadcast what the wallet has broadcast itself',
      inShop(async ({ merchant, chain }) => {
        const { id } = await merchant.create(order);
        await chain.broadcast([paying(1)]);
        await merchant.pay(id, paymentFor(id, [paying(1)]));
        expect(chain.broadcasts).to.have.length(1);
      })
    );

    const bad: [title: string, payment: (id: string) => Buffer, code: string][] = [
      ['pays too little', (id) => paymentFor(id, [paying(1, 9_999n)]), 'underpaid'],
      ['has no transaction', (id) => paymentFor(id, []), 'underpaid'],
      ['has other merchant_data', () => paymentFor('00', [paying(1)]), 'wrong-merchant-data'],
      ['is not a Payment', () => Buffer.from('0a', 'hex'), 'malformed'],
      ['has a malformed transaction', (id) => paymentFor(id, [Buffer.from('00', 'hex')]), 'malformed']
    ];
    for (const [title, payment, code] of bad) {
      it(
        `refuses one that ${title}, and broadcasts nothing`,
        inShop(async ({ merchant, chain }) => {
          const { id } = await merchant.create(order);
          expect((await rejection(merchant.pay(id, payment(id)))).code).to.equal(code);
          expect(chain.broadcasts).to.deep.equal([]);
          expect(await merchant.state(id)).to.deep.equal({ state: 'open' });
        })
      );
    }

    it(
      'refuses one after expiry, and broadcasts nothing',
      inShop(async (shop) => {
        const { id } = await shop.merchant.create(order);
        shop.now = LATER;
        expect((await rejection(shop.merchant.pay(id, paymentFor(id, [paying(1)])))).code).to.equal('expired');
        expect(shop.chain.broadcasts).to.deep.equal([]);
      })
    );

    it(
      'refuses one for a request that does not exist',
      inShop(async ({ merchant }) => {
        for (const id of ['00'.repeat(16), '', '../secret', '00'.repeat(15)]) {
          expect((await rejection(merchant.pay(id, paymentFor('', [paying(1)])))).code, id).to.equal('unknown-request');
        }
      })
    );

    it(
      'passes on the node’s refusal, and accepts another Payment after it',
      inShop(async ({ merchant, chain }) => {
        const { id } = await merchant.create(order);
        chain.refusal = refused;
        expect(await rejection(merchant.pay(id, paymentFor(id, [paying(1)])))).to.equal(refused);
        expect(await merchant.state(id)).to.deep.equal({ state: 'open' });
        chain.refusal = undefined;
        expect(await merchant.pay(id, paymentFor(id, [paying(2)]))).to.not.have.length(0);
      })
    );

    it(
      'gives the node parents before children, and only unknown transactions',
      inShop(async ({ merchant, chain }) => {
        const parent = serialize({ inputs: [outpoint(7)], outputs: [{ script: Buffer.from('51', 'hex'), value: 10_000n }] });
        const child = serialize({ inputs: [outpointOf(parseTransaction(parent).txid)], outputs: [{ script, value: 10_000n }] });
        const elsewhere = serialize({ inputs: [outpoint(8)], outputs: [{ script: Buffer.from('52', 'hex'), value: 10_000n }] });
        const { id } = await merchant.create(order);
        await chain.broadcast([elsewhere]);
        await merchant.pay(id, paymentFor(id, [child, elsewhere, parent, child]));
        expect(chain.broadcasts).to.deep.equal([[elsewhere], [parent, child]]);
      })
    );

    it(
      'finishes a Payment that a crash interrupted, also after expiry',
      inShop(async (shop) => {
        const { id } = await shop.merchant.create(order);
        const payment = paymentFor(id, [paying(1)]);
        shop.chain.refusal = new Error('the node went away');
        const crash = await shop.merchant.pay(id, payment).catch((error: unknown) => error);
        expect(crash).to.equal(shop.chain.refusal);
        shop.chain.refusal = undefined;
        shop.now = LATER;
        expect(await (await shop.reopened()).pay(id, payment)).to.not.have.length(0);
        expect(shop.chain.broadcasts).to.have.length(1);
      })
    );
  });

  describe('against paying with the same coins twice', () => {
    it(
      'refuses another Payment while the first one stands',
      inShop(async ({ merchant, chain }) => {
        const { id } = await merchant.create(order);
        await merchant.pay(id, paymentFor(id, [paying(1)]));
        expect((await rejection(merchant.pay(id, paymentFor(id, [paying(2)])))).code).to.equal('already-paid');
        expect(chain.broadcasts).to.have.length(1);
      })
    );

    it(
      'refuses another Payment while the first one is in doubt, and accepts it once the chain excludes the first',
      inShop(async ({ merchant, chain }) => {
        const { id } = await merchant.create(order);
        await merchant.pay(id, paymentFor(id, [paying(1)]));
        chain.known.clear();
        expect(await merchant.state(id)).to.deep.equal({ state: 'missing' });
        expect((await rejection(merchant.pay(id, paymentFor(id, [paying(2)])))).code).to.equal('already-paid');
        chain.conflicted.add(txidOf(paying(1)));
        expect(await merchant.state(id)).to.deep.equal({ state: 'conflicted' });
        await merchant.pay(id, paymentFor(id, [paying(2)]));
        expect(await merchant.state(id)).to.include({ state: 'unconfirmed' });
      })
    );

    it(
      'neither accepts nor finally refuses another Payment while it is not known whether the first one stands',
      inShop(async ({ merchant, chain }) => {
        const { id } = await merchant.create(order);
        await merchant.pay(id, paymentFor(id, [paying(1)]));
        chain.known.clear();
        chain.ignorance = 'wait';
        expect((await rejection(merchant.pay(id, paymentFor(id, [paying(2)])))).code).to.equal('not-yet-known');
        expect((await rejection(merchant.state(id))).code).to.equal('not-yet-known');
        chain.ignorance = undefined;
        chain.conflicted.add(txidOf(paying(1)));
        expect(await merchant.pay(id, paymentFor(id, [paying(2)]))).to.not.have.length(0);
      })
    );

    it(
      'acknowledges the same transactions again in another Payment, also after expiry, and broadcasts once',
      inShop(async (shop) => {
        const { merchant, chain } = shop;
        const { id } = await merchant.create(order);
        const parts = [paying(1, 4_000n), paying(2, 6_000n)] as const;
        await merchant.pay(id, paymentFor(id, parts));
        shop.now = LATER;
        const other = paymentFor(id, [parts[1], parts[0]], { memo: 'Thanks', refundTo: [{ script }] });
        const acknowledgement = decodePaymentACK(await merchant.pay(id, other));
        expect(acknowledgement.payment).to.deep.include({ memo: 'Thanks', transactions: [parts[1], parts[0]] });
        expect(await merchant.pay(id, other)).to.deep.equal(await merchant.pay(id, other));
        expect(chain.broadcasts).to.have.length(1);
        expect((await merchant.request(id)).payments.map(({ outcome, refundTo }) => [outcome, refundTo.length])).to.deep.equal([
          [undefined, 0],
          [{ decision: 'repeated' }, 1]
        ]);
      })
    );

    it(
      'acknowledges what paid again, with fewer or more transactions beside it, but not a part of it',
      inShop(async ({ merchant, chain }) => {
        const { id } = await merchant.create(order);
        const parts = [paying(1, 4_000n), paying(2, 6_000n)] as const;
        const [first, second] = [3, 4].map((seed) =>
          serialize({ inputs: [outpoint(seed)], outputs: [{ script: Buffer.from('51', 'hex'), value: 5_000n }] })
        ) as [Buffer, Buffer];
        await merchant.pay(id, paymentFor(id, [...parts, first]));
        for (const transactions of [parts, [...parts, second]]) {
          const acknowledgement = decodePaymentACK(await merchant.pay(id, paymentFor(id, transactions)));
          expect(acknowledgement.payment.transactions).to.deep.equal(transactions);
        }
        expect((await rejection(merchant.pay(id, paymentFor(id, [parts[0]])))).code).to.equal('already-paid');
        expect((await rejection(merchant.pay(id, paymentFor(id, [...parts, paying(5)])))).code).to.equal('already-paid');
        expect(chain.broadcasts).to.have.length(1);
      })
    );

    it(
      'counts an output for only one request, even if a later one has the same script',
      inShop(async (shop) => {
        const { merchant, chain } = shop;
        const { id } = await merchant.create(order);
        await merchant.pay(id, paymentFor(id, [paying(1)]));
        chain.confirm(200);
        await merchant.review();
        shop.now = new Date(START.getTime() + LONG_MS);
        await merchant.review();
        const { id: later } = await merchant.create({ outputs: order.outputs });
        expect((await rejection((await shop.reopened()).pay(later, paymentFor(later, [paying(1)])))).code).to.equal('underpaid');
      })
    );

    it(
      'refuses an order with a script that is watched for another, of two at the same moment as well',
      inShop(async ({ merchant }) => {
        const results = await Promise.allSettled([merchant.create(order), merchant.create(order)]);
        expect(results.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected']);
        const [shared] = order.outputs;
        const [own] = ownOrder(1).outputs;
        const error = await rejection(merchant.create({ outputs: [own, shared] as typeof order.outputs }));
        expect([error.code, error.message]).to.deep.equal([
          'unpayable',
          'The script of output 1 is watched for another order: each order needs scripts of its own.'
        ]);
      })
    );

    it(
      'refuses a Payment once others have paid, in pool or chain, but not if they have paid a part',
      inShop(async ({ merchant, chain }) => {
        const { id } = await merchant.create(order);
        await chain.broadcast([paying(1, 6_000n)]);
        merchant.seenInPool(outputOf(paying(1, 6_000n)));
        await merchant.pay(id, paymentFor(id, [paying(2)]));
        const { id: other } = await merchant.create(ownOrder(1));
        const [{ script: own }] = ownOrder(1).outputs as [{ script: Buffer }];
        const byAddress = serialize({ inputs: [outpoint(3)], outputs: [{ script: own, value: 10_000n }] });
        const again = serialize({ inputs: [outpoint(4)], outputs: [{ script: own, value: 10_000n }] });
        await chain.broadcast([byAddress]);
        merchant.seenInPool(outputOf(byAddress));
        expect((await rejection(merchant.pay(other, paymentFor(other, [again])))).code).to.equal('already-paid');
        expect(await merchant.pay(other, paymentFor(other, [byAddress]))).to.not.have.length(0);
        expect(chain.broadcasts).to.have.length(3);
      })
    );

    it(
      'does not acknowledge an interrupted Payment whose output has paid another request meanwhile',
      inShop(async (shop) => {
        const { merchant, chain } = shop;
        const { id } = await merchant.create(order);
        chain.refusal = new Error('disk full');
        expect(await caught(merchant.pay(id, paymentFor(id, [paying(1)])))).to.equal(chain.refusal);
        chain.refusal = undefined;
        // As if another request had asked for this script before.
        const store = new PaymentStore(await FolderStorage.open(shop.folder));
        await store.claim([outputOf(paying(1))], 'ab'.repeat(16));
        const reopened = await shop.reopened();
        await reopened.review();
        expect((await reopened.request(id)).payments).to.containSubset([{ outcome: { decision: 'refused', code: 'underpaid' } }]);
        expect(chain.broadcasts).to.deep.equal([]);
      })
    );

    it(
      'accepts one transaction for two requests that it pays with different outputs',
      inShop(async ({ merchant }) => {
        const second = Buffer.from(`0014${'bb'.repeat(20)}`, 'hex');
        const both = serialize({
          inputs: [outpoint(1)],
          outputs: [
            { script, value: 10_000n },
            { script: second, value: 10_000n }
          ]
        });
        const { id } = await merchant.create(order);
        const { id: other } = await merchant.create({ outputs: [{ amount: 10_000n, script: second }] });
        await merchant.pay(id, paymentFor(id, [both]));
        expect(await merchant.pay(other, paymentFor(other, [both]))).to.not.have.length(0);
      })
    );
  });

  describe('state', () => {
    it(
      'follows the chain: open, in the pool, confirmed, lost in a reorganization, back',
      inShop(async ({ merchant, chain }) => {
        const { id } = await merchant.create(order);
        const states = [await merchant.state(id)];
        const next = async (): Promise<void> => {
          const { received, ...state } = await merchant.state(id);
          expect(received === undefined).to.equal(state.state === 'missing');
          states.push(state);
        };
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
          { state: 'open' },
          { state: 'unconfirmed' },
          { state: 'confirmed', confirmations: 1 },
          { state: 'confirmed', confirmations: 6 },
          { state: 'missing' },
          { state: 'unconfirmed' }
        ]);
      })
    );

    it(
      'is the state of the transaction with the fewest confirmations',
      inShop(async ({ merchant, chain }) => {
        const { id } = await merchant.create(order);
        await chain.broadcast([paying(1, 4_000n)]);
        chain.confirm(3);
        await merchant.pay(id, paymentFor(id, [paying(1, 4_000n), paying(2, 6_000n)]));
        expect(await merchant.state(id)).to.include({ state: 'unconfirmed' });
      })
    );

    it(
      'remembers where a payment was seen confirmed, also over a restart',
      inShop(async (shop) => {
        const { id } = await shop.merchant.create(order);
        await shop.merchant.pay(id, paymentFor(id, [paying(1)]));
        shop.chain.confirm(3);
        expect(await shop.merchant.state(id)).to.include({ state: 'confirmed', confirmations: 3 });
        shop.chain.known.clear();
        shop.chain.ignorance = 'wait';
        expect(await (await shop.reopened()).state(id)).to.include({ state: 'confirmed', confirmations: 7 });
      })
    );

    it(
      'is expired if nothing was paid in time',
      inShop(async (shop) => {
        const { id } = await shop.merchant.create(order);
        shop.now = LATER;
        expect(await shop.merchant.state(id)).to.deep.equal({ state: 'expired' });
      })
    );
  });

  describe('records', () => {
    const refundTo = [{ script: Buffer.from('51', 'hex') }];
    const decisions: [title: string, code: string, payment: (id: string) => Buffer][] = [
      ['pays too little', 'underpaid', (id) => paymentFor(id, [paying(1, 9_999n)], { refundTo })],
      ['has other merchant_data', 'wrong-merchant-data', () => paymentFor('00', [paying(1)], { refundTo })],
      ['has a malformed transaction', 'malformed', (id) => paymentFor(id, [Buffer.from('00', 'hex')], { refundTo })],
      ['has no transaction', 'underpaid', (id) => paymentFor(id, [], { refundTo })]
    ];
    for (const [title, code, payment] of decisions) {
      it(
        `keep a Payment that ${title}, with the reason and where a refund would go`,
        inShop(async (shop) => {
          const { id } = await shop.merchant.create(order);
          const { message: reason } = await rejection(shop.merchant.pay(id, payment(id)));
          const { payments } = await (await shop.reopened()).request(id);
          expect(payments).to.have.length(1);
          expect(payments[0]).to.deep.include({
            payment: payment(id),
            refundTo,
            receivedAt: START,
            outcome: { decision: 'refused', code, reason }
          });
        })
      );
    }

    it(
      'keep one that came late, and one that came second',
      inShop(async (shop) => {
        const { id } = await shop.merchant.create(order);
        await shop.merchant.pay(id, paymentFor(id, [paying(1)]));
        await rejection(shop.merchant.pay(id, paymentFor(id, [paying(2)], { refundTo })));
        shop.chain.conflicted.add(txidOf(paying(1)));
        shop.chain.known.clear();
        shop.now = LATER;
        await rejection(shop.merchant.pay(id, paymentFor(id, [paying(3)], { refundTo })));
        const codes = (await shop.merchant.request(id)).payments.map(({ outcome }) =>
          outcome?.decision === 'refused' ? outcome.code : outcome
        );
        expect(codes).to.deep.equal([undefined, 'already-paid', 'expired']);
      })
    );

    it(
      'keep no Payment that cannot be decoded',
      inShop(async ({ merchant }) => {
        const { id } = await merchant.create(order);
        await rejection(merchant.pay(id, Buffer.from('0a', 'hex')));
        expect((await merchant.request(id)).payments).to.deep.equal([]);
      })
    );

    it(
      'keep one Payment that is refused and comes again only once, and not as refused after it is accepted',
      inShop(async ({ merchant, chain }) => {
        const { id } = await merchant.create(order);
        chain.refusal = refused;
        const payment = paymentFor(id, [paying(1)]);
        await rejection(merchant.pay(id, payment));
        await rejection(merchant.pay(id, payment));
        expect((await merchant.request(id)).payments).to.have.length(1);
        chain.refusal = undefined;
        await merchant.pay(id, payment);
        const { payments } = await merchant.request(id);
        expect([payments.length, payments[0]?.outcome, payments[0]?.acknowledgement?.length]).to.deep.equal([
          1,
          undefined,
          (await merchant.pay(id, payment)).length
        ]);
      })
    );

    it(
      'have room for a few refused Payments, and those with money stay',
      inShop(async ({ merchant, chain }) => {
        const { id } = await merchant.create(order);
        const paid = paymentFor(id, [paying(0, 4_000n)]);
        await chain.broadcast([paying(0, 4_000n)]);
        await rejection(merchant.pay(id, paid));
        for (let seed = 1; seed <= 12; seed++) await rejection(merchant.pay(id, paymentFor(id, [paying(seed, 6_000n)])));
        const { payments } = await merchant.request(id);
        expect(payments).to.have.length(8);
        expect(payments[0]?.payment).to.deep.equal(paid);
        expect(payments.at(-1)?.payment).to.deep.equal(paymentFor(id, [paying(12, 6_000n)]));
        for (let seed = 13; seed <= 16; seed++)
          await rejection(merchant.pay(id, paymentFor(id, [paying(seed, 1n)], { memo: 'x'.repeat(45_000) })));
        const lengths = (await merchant.request(id)).payments.map(({ payment }) => payment.length);
        expect(lengths.reduce((sum, length) => sum + length)).to.be.within(90_000, 100_000);
      })
    );

    it(
      'forget refused Payments after 90 days, unless money came with them',
      inShop(async (shop) => {
        const { merchant, chain } = shop;
        const { id } = await merchant.create(order);
        await chain.broadcast([paying(1, 4_000n)]);
        await rejection(merchant.pay(id, paymentFor(id, [paying(1, 4_000n)])));
        await rejection(merchant.pay(id, paymentFor(id, [paying(2, 4_000n)])));
        shop.now = new Date(START.getTime() + 91 * 24 * 3_600_000);
        await merchant.review();
        expect((await merchant.request(id)).payments.map(({ payment }) => payment)).to.deep.equal([paymentFor(id, [paying(1, 4_000n)])]);
      })
    );
  });

  it(
    'shows the details as they were sent',
    inShop(async ({ merchant }) => {
      const { id } = await merchant.create(order);
      expect(detailsOf(await merchant.request(id))).to.include({ memo: 'Two <mugs>', network: 'test' });
    })
  );
});
