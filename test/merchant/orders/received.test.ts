import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { displayTxid } from '../../../lib/payments/rules/transaction';
import { outpoint, serialize } from '../../payments/transactions';
import { rejection } from '../../payments/vectors';
import { FolderStorage } from '../../../lib/merchant/orders/storage';
import { PaymentStore } from '../../../lib/merchant/orders/store';
import { BLOCK, START, LONG_MS, inShop, order, outputOf, ownOrder, paying, paymentFor, script } from './shop';

describe('money that came without an accepted Payment', () => {
  it(
    'is shown, from the pool and from blocks, and recorded for good once it was in a block',
    inShop(async (shop) => {
      const { merchant, chain } = shop;
      const { id } = await merchant.create(order);
      const outputs = [outputOf(paying(1, 3_000n)), outputOf(paying(2, 4_000n))] as const;
      await chain.broadcast([paying(1, 3_000n)]);
      merchant.seenInPool(outputs[0]);
      chain.known.set(outputs[1].txid.toString('hex'), 2);
      await merchant.receive(BLOCK, [outputs[1]]);
      expect((await merchant.state(id)).received).to.include({ amount: 7_000n, confirmed: 4_000n });
      expect((await (await shop.reopened()).state(id)).received).to.include({ amount: 4_000n, confirmed: 4_000n });
      expect(await merchant.state(id)).to.include({ state: 'open' });
    })
  );

  it(
    'is shown to those who ask while a block is recorded that takes it out of the pool',
    inShop(async ({ merchant, chain }) => {
      const { id } = await merchant.create(order);
      await merchant.pay(id, paymentFor(id, [paying(1)]));
      await chain.broadcast([paying(2, 4_000n)]);
      merchant.seenInPool(outputOf(paying(2, 4_000n)));
      const standing = chain.standing.bind(chain);
      chain.standing = async (transaction, seenIn) => {
        chain.standing = standing;
        await merchant.receive(BLOCK, [outputOf(paying(2, 4_000n))]);
        return standing(transaction, seenIn);
      };
      expect((await merchant.state(id)).received).to.include({ amount: 14_000n });
    })
  );

  it(
    'is shown with a Payment that was refused',
    inShop(async ({ merchant, chain }) => {
      const { id } = await merchant.create(order);
      await chain.broadcast([paying(1, 4_000n)]);
      await rejection(merchant.pay(id, paymentFor(id, [paying(1, 4_000n)])));
      expect(await merchant.state(id)).to.deep.equal({
        state: 'open',
        received: {
          amount: 4_000n,
          confirmed: 0n,
          outputs: [{ txid: displayTxid(outputOf(paying(1, 4_000n)).txid), index: 0, amount: 4_000n, confirmations: 0 }]
        }
      });
    })
  );

  it(
    'is looked for only in transactions that pay to a script of an order',
    inShop(async ({ merchant, chain }) => {
      const { id } = await merchant.create(order);
      const looked: Buffer[] = [];
      const standing = chain.standing.bind(chain);
      chain.standing = (transaction, seenIn) => {
        looked.push(transaction.txid);
        return standing(transaction, seenIn);
      };
      const others = Array.from({ length: 200 }, (_, seed) =>
        serialize({ inputs: [outpoint(seed)], outputs: [{ script: Buffer.from('51', 'hex'), value: 10_000n }] })
      );
      await rejection(merchant.pay(id, paymentFor(id, [...others, paying(201, 1n)])));
      expect(looked).to.deep.equal([outputOf(paying(201, 1n)).txid]);
    })
  );

  it(
    'is not shown once it has left the pool, or if it has paid another order',
    inShop(async (shop) => {
      const { merchant, chain } = shop;
      const { id } = await merchant.create(order);
      await new PaymentStore(await FolderStorage.open(shop.folder)).claim([outputOf(paying(1))], 'ab'.repeat(16));
      await chain.broadcast([paying(1), paying(2)]);
      for (const seed of [1, 2]) merchant.seenInPool(outputOf(paying(seed)));
      expect((await merchant.state(id)).received).to.include({ amount: 10_000n });
      chain.known.clear();
      await merchant.review();
      expect((await merchant.state(id)).received).to.equal(undefined);
    })
  );

  it(
    'is shown among more dust than is remembered',
    inShop(async ({ merchant, chain }) => {
      const { id } = await merchant.create(order);
      const dust = serialize({ inputs: [outpoint(9)], outputs: Array.from({ length: 300 }, () => ({ script, value: 1n })) });
      await chain.broadcast([dust, paying(1)]);
      const { txid } = outputOf(dust);
      for (let index = 0; index < 300; index++) merchant.seenInPool({ txid, index, amount: 1n, script });
      merchant.seenInPool(outputOf(paying(1)));
      expect(await merchant.progress(id)).to.include({ status: 'seen', received: 10_255n });
    })
  );

  it(
    'keeps no Payment waiting until all of many outputs in one block are recorded, and the largest stay',
    inShop(async ({ merchant, chain }) => {
      const { id } = await merchant.create(order);
      const { id: other } = await merchant.create(ownOrder(1));
      const outputs = Array.from({ length: 3_000 }, (_, index) => ({ txid: Buffer.alloc(32, 7), index, amount: 1n, script }));
      chain.known.set(outputOf(paying(1)).txid.toString('hex'), 1);
      const over: string[] = [];
      await Promise.all([
        merchant.receive(BLOCK, [...outputs, outputOf(paying(1))]).then(() => over.push('block')),
        rejection(merchant.pay(other, paymentFor(other, [paying(2)]))).then(() => over.push('Payment'))
      ]);
      expect(over).to.deep.equal(['Payment', 'block']);
      expect(await merchant.progress(id)).to.include({ status: 'confirmed', received: 10_000n });
    })
  );

  it(
    'is missed while the record is damaged, which the operator is told, and found once the block is searched again',
    inShop(async ({ merchant, chain, folder, troubles }) => {
      const { id } = await merchant.create(order);
      const file = join(folder, `${id}.json`);
      const record = await readFile(file);
      await writeFile(file, '{');
      await chain.broadcast([paying(1)]);
      chain.confirm(1);
      await merchant.receive(BLOCK, [outputOf(paying(1))]);
      expect(troubles).to.have.length(1);
      expect(troubles[0])
        .to.include(`The record ${id}.json is damaged`)
        .and.to.include('What block 100 pays to the order is not recorded: repair the file');
      await writeFile(file, record);
      await merchant.receive(BLOCK, [outputOf(paying(1))]);
      expect((await merchant.progress(id)).status).to.equal('confirmed');
    })
  );

  it(
    'does not settle an order of any amount with nothing',
    inShop(async ({ merchant, chain }) => {
      const { id } = await merchant.create({ outputs: [{ amount: 0n, script }] });
      await chain.broadcast([paying(1, 0n)]);
      merchant.seenInPool(outputOf(paying(1, 0n)));
      expect((await merchant.progress(id)).status).to.equal('underpaid');
    })
  );

  it(
    'is looked for until 90 days after it came, if the order has no expiry and is paid',
    inShop(async (shop) => {
      const { merchant, chain } = shop;
      await merchant.create({ outputs: order.outputs });
      shop.now = new Date(START.getTime() + LONG_MS);
      await chain.broadcast([paying(1)]);
      chain.confirm(1);
      await merchant.receive(BLOCK, [outputOf(paying(1))]);
      await merchant.review();
      expect((await shop.reopened()).isAsked(script)).to.equal(true);
      shop.now = new Date(START.getTime() + 2 * LONG_MS);
      await merchant.review();
      expect(merchant.isIdle).to.equal(true);
    })
  );

  it(
    'is looked for until 90 days after the order’s expiry, or indefinitely if it has none',
    inShop(async (shop) => {
      const { merchant } = shop;
      await merchant.create(order);
      shop.now = new Date(START.getTime() + 91 * 24 * 3_600_000);
      await merchant.review();
      expect([merchant.isIdle, merchant.isAsked(script)]).to.deep.equal([true, false]);
      await new PaymentStore(await FolderStorage.open(shop.folder)).savePosition(BLOCK);
      expect((await shop.reopened()).isIdle).to.equal(true);
      await merchant.create({ outputs: order.outputs });
      shop.now = new Date(START.getTime() + 1_000 * 24 * 3_600_000);
      await merchant.review();
      expect((await shop.reopened()).isAsked(script)).to.equal(true);
    })
  );
});
