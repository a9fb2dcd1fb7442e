import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { ORDER_STATUSES } from '../../lib/merchant/orders/progress';
import { FolderStorage } from '../../lib/merchant/orders/storage';
import { OutboxStore, withMessage, withoutFirst, type Outbox } from '../../lib/merchant/webhooks/outbox';
import { readSecret } from '../../lib/merchant/webhooks/secret-file';
import { caught } from '../support/expectations/caught';
import { newFolder } from '../support/process/folders';

const ID = 'ab'.repeat(16);
const EMPTY: Outbox = { url: 'https://shop.example/paid', waiting: [] };

const statuses = fc.array(fc.constantFrom(...ORDER_STATUSES), { minLength: 1, maxLength: 100 });

describe('the outbox of an order', () => {
  it('keeps messages in order, 32 at most, and always the last', () => {
    fc.assert(
      fc.property(statuses, (all) => {
        const outbox = all.reduce((before, status) => withMessage(before, ID, { createdAt: new Date(), status, body: status }), EMPTY);
        const kept = all.length <= 32 ? all : [...all.slice(0, 31), all.at(-1)];
        expect(outbox.waiting.map(({ status }) => status)).to.deep.equal(kept);
        expect(outbox.status).to.equal(all.at(-1));
        const ids = outbox.waiting.map(({ id }) => id);
        for (const id of ids) expect(id).to.match(new RegExp(`^msg_${ID}_[0-9a-f]{16}$`));
        expect(new Set(ids).size).to.equal(ids.length);
        expect(withoutFirst(outbox).waiting).to.deep.equal(outbox.waiting.slice(1));
      })
    );
  });

  it('is the same after it was written and read', async () => {
    const store = new OutboxStore(await FolderStorage.open(await newFolder()));
    await fc.assert(
      fc.asyncProperty(statuses, fc.string({ unit: 'grapheme' }), async (all, body) => {
        const outbox = all.reduce((before, status) => withMessage(before, ID, { createdAt: new Date(), status, body }), EMPTY);
        await store.save(ID, outbox);
        expect(await store.read(ID)).to.deep.equal(outbox);
      }),
      { numRuns: 20 }
    );
    expect(await store.ids()).to.deep.equal([ID]);
  });

  it('is refused as a whole when its file is damaged', async () => {
    const folder = await newFolder();
    const store = new OutboxStore(await FolderStorage.open(folder));
    const whole = { url: 'https://shop.example', status: 'open', waiting: [] };
    for (const wrong of [[], { url: 'x' }, { status: 'paid' }, { waiting: [{ id: 1 }] }, { waiting: {} }]) {
      await writeFile(join(folder, `${ID}.webhooks.json`), JSON.stringify(Array.isArray(wrong) ? wrong : { ...whole, ...wrong }));
      expect(String(await caught(store.read(ID)))).to.include(`The record ${ID}.webhooks.json is damaged`);
    }
  });
});

describe('the secret of webhooks', () => {
  it('is made once, and only its owner can read it', async () => {
    const folder = await newFolder();
    const storage = await FolderStorage.open(folder);
    const key = await readSecret(storage, folder);
    expect(key).to.have.length(32);
    expect(await readFile(join(folder, 'webhook-secret'), 'utf8')).to.equal(`whsec_${key.toString('base64')}\n`);
    expect((await stat(join(folder, 'webhook-secret'))).mode & 0o077).to.equal(0);
    expect(await readSecret(storage, folder)).to.deep.equal(key);
  });

  it('may be chosen, and is refused with a sentence if it is none', async () => {
    const folder = join(await newFolder(), 'shop');
    await mkdir(folder);
    const storage = await FolderStorage.open(folder);
    await writeFile(join(folder, 'webhook-secret'), `whsec_${Buffer.alloc(24, 7).toString('base64')}`);
    expect(await readSecret(storage, folder)).to.deep.equal(Buffer.alloc(24, 7));
    for (const wrong of [
      '',
      'secret',
      'whsec_',
      `whsec_${Buffer.alloc(23).toString('base64')}`,
      `whsec_${Buffer.alloc(65).toString('base64')}`
    ]) {
      await writeFile(join(folder, 'webhook-secret'), wrong);
      expect(String(await caught(readSecret(storage, folder)))).to.include(
        `${join(folder, 'webhook-secret')}: a secret for webhooks expected`
      );
    }
  });
});
