import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { DamagedRecordError } from '../../../lib/merchant/orders/record';
import { displayTxid, parseTransaction } from '../../../lib/payments/rules/transaction';
import { inShop, order, paying, paymentFor, script } from './shop';

const HASH = '11'.repeat(32);
const RECEIPT = JSON.stringify({ txid: HASH, index: 0, amount: '5', receivedAt: '2026-01-01T00:00:00.000Z', height: 1, block: HASH });

describe('PaymentStore', () => {
  const damages: [title: string, damage: (record: string) => string][] = [
    ['is empty', () => ''],
    ['is cut off', (record) => record.slice(0, record.length / 2)],
    ['is something else', () => '[]'],
    ['has bytes that are not hex', (record) => record.replace(/"request": "../, '"request": "x')],
    ['has half a byte', (record) => record.replace(/("request": ")./, '$1')],
    ['has a malformed request', (record) => record.replace(/"request": "[0-9a-f]+"/, '"request": "00"')],
    ['has no payments', (record) => record.replace('"payments"', '"payment"')],
    ['has a malformed time', (record) => record.replace(/("createdAt": ")[^"]*/, '$1soon')],
    ['has a receipt that does not say its script', (record) => record.replace('"payments"', `"received": [${RECEIPT}], "payments"`)],
    ['has a malformed payment', (record) => record.replace(/"txids": \[[^\]]*\]/, '"txids": null')],
    ['has a refund with a malformed amount', (record) => record.replace('"amount": "5"', '"amount": "five"')]
  ];
  for (const [title, damage] of damages) {
    it(
      `says which record ${title}, and leaves it as it is`,
      inShop(async ({ merchant, chain, folder }) => {
        const { id } = await merchant.create(order);
        await merchant.pay(id, paymentFor(id, [paying(1)], { refundTo: [{ amount: 5n, script }] }));
        const file = join(folder, `${id}.json`);
        const damaged = damage(await readFile(file, 'utf8'));
        await writeFile(file, damaged);
        chain.known.clear();
        const error: unknown = await merchant.pay(id, paymentFor(id, [paying(2)])).catch((reason: unknown) => reason);
        expect(error).to.be.an.instanceOf(DamagedRecordError).with.property('message').that.includes(`The record ${id}.json is damaged: `);
        expect(await readFile(file, 'utf8')).to.equal(damaged);
        expect(chain.broadcasts).to.have.length(1);
      })
    );
  }

  it(
    'does not mistake damaged claims for none',
    inShop(async ({ merchant, chain, folder }) => {
      const { id } = await merchant.create(order);
      const name = `${displayTxid(parseTransaction(paying(1)).txid)}.claims.json`;
      for (const damaged of ['', 'null', '{"0":1}', '{"0":"shop"}']) {
        await writeFile(join(folder, name), damaged);
        const error: unknown = await merchant.pay(id, paymentFor(id, [paying(1)])).catch((reason: unknown) => reason);
        expect(error, damaged).to.be.an.instanceOf(DamagedRecordError).with.property('message').that.includes(name);
      }
      expect(chain.broadcasts).to.deep.equal([]);
    })
  );
});
