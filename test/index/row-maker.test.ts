import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { scanBlock } from '../../lib/bitcoin/block';
import { RowMaker } from '../../lib/index/scan/row-maker';
import { blockRows } from '../../lib/index/scan/rows';
import { TxidHasher } from '../../lib/index/records/txid-hash';
import { caught } from '../support/expectations/caught';
import { madeBlock, madeCoinbase, madeTransaction, type MadeOutput } from '../support/chain/made-blocks';
import type { Worker } from 'node:worker_threads';

const outputs = Array.from({ length: 100 }, (_, value): MadeOutput => ({ value, script: Buffer.from(`0014${'22'.repeat(20)}`, 'hex') }));
const transactions = Array.from({ length: 40 }, (_, i) => madeTransaction([{ txid: Buffer.alloc(32, i), index: i }], outputs, i));
const large = madeBlock(Buffer.alloc(32), [madeCoinbase(1, []), ...transactions], 1);
const longScripts = Array.from({ length: 80 }, (_, i) =>
  madeTransaction([{ txid: Buffer.alloc(32, 0xee), index: i }], [{ value: 77, script: Buffer.alloc(3_000, 0xdd) }], i)
);
const other = madeBlock(Buffer.alloc(32), [madeCoinbase(1, []), ...longScripts], 1);

const hasher = new TxidHasher(Buffer.alloc(32, 0x5e));

describe('making rows', () => {
  let maker: RowMaker;
  let thread: Worker;
  let lost: string[];

  /** Sends the first large block, which starts the thread, and waits until the thread is ready. */
  beforeEach(async () => {
    lost = [];
    maker = new RowMaker((reason) => lost.push(reason));
    const started = once(process, 'worker') as Promise<[Worker]>;
    expect(await maker.make(large, 7, hasher)).to.deep.equal(blockRows(large, 7, hasher));
    [thread] = await started;
    await once(thread, 'online');
  });
  afterEach(() => maker.close());

  it('gives the same in the thread as without it, in the order asked, and leaves the block as it was', async () => {
    const before = Buffer.from(large);
    const replies = once(thread, 'message');
    const made = await Promise.all([7, 8, 9].map((height) => maker.make(large, height, hasher)));
    await replies;
    expect(made).to.deep.equal([7, 8, 9].map((height) => blockRows(large, height, hasher)));
    expect(large).to.deep.equal(before);
  });

  it('keeps a process alive that waits for nothing else, and none that waits for nothing', async () => {
    const program = `
      const { RowMaker } = require('./dist/lib/index/scan/row-maker');
      const { TxidHasher } = require('./dist/lib/index/records/txid-hash');
      const block = require('node:fs').readFileSync(0);
      const [maker, hasher] = [new RowMaker(), new TxidHasher(Buffer.alloc(32))];
      (async () => {
        await maker.make(block, 7, hasher);
        await new Promise((resolve) => setTimeout(resolve, 500));
        await Promise.all([8, 9].map((height) => maker.make(block, height, hasher)));
        console.log('made');
      })();`;
    const child = execFile(process.execPath, ['-e', program]);
    let said = '';
    child.stdout?.on('data', (text: string) => (said += text));
    child.stdin?.end(large);
    expect(await once(child, 'exit')).to.deep.equal([0, null]);
    expect(said).to.equal('made\n');
  });

  it('takes txids that are known as they are, in the thread and without it, and hashes none', async () => {
    const known = Buffer.alloc(41 * 32, 'txids that nobody would have hashed');
    const rows = blockRows(large, 7, hasher, { txids: known });
    expect(Buffer.from(rows.coinbase)).to.deep.equal(known.subarray(0, 32));
    expect(Buffer.from(rows.hashes.subarray(12, 24))).to.deep.equal(hasher.hash(known.subarray(32, 64)));
    expect(await maker.make(large, 7, hasher, known)).to.deep.equal(rows);
    const right = Buffer.concat(scanBlock(large).transactions.map(({ txid }) => txid));
    expect(blockRows(large, 7, hasher, { txids: right })).to.deep.equal(blockRows(large, 7, hasher));
  });

  it('leaves rows as they are until they are released, and then reuses their memory', async () => {
    const kept = await maker.make(large, 7, hasher);
    const released = await maker.make(other, 8, hasher);
    maker.release(released);
    const next = await maker.make(other, 9, hasher);
    // Each message has a separate object for the same shared memory, which begins with the block.
    new Uint8Array(next.hashes.buffer)[0] = 0xa5;
    expect(new Uint8Array(released.hashes.buffer)[0]).to.equal(0xa5);
    await Promise.all(Array.from({ length: 12 }, (_, i) => maker.make(other, 10 + i, hasher)));
    expect(kept).to.deep.equal(blockRows(large, 7, hasher));
    expect(next).to.deep.equal(blockRows(other, 9, hasher));
  });

  it('gives memory that was released twice to one block only', async () => {
    const rows = await maker.make(large, 7, hasher);
    maker.release(rows);
    maker.release(rows);
    const [first, second] = await Promise.all([maker.make(large, 8, hasher), maker.make(other, 9, hasher)]);
    expect(first).to.deep.equal(blockRows(large, 8, hasher));
    expect(second).to.deep.equal(blockRows(other, 9, hasher));
  });

  it('makes the same rows of a block, whichever block it has scanned before', () => {
    const first = blockRows(large, 7, hasher);
    blockRows(other, 8, hasher);
    expect(blockRows(large, 7, hasher)).to.deep.equal(first);
  });

  it('says what is wrong with a block, and continues', async () => {
    expect(await caught(maker.make(Buffer.concat([large, Buffer.alloc(1)]), 7, hasher)))
      .to.be.instanceOf(Error)
      .with.property('message')
      .that.includes('expected the end of the block');
    expect(await maker.make(large, 7, hasher)).to.deep.equal(blockRows(large, 7, hasher));
  });

  it('continues in a fresh thread when it is renewed, and the old thread ends', async () => {
    const kept = await maker.make(large, 7, hasher);
    for (const rows of await Promise.all([maker.make(large, 5, hasher), maker.make(large, 6, hasher)])) maker.release(rows);
    const ended = once(thread, 'exit');
    // Listens from the start: by the time the old thread has ended, the new one may be ready.
    const started = (once(process, 'worker') as Promise<[Worker]>).then(([fresh]) => ({ fresh, online: once(fresh, 'online') }));
    await maker.renew();
    await ended;
    const { fresh, online } = await started;
    expect(await maker.make(other, 8, hasher)).to.deep.equal(blockRows(other, 8, hasher));
    await online;
    const replied = once(fresh, 'message');
    expect(await maker.make(large, 9, hasher)).to.deep.equal(blockRows(large, 9, hasher));
    await replied;
    expect(kept).to.deep.equal(blockRows(large, 7, hasher));
    expect(lost).to.deep.equal([]);
  });

  it('is not renewed for one block at a time', async () => {
    let renewals = 0;
    const count = (): void => {
      renewals++;
    };
    process.on('worker', count);
    maker.release(await maker.make(large, 7, hasher));
    await maker.renew();
    const replied = once(thread, 'message');
    maker.release(await maker.make(large, 8, hasher));
    process.off('worker', count);
    expect(renewals).to.equal(0);
    await replied;
  });

  it('is not renewed while the thread has work', async () => {
    for (const rows of await Promise.all([maker.make(large, 5, hasher), maker.make(large, 6, hasher), maker.make(large, 6, hasher)]))
      maker.release(rows);
    const made = maker.make(large, 7, hasher);
    await maker.renew();
    expect(await made).to.deep.equal(blockRows(large, 7, hasher));
    const replied = once(thread, 'message');
    await maker.make(large, 8, hasher);
    await replied;
  });

  it('continues without the thread if it has ended, makes the rows that it owed, and says so', async () => {
    const made = maker.make(large, 7, hasher);
    await thread.terminate();
    expect(await made).to.deep.equal(blockRows(large, 7, hasher));
    expect(await maker.make(large, 7, hasher)).to.deep.equal(blockRows(large, 7, hasher));
    expect(lost).to.deep.equal(['it ended']);
  });

  it('works without a thread after it was closed', async () => {
    await maker.close();
    expect(await maker.make(large, 7, hasher)).to.deep.equal(blockRows(large, 7, hasher));
    expect(lost).to.deep.equal([]);
  });
});
