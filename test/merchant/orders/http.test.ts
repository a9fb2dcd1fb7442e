import { expect } from 'chai';
import { describe, it } from 'mocha';
import { PaymentError } from '../../../lib/payments/error';
import { answerCreate, answerGet, answerPay } from '../../../lib/merchant/orders/http';
import { decodePaymentACK } from '../../../lib/payments/messages';
import { PAYMENT_REQUEST_TYPE, PAYMENT_TYPE } from '../../../lib/payments/transport/media-types';
import { displayTxid } from '../../../lib/payments/rules/transaction';
import { START, inShop, order, outputOf, paying, paymentFor, refused, script } from './shop';

describe('merchant over HTTP', () => {
  describe('POST /pay', () => {
    it(
      'makes a request from an order in JSON',
      inShop(async ({ merchant }) => {
        const body = JSON.stringify({
          outputs: [{ amount: 10_000, script: script.toString('hex') }],
          memo: 'Two mugs',
          expires: 1_900_000_000
        });
        const reply = await answerCreate(merchant, Buffer.from(body));
        const created = JSON.parse(reply.body.toString()) as { id: string; url: string; uri: string };
        expect(reply.status).to.equal(201);
        expect(reply.headers).to.include({ 'Content-Type': 'application/json; charset=utf-8', Location: created.url });
        expect((await merchant.request(created.id)).id).to.equal(created.id);
      })
    );

    const bad: [title: string, body: string | Buffer, message: RegExp][] = [
      ['text that is not UTF-8', Buffer.from('{"outputs": [{"amount": 1000, "script": "51"}], "memo": "Gl\xfchwein"}', 'latin1'), /UTF-8/],
      ['text that is not JSON', '{', /An order in JSON expected/],
      ['an array', '[]', /the body: an object expected/],
      ['null', 'null', /the body: an object expected/],
      ['no outputs', '{}', /outputs: an array expected/],
      ['no output', '{"outputs": []}', /At least one output/],
      ['an amount with decimals', `{"outputs": [{"amount": 0.1, "script": "51"}]}`, /outputs\[0\]\.amount: a whole number/],
      ['an amount below 0', `{"outputs": [{"amount": -1, "script": "51"}]}`, /outputs\[0\]\.amount/],
      ['an amount as text', `{"outputs": [{"amount": "1", "script": "51"}]}`, /outputs\[0\]\.amount/],
      ['a script that is not hex', `{"outputs": [{"amount": 1000, "script": "5"}]}`, /outputs\[0\]\.script: hex/],
      ['an output that is not an object', `{"outputs": [null]}`, /outputs\[0\]: an object/],
      ['a memo that is not text', `{"outputs": [], "memo": 1}`, /memo: text/],
      ['a memo with half a character', String.raw`{"outputs": [{"amount": 1000, "script": "51"}], "memo": "\ud83c"}`, /memo: text/],
      [
        'an unknown field',
        '{"outputs": [{"amount": 1000, "script": "51"}], "expiry": 1900000000}',
        /Order: outputs, memo, expires, merchant_url, notify_url expected, "expiry" came/
      ],
      [
        'an unknown field of an output',
        '{"outputs": [{"amount": 1000, "script": "51", "address": "x"}]}',
        /outputs\[0\]: amount, script expected, "address" came/
      ],
      ['an OP_RETURN output', '{"outputs": [{"amount": 0, "script": "6a0401020304"}]}', /Outputs that can be spent expected/],
      [
        'an OP_RETURN output among others',
        '{"outputs": [{"amount": 1000, "script": "51"}, {"amount": 0, "script": "6a"}]}',
        /Outputs that can be spent expected/
      ],
      [
        'an expiry in milliseconds',
        '{"outputs": [{"amount": 1000, "script": "51"}], "expires": 1900000000000}',
        /expires: Unix seconds expected, 1900000000000 came/
      ],
      ['a time in the past', `{"outputs": [{"amount": 1000, "script": "51"}], "expires": 1}`, /expired/]
    ];
    for (const [title, body, message] of bad) {
      it(
        `answers ${title} with 400 and the reason`,
        inShop(async ({ merchant }) => {
          const reply = await answerCreate(merchant, Buffer.from(body as string));
          expect(reply.status).to.equal(400);
          expect(reply.body.toString()).to.match(message).and.to.match(/\r\n$/);
        })
      );
    }

    it(
      'answers 500 with the reason when requests cannot be signed',
      inShop(
        async ({ merchant }) => {
          const body = JSON.stringify({ outputs: [{ amount: 10_000, script: script.toString('hex') }] });
          const reply = await answerCreate(merchant, Buffer.from(body));
          expect([reply.status, reply.body.toString()]).to.deep.equal([
            500,
            'certificates.pem: "CN=shop.example" was valid until yesterday.\r\n'
          ]);
        },
        {
          identity: () => {
            throw new PaymentError('cannot-sign', 'certificates.pem: "CN=shop.example" was valid until yesterday.');
          }
        }
      )
    );
  });

  describe('GET /pay/<id>', () => {
    it(
      'gives wallets the PaymentRequest',
      inShop(async ({ merchant }) => {
        const { id } = await merchant.create(order);
        const reply = await answerGet(merchant, id, PAYMENT_REQUEST_TYPE);
        expect(reply).to.deep.equal({
          status: 200,
          headers: {
            'Content-Type': PAYMENT_REQUEST_TYPE,
            'Content-Transfer-Encoding': 'binary',
            'Cache-Control': 'no-store',
            Vary: 'Accept'
          },
          body: (await merchant.request(id)).request
        });
      })
    );

    it(
      'gives programs the bitcoin URI',
      inShop(async ({ merchant }) => {
        const { id, uri } = await merchant.create(order);
        const reply = await answerGet(merchant, id, 'text/uri-list');
        expect([reply.headers['Content-Type'], reply.body.toString()]).to.deep.equal(['text/uri-list; charset=utf-8', `${uri}\r\n`]);
      })
    );

    it(
      'gives browsers a page, in which the memo is text',
      inShop(async ({ merchant }) => {
        const { id, uri } = await merchant.create(order);
        const reply = await answerGet(merchant, id, 'text/html');
        expect(reply.headers['Content-Type']).to.equal('text/html; charset=utf-8');
        expect(reply.body.toString())
          .to.include(`href="${uri}"`)
          .and.to.include('Two &#60;mugs&#62;')
          .and.to.include('10,000 sats')
          .and.to.include('Waiting for your payment')
          .and.to.not.include('<mugs>');
      })
    );

    it(
      'shows the state on the page',
      inShop(async (shop) => {
        const { merchant, chain } = shop;
        const page = async (): Promise<string> => (await answerGet(merchant, id, undefined)).body.toString();
        const { id } = await merchant.create(order);
        await merchant.pay(id, paymentFor(id, [paying(1)]));
        expect(await page())
          .to.include('Payment seen')
          .and.to.not.include('href');
        chain.confirm(1);
        expect(await page()).to.include('1 confirmation<');
        chain.confirm(2);
        expect(await page()).to.include('2 confirmations<');
        chain.known.clear();
        expect(await page()).to.include('The network does not know it any more');
        const { id: late } = await merchant.create({ outputs: [{ script: Buffer.from('51', 'hex') }], expires: 1_800_000_000n });
        shop.now = new Date(START.getTime() + 10_000_000_000);
        expect((await answerGet(merchant, late, undefined)).body.toString())
          .to.include('has expired')
          .and.to.include('As much as you like');
      })
    );

    it(
      'tells shops what the outputs have received',
      inShop(async ({ merchant, chain }) => {
        const state = async (): Promise<unknown> => JSON.parse((await answerGet(merchant, id, 'application/json')).body.toString());
        const { id } = await merchant.create(order);
        expect(await state()).to.deep.equal({ id, state: 'open' });
        await chain.broadcast([paying(1, 4_000n)]);
        merchant.seenInPool({ ...outputOf(paying(1, 4_000n)) });
        const received = { txid: displayTxid(outputOf(paying(1, 4_000n)).txid), index: 0, amount: 4_000 };
        expect(await state()).to.deep.equal({
          id,
          state: 'open',
          received: { amount: 4_000, confirmed: 0, outputs: [{ ...received, confirmations: 0 }] }
        });
        expect((await answerGet(merchant, id, undefined)).body.toString()).to.include('0.00006 BTC is missing');
        chain.confirm(3);
        expect(await state()).to.deep.equal({
          id,
          state: 'open',
          received: { amount: 4_000, confirmed: 4_000, outputs: [{ ...received, confirmations: 3 }] }
        });
      })
    );

    it(
      'answers 503 while it is not known whether a request is paid',
      inShop(async ({ merchant, chain }) => {
        const { id } = await merchant.create(order);
        await merchant.pay(id, paymentFor(id, [paying(1)]));
        chain.known.clear();
        chain.ignorance = 'Service temporarily unavailable: height 5';
        for (const reply of [
          await answerGet(merchant, id, 'application/json'),
          await answerPay(merchant, id, PAYMENT_TYPE, paymentFor(id, [paying(2)]))
        ]) {
          expect([reply.status, reply.body.toString()]).to.deep.equal([503, 'Service temporarily unavailable: height 5\r\n']);
        }
        expect((await answerGet(merchant, id, PAYMENT_REQUEST_TYPE)).status).to.equal(200);
      })
    );

    it(
      'answers 404 for an unknown id',
      inShop(async ({ merchant }) => {
        expect((await answerGet(merchant, '00'.repeat(16), undefined)).status).to.equal(404);
      })
    );
  });

  describe('POST /pay/<id>', () => {
    it(
      'answers a Payment with its PaymentACK',
      inShop(async ({ merchant }) => {
        const { id } = await merchant.create(order);
        const reply = await answerPay(merchant, id, 'application/bitcoin-payment; charset=binary', paymentFor(id, [paying(1)]));
        expect(reply.status).to.equal(200);
        expect(reply.headers).to.include({ 'Content-Type': 'application/bitcoin-paymentack', 'Content-Transfer-Encoding': 'binary' });
        expect(decodePaymentACK(reply.body).payment.transactions).to.deep.equal([paying(1)]);
      })
    );

    it(
      'answers a Payment that does not pay with 400 and the reason',
      inShop(async ({ merchant, chain }) => {
        const { id } = await merchant.create(order);
        const underpaid = await answerPay(merchant, id, PAYMENT_TYPE, paymentFor(id, [paying(1, 1n)]));
        expect([underpaid.status, underpaid.body.toString()]).to.deep.equal([
          400,
          `10000 satoshis to the script ${script.toString('hex')} expected, 1 came.\r\n`
        ]);
        chain.refusal = refused;
        const rejected = await answerPay(merchant, id, PAYMENT_TYPE, paymentFor(id, [paying(1)]));
        expect([rejected.status, rejected.body.toString()]).to.deep.equal([400, `${refused.message}\r\n`]);
      })
    );

    it(
      'answers another media type with 415',
      inShop(async ({ merchant }) => {
        const { id } = await merchant.create(order);
        for (const type of [undefined, 'application/octet-stream', PAYMENT_REQUEST_TYPE]) {
          expect((await answerPay(merchant, id, type, paymentFor(id, [paying(1)]))).status).to.equal(415);
        }
      })
    );

    it(
      'answers a Payment that is too large with 413, and an unknown id with 404',
      inShop(async ({ merchant }) => {
        const { id } = await merchant.create(order);
        expect((await answerPay(merchant, id, PAYMENT_TYPE, Buffer.alloc(50_001))).status).to.equal(413);
        expect((await answerPay(merchant, '00'.repeat(16), PAYMENT_TYPE, Buffer.alloc(0))).status).to.equal(404);
      })
    );

    it(
      'passes failures of the node on to the server',
      inShop(async ({ merchant, chain }) => {
        const { id } = await merchant.create(order);
        chain.refusal = new Error('the node went away');
        expect(await answerPay(merchant, id, PAYMENT_TYPE, paymentFor(id, [paying(1)])).catch((error: unknown) => error)).to.equal(
          chain.refusal
        );
      })
    );
  });
});
