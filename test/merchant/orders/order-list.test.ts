import { randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { answerList } from '../../../lib/merchant/orders/http';
import { START, inShop, order, outputOf, ownOrder, paying, paymentFor, type Shop } from './shop';

interface Listed {
  readonly orders: readonly { readonly id: string; readonly status?: string; readonly error?: string }[];
  readonly next?: string;
}

async function list({ merchant }: Pick<Shop, 'merchant'>, query = ''): Promise<Listed> {
  const reply = await answerList(merchant, new URLSearchParams(query), undefined);
  expect(reply.status, reply.body.toString()).to.equal(200);
  return JSON.parse(reply.body.toString()) as Listed;
}

const idsOf = ({ orders }: Listed): string[] => orders.map(({ id }) => id);

/** Makes orders a second apart. @returns their ids, the newest first */
async function created(shop: Shop, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    shop.now = new Date(shop.now.getTime() + 1_000);
    const { outputs } = i === 0 ? order : ownOrder(i);
    ids.unshift((await shop.merchant.create({ outputs })).id);
  }
  return ids;
}

describe('the list of orders', () => {
  it(
    'has the newest first, in pages, also after a restart',
    inShop(async (shop) => {
      expect(await list(shop)).to.deep.equal({ orders: [] });
      const ids = await created(shop, 7);
      const walked = async (merchant: Shop['merchant']): Promise<string[]> => {
        const first = await list({ merchant }, 'limit=3');
        expect(first.orders).to.have.length(3);
        const second = await list({ merchant }, `limit=3&before=${first.next ?? ''}`);
        const third = await list({ merchant }, `limit=3&before=${second.next ?? ''}`);
        expect(third.next).to.equal(undefined);
        return [first, second, third].flatMap(idsOf);
      };
      expect(await walked(shop.merchant)).to.deep.equal(ids);
      const reopened = await shop.reopened();
      expect(await walked(reopened)).to.deep.equal(ids);
      // Orders that are made while the list is being loaded are in it, once.
      const again = await shop.reopened();
      const [, { id }] = await Promise.all([list({ merchant: again }), again.create(ownOrder(ids.length))]);
      expect(idsOf(await list({ merchant: again }))).to.have.members([id, ...ids]);
    })
  );

  it(
    'is filtered by status',
    inShop(async (shop) => {
      const [unpaid = ''] = await created(shop, 1);
      const { id: expired } = await shop.merchant.create({
        outputs: [{ amount: 10_000n, script: Buffer.from([0x51]) }],
        expires: order.expires ?? 0n
      });
      shop.now = new Date(START.getTime() + 3_600_000);
      expect(idsOf(await list(shop, 'status=open'))).to.deep.equal([unpaid]);
      expect(idsOf(await list(shop, 'status=expired'))).to.deep.equal([expired]);
      await shop.chain.broadcast([paying(1)]);
      shop.merchant.seenInPool(outputOf(paying(1)));
      expect((await list(shop, 'status=seen')).orders).to.containSubset([{ id: unpaid, status: 'seen', received: 10_000 }]);
      expect(await list(shop, 'status=confirmed')).to.deep.equal({ orders: [] });
    })
  );

  it(
    'goes on where it has looked at enough',
    inShop(async (shop) => {
      const [id = ''] = await created(shop, 1);
      const record = await readFile(join(shop.folder, `${id}.json`));
      for (let i = 0; i < 500; i++) await writeFile(join(shop.folder, `${randomBytes(16).toString('hex')}.json`), record);
      const page = await list(shop, 'status=confirmed');
      expect(page.orders).to.deep.equal([]);
      expect(await list(shop, `status=confirmed&before=${page.next ?? ''}`)).to.deep.equal({ orders: [] });
    })
  );

  it(
    'names damaged records, and leaves out those that are gone',
    inShop(async (shop) => {
      const [third = '', second = '', first = ''] = await created(shop, 3);
      await writeFile(join(shop.folder, `${third}.json`), '{');
      await rm(join(shop.folder, `${second}.json`));
      for (const merchant of [shop.merchant, await shop.reopened()]) {
        const { orders } = await list({ merchant });
        expect(orders.map(({ id }) => id)).to.have.members([first, third]);
        expect(orders.find(({ id }) => id === third)?.error).to.include(`The record ${third}.json is damaged`);
      }
    })
  );

  it(
    'has the others, and the reason, when it is not known what became of a Payment',
    inShop(async (shop) => {
      const [second = '', first = ''] = await created(shop, 2);
      await shop.merchant.pay(first, paymentFor(first, [paying(1)]));
      shop.chain.known.clear();
      shop.chain.ignorance = 'the blocks are thrown away';
      const { orders } = await list(shop);
      expect(orders).to.containSubset([{ id: second, status: 'open' }]);
      expect(orders.at(-1)).to.deep.equal({ id: first, error: 'the blocks are thrown away' });
      expect(idsOf(await list(shop, 'status=open'))).to.deep.equal([second]);
    })
  );

  it(
    'has pages of up to 100',
    inShop(async (shop) => {
      const ids = await created(shop, 2);
      expect(idsOf(await list(shop, 'limit=100'))).to.deep.equal(ids);
    })
  );

  const bad: [query: string, message: RegExp][] = [
    ['state=open', /status, before, limit expected, each once, "state" came/],
    ['limit=1&limit=2', /each once/],
    ['status=paid', /status: one of open, underpaid/],
    ['limit=0', /limit: a whole number from 1 to 100/],
    ['limit=101', /limit: a whole number/],
    ['limit=1e1', /limit: a whole number/],
    [`before=${'0'.repeat(32)}`, /before: the id of an order expected/]
  ];
  for (const [query, message] of bad) {
    it(
      `answers ?${query} with 400 and the reason`,
      inShop(async ({ merchant }) => {
        const reply = await answerList(merchant, new URLSearchParams(query), undefined);
        expect(reply.status).to.equal(400);
        expect(reply.body.toString()).to.match(message);
      })
    );
  }

  it(
    'is a page for browsers, in which memos are text',
    inShop(async ({ merchant }) => {
      const { id, url } = await merchant.create(order);
      const reply = await answerList(merchant, new URLSearchParams('limit=1'), 'text/html,*/*;q=0.8');
      expect(reply.headers['Content-Type']).to.equal('text/html; charset=utf-8');
      expect(reply.headers['Content-Security-Policy']).to.include("default-src 'none'");
      const html = reply.body.toString();
      expect(html).to.include(`href="${url}"`).and.to.include('Two &#60;mugs&#62;').and.to.include('0.0001').and.to.include('>open</span>');
      expect(html)
        .to.not.include('<mugs>')
        .and.to.not.include(id.slice(0, 12) + '…');
    })
  );
});
