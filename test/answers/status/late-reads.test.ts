import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { HistoryTooLongError } from '../../../lib/scripts/errors';
import { MemoryStore } from '../../../lib/store/memory-store';
import { caught } from '../../support/expectations/caught';
import { untilPageIsFull } from './full-page';
import { holdReads } from '../../support/index/held-reads';
import { NotifyingNode } from '../../support/node/notifying-node';
import { PoolWalk, scriptHash, SCRIPTS, type Outpoint } from '../../support/pool/walk';
import type { HostTransaction } from '../../../lib/node/host';
import type { Store } from '../../../lib/store/store';

const FEE = 10_000;
const [PARENT, CHILD] = [1, 2] as const;
const SCRIPT = scriptHash(SCRIPTS[CHILD]?.script ?? Buffer.alloc(0));
const NAME = toDisplayHex(SCRIPT);

describe('a status whose history takes long to read', () => {
  let walk: PoolWalk;
  let all: NotifyingNode;
  let other: NotifyingNode;
  let store: Store;
  let coins: Outpoint[];
  /** Lets a held read continue; undefined if none is held. */
  let letGo: (() => void) | undefined;
  let isHeld = false;
  /** How many ranges were read. */
  let reads: number;
  let known: (string | undefined)[];

  beforeEach(async () => {
    walk = await PoolWalk.start();
    other = await NotifyingNode.beside(walk.host);
    const spendable = await walk.spendable();
    coins = spendable.filter((coin) => !walk.coin(coin).script.equals(SCRIPTS[CHILD]?.script ?? Buffer.alloc(0)));
  });
  afterEach(async () => {
    await all.close();
    await other.close();
    await walk.close();
  });
  beforeEach(async () => {
    known = [];
    reads = 0;
    store = holdReads(new MemoryStore(), () => {
      reads++;
      if (!isHeld) return undefined;
      isHeld = false;
      return new Promise((resolve) => (letGo = resolve));
    });
    all = await NotifyingNode.beside(walk.host, store);
  });

  /** Subscribes; the answer comes once the read continues. */
  async function subscribe(): Promise<() => Promise<void>> {
    const client = all.client((_, [, status]) => known.push(status as string));
    isHeld = true;
    const asking = client.addScript(SCRIPT, NAME);
    while (letGo === undefined) await setImmediate();
    return async () => {
      letGo?.();
      letGo = undefined;
      known.push((await asking)?.toString('hex'));
      await all.untilNotified();
      // Notifications that are ready by then come after the answer.
      await setImmediate();
    };
  }

  const coin = (): Outpoint => coins.pop() ?? expect.fail('a coin');
  const payment = (): HostTransaction => walk.made([coin()], [CHILD], FEE) ?? expect.fail('a transaction');

  /** A transaction of the pool, on which another one waits that pays to the script. */
  async function sendBoth(): Promise<HostTransaction> {
    const txid = (await walk.send([coin()], [PARENT], FEE)) ?? expect.fail('a transaction');
    await walk.send([{ txid, index: 0 }], [CHILD], FEE);
    return walk.host.mempool.getTX(walk.hostHash(txid)) ?? expect.fail('a transaction of the pool');
  }

  /** The status of a script that had no subscribers before. */
  async function present(): Promise<string | undefined> {
    await other.settle();
    const client = other.client(() => undefined);
    const status = await client.addScript(SCRIPT, NAME);
    client.removeScript(SCRIPT);
    return status?.toString('hex');
  }

  it('includes the rows of a block that connects meanwhile, also after the next block', async () => {
    const goOn = await subscribe();
    await walk.mineOnly([payment()]);
    await all.untilNotified();
    await goOn();
    expect(known).to.deep.equal([await present()]);
    await walk.mineOnly([payment()]);
    await all.untilNotified();
    expect(known.slice(1)).to.deep.equal([await present()]);
  });

  it('is notified again when the parent of a transaction of the pool was confirmed meanwhile', async () => {
    const parent = await sendBoth();
    const goOn = await subscribe();
    await walk.mineOnly([parent]);
    await all.untilNotified();
    await goOn();
    expect(known).to.have.length.within(1, 2);
    expect(known.at(-1)).to.equal(await present());
  });

  it('does not hide a transaction with an unconfirmed parent that entered meanwhile', async () => {
    const goOn = await subscribe();
    const parent = await sendBoth();
    await all.untilNotified();
    await goOn();
    expect(known).to.deep.equal([await present()]);
    await walk.mineOnly([parent]);
    await all.untilNotified();
    expect(known.slice(1)).to.deep.equal([await present()]);
  });

  it('is not given to a client that asks after the script has changed', async () => {
    const goOn = await subscribe();
    await walk.host.mempool.addTX(payment());
    const asking = all.client(() => undefined).addScript(SCRIPT, NAME);
    await goOn();
    expect((await asking)?.toString('hex')).to.equal(await present());
  });

  it('is read again for a client that may have a longer history than the one for whom it is read', async () => {
    await walk.mineOnly([payment()]);
    await all.untilNotified();
    isHeld = true;
    const refusing = caught(Promise.resolve(all.client(() => undefined, { maxHistory: 0 }).addScript(SCRIPT, NAME)));
    while (letGo === undefined) await setImmediate();
    const asking = all.client(() => undefined).addScript(SCRIPT, NAME);
    letGo();
    letGo = undefined;
    expect(await refusing).to.be.instanceOf(HistoryTooLongError);
    expect((await asking)?.toString('hex')).to.equal(await present());
  });

  /** The status of the script, asked for as soon as the index has a block, whose transactions the pool still has. */
  async function askAtBlock(transactions: readonly HostTransaction[]): Promise<string | undefined> {
    const asking: Promise<Buffer | undefined>[] = [];
    const watching = all.scripts.watched.changes$.subscribe(() =>
      asking.push(Promise.resolve(all.client(() => undefined).addScript(SCRIPT, NAME)))
    );
    await walk.mineOnly(transactions);
    watching.unsubscribe();
    expect(asking).to.have.length(1);
    return (await asking[0])?.toString('hex');
  }

  it('is not given to a client that asks when a block has confirmed a parent meanwhile, of which the pool does not know yet', async () => {
    const parent = await sendBoth();
    const goOn = await subscribe();
    const answer = await askAtBlock([parent]);
    await goOn();
    expect(answer).to.equal(await present());
    expect(known.at(-1)).to.equal(answer);
  });

  it('is not given from memory either then', async () => {
    const parent = await sendBoth();
    await all.client((_, [, status]) => known.push(status as string)).addScript(SCRIPT, NAME);
    await all.untilNotified();
    const answer = await askAtBlock([parent]);
    await all.untilNotified();
    expect(known).to.deep.equal([answer]);
    expect(answer).to.equal(await present());
  });

  it('is given from memory again after the pass that follows a block', async () => {
    await sendBoth();
    await all.client(() => undefined).addScript(SCRIPT, NAME);
    await walk.mineOnly([]);
    await all.untilNotified();
    const read: number[] = [];
    await all.client(() => undefined).addScript(SCRIPT, NAME, (count) => read.push(count));
    expect(read).to.deep.equal([]);
  });

  it('is given from memory if a block has just come that does not concern the script', async () => {
    await all.client(() => undefined).addScript(SCRIPT, NAME);
    reads = 0;
    await askAtBlock([]);
    expect(reads).to.equal(0);
  });

  it('is read once for all who ask, and not again for a block that does not touch the script', async () => {
    await untilPageIsFull(store, async () => {
      await walk.mineOnly([]);
      await all.untilNotified();
    });
    reads = 0;
    const goOn = await subscribe();
    const asking = all.client(() => undefined).addScript(SCRIPT, NAME);
    await walk.mineOnly([]);
    await all.untilNotified();
    await goOn();
    expect((await asking)?.toString('hex')).to.equal(await present());
    // One of rows, one of their txids.
    expect(reads).to.equal(2);
  });

  /** Subscribes, and holds the pass that a payment in the pool has caused. */
  async function passLong(): Promise<() => Promise<void>> {
    await all.client((_, [, status]) => known.push(status as string)).addScript(SCRIPT, NAME);
    // The pass has to read which transactions this block confirmed.
    await untilPageIsFull(store, async () => {
      await walk.mineOnly([]);
      await all.untilNotified();
    });
    isHeld = true;
    await walk.host.mempool.addTX(payment());
    while (letGo === undefined) await setImmediate();
    return async () => {
      letGo?.();
      letGo = undefined;
      await all.untilNotified();
      await setImmediate();
    };
  }

  it('is not given in place of the present one to a client that asks during the pass', async () => {
    const goOn = await passLong();
    const later: unknown[] = [];
    const asking = all.client((_, [, status]) => later.push(status)).addScript(SCRIPT, NAME);
    await goOn();
    expect((await asking)?.toString('hex')).to.equal(await present());
    expect(later).to.deep.equal([]);
  });

  it('is no notification to a client that asked when the script was as before again', async () => {
    const goOn = await passLong();
    const later: unknown[] = [];
    // This empties the pool.
    await walk.host.chain.reset(walk.host.chain.height - 1);
    await all.untilLive();
    const answer = await all.client((_, [, status]) => later.push(status)).addScript(SCRIPT, NAME);
    await goOn();
    expect(later).to.deep.equal([]);
    expect(known).to.have.length(2);
    expect(known.at(-1)).to.equal(answer?.toString('hex'));
  });
});
