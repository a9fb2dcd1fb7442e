import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { parseTransaction } from '../../../lib/payments/rules/transaction';
import { outpoint, serialize } from '../../payments/transactions';
import { START, LONG_MS, inShop, order, paying, paymentFor, refused, type Shop } from './shop';

const LATER = new Date(START.getTime() + 3_600_000);

/** The txid in display order. */
const txidOf = (transaction: Buffer): string => parseTransaction(transaction).txid.toString('hex');

describe('the review of acknowledged payments', () => {
  const acknowledged = async ({ merchant }: Shop): Promise<string> => {
    const { id } = await merchant.create(order);
    await merchant.pay(id, paymentFor(id, [paying(1)]));
    return id;
  };

  for (const [name, settle] of [
    [
      'deep in the chain',
      ({ chain }: Shop): void => {
        chain.confirm(200);
      }
    ],
    [
      'excluded by the chain',
      ({ chain }: Shop): void => {
        chain.exclude(paying(1));
      }
    ]
  ] as const)
    it(
      `ends after 90 days for one that is ${name}`,
      inShop(async (shop) => {
        await acknowledged(shop);
        settle(shop);
        await shop.merchant.review();
        expect(shop.merchant.isIdle).to.equal(false);
        shop.now = new Date(START.getTime() + LONG_MS);
        await shop.merchant.review();
        expect(shop.merchant.isIdle).to.equal(true);
      })
    );

  it(
    'is not disturbed by what becomes of transactions that pay nothing',
    inShop(async ({ merchant, chain, troubles }) => {
      const { id } = await merchant.create(order);
      const other = serialize({ inputs: [outpoint(2)], outputs: [{ script: Buffer.from('51', 'hex'), value: 5_000n }] });
      await merchant.pay(id, paymentFor(id, [paying(1), other]));
      chain.exclude(other);
      expect(await merchant.progress(id)).to.include({ status: 'seen', state: 'unconfirmed' });
      chain.known.clear();
      await merchant.review();
      expect(chain.broadcasts.at(-1)).to.deep.equal([paying(1)]);
      // Nor does the operator hear of one that the node no longer takes.
      chain.confirm(1);
      chain.conflicted.clear();
      chain.refusal = refused;
      await merchant.review();
      expect((await merchant.state(id)).state).to.equal('confirmed');
      expect(troubles).to.deep.equal([]);
    })
  );

  it(
    'broadcasts them again until they are confirmed, also after a restart and after expiry',
    inShop(async (shop) => {
      await acknowledged(shop);
      shop.chain.known.clear();
      shop.now = LATER;
      const merchant = await shop.reopened();
      await merchant.review();
      // In the pool: it is announced to peers that have not heard of it.
      await merchant.review();
      shop.chain.confirm(1);
      await merchant.review();
      expect(shop.chain.broadcasts).to.deep.equal([[paying(1)], [paying(1)], [paying(1)]]);
      shop.chain.known.clear();
      await merchant.review();
      expect(shop.chain.broadcasts).to.have.length(4);
    })
  );

  it(
    'stops when the chain excludes a payment, or has it deep',
    inShop(async (shop) => {
      const id = await acknowledged(shop);
      shop.chain.known.clear();
      shop.chain.conflicted.add(txidOf(paying(1)));
      for (let i = 0; i < 2; i++) await shop.merchant.review();
      expect(shop.chain.broadcasts).to.have.length(1);
      expect(shop.troubles).to.deep.equal([
        `Order ${id}: a payment that was acknowledged cannot be confirmed any more: another transaction in the chain has spent its coins. The order has received 0 satoshis.`
      ]);
      await shop.merchant.pay(id, paymentFor(id, [paying(2)]));
      shop.chain.confirm(100);
      await shop.merchant.review();
      shop.chain.known.clear();
      await shop.merchant.review();
      expect(shop.chain.broadcasts).to.have.length(2);
    })
  );

  it(
    'tells the operator once when the node no longer accepts a payment',
    inShop(async (shop) => {
      const id = await acknowledged(shop);
      shop.chain.known.clear();
      shop.chain.refusal = refused;
      await shop.merchant.review();
      await shop.merchant.review();
      expect(shop.troubles).to.deep.equal([
        `Order ${id}: a payment that was acknowledged is in neither chain nor pool. ${refused.message}`
      ]);
      expect(await shop.merchant.state(id)).to.deep.equal({ state: 'missing' });
    })
  );

  it(
    'finishes a Payment that was interrupted',
    inShop(async (shop) => {
      const { id } = await shop.merchant.create(order);
      shop.chain.refusal = new Error('the node went away');
      await shop.merchant.pay(id, paymentFor(id, [paying(1)])).catch(() => undefined);
      shop.chain.refusal = undefined;
      const merchant = await shop.reopened();
      await merchant.review();
      expect(await merchant.state(id)).to.include({ state: 'unconfirmed' });
      expect((await merchant.request(id)).payments[0]?.acknowledgement).to.not.equal(undefined);
    })
  );

  it(
    'continues with the others when a record is damaged',
    inShop(async (shop) => {
      const id = await acknowledged(shop);
      const { id: other } = await shop.merchant.create({ outputs: [{ amount: 10_000n, script: Buffer.from('51', 'hex') }] });
      await shop.merchant.pay(
        other,
        paymentFor(other, [serialize({ inputs: [outpoint(2)], outputs: [{ script: Buffer.from('51', 'hex'), value: 10_000n }] })])
      );
      await writeFile(join(shop.folder, `${id}.json`), '{}');
      shop.chain.known.clear();
      await shop.merchant.review();
      expect(shop.troubles).to.have.length(1);
      expect(shop.troubles[0]).to.include(`${id}.json is damaged`);
      expect(await shop.merchant.state(other)).to.include({ state: 'unconfirmed' });
    })
  );
});
