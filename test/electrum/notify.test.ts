import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { keyOfOutpoint, toDisplayHex } from '../../lib/bitcoin/hash';
import { ClientSubscriptions } from '../../lib/electrum/server/client-subscriptions';
import { HistoryTooLongError } from '../../lib/scripts/errors';
import { SUBSCRIPTION_BYTES, SubscriptionMemory } from '../../lib/server/bounds/subscription-memory';
import { NO_CLIENT } from '../../lib/turns/client';
import { needsNode, NO_FEED_WHILE_SHORTER } from '../support/fleet/fleet';
import { NotifyingNode } from '../support/node/notifying-node';
import { PoolWalk, scriptHash, SCRIPTS } from '../support/pool/walk';
import { unfailing } from '../support/expectations/unfailing';
import type { HostTransaction } from '../../lib/node/host';

const FEE = 10_000;
const [PARENT, CHILD] = [1, 2] as const;
const nameOf = (kind: number): string => toDisplayHex(scriptHash(SCRIPTS[kind]?.script ?? Buffer.alloc(0)));

/** What the client gets instead of a subscription; the status if it gets one. */
async function refusal(client: ClientSubscriptions, script: Buffer, name: string): Promise<unknown> {
  try {
    return await client.addScript(script, name);
  } catch (error) {
    return error;
  }
}

/** Why a reader notifies more often. */
const IN_RECORDS = 'a reader hears of a block and of what leaves the pool for it in several records';

describe('the status of a script with a transaction in the pool that spends an unconfirmed output', () => {
  let walk: PoolWalk;
  let all: NotifyingNode;
  let told: string[];
  let parent: HostTransaction;

  beforeEach(async () => {
    walk = await PoolWalk.start();
    all = await NotifyingNode.beside(walk.host);
    told = [];
    const spendable = await walk.spendable();
    const coins = spendable.filter((coin) => walk.coin(coin).script.equals(SCRIPTS[0]?.script ?? Buffer.alloc(0)));
    const parentId = (await walk.send(coins.slice(0, 1), [PARENT], FEE)) ?? expect.fail('a transaction');
    await walk.send([{ txid: parentId, index: 0 }], [CHILD], FEE);
    parent = walk.host.mempool.getTX(walk.hostHash(parentId)) ?? expect.fail('a transaction of the pool');
  });
  afterEach(async () => {
    await all.close();
    await walk.close();
  });

  /** The status of the script to which only the child pays. */
  const subscribe = async (): Promise<string | undefined> => {
    const client = all.client((_, [name, status]) => told.push(`${String(name)} ${String(status)}`));
    const status = await client.addScript(scriptHash(SCRIPTS[CHILD]?.script ?? Buffer.alloc(0)), nameOf(CHILD));
    return status?.toString('hex');
  };
  const present = async (): Promise<string> => {
    const fresh = all.client(() => undefined);
    const status = await fresh.addScript(scriptHash(SCRIPTS[CHILD]?.script ?? Buffer.alloc(0)), nameOf(CHILD));
    fresh.close();
    return `${nameOf(CHILD)} ${status?.toString('hex') ?? 'null'}`;
  };

  it('changes when the parent is confirmed, and when it comes back', async function () {
    needsNode(this, IN_RECORDS);
    const waiting = await subscribe();
    await walk.mineOnly([parent]);
    await all.untilNotified();
    expect(told).to.have.length(1);
    expect(told[0]).to.equal(await present());
    await walk.goBack('fork', 1);
    await all.untilNotified();
    expect(told).to.have.length(2);
    expect(told[1]).to.equal(`${nameOf(CHILD)} ${waiting ?? ''}`);
  });

  it('changes when the chain is reset, which empties the pool', async function () {
    needsNode(this, NO_FEED_WHILE_SHORTER);
    await subscribe();
    await walk.host.chain.reset(walk.host.chain.height - 1);
    await all.untilNotified();
    expect(told).to.have.length(1);
  });

  it('does not include a block that was disconnected before anybody was told of it', async () => {
    const { chain } = walk.host;
    const script = scriptHash(SCRIPTS[PARENT]?.script ?? Buffer.alloc(0));
    const statusOf = async (beside: NotifyingNode): Promise<string | undefined> =>
      (await beside.client(() => undefined).addScript(script, nameOf(PARENT)))?.toString('hex');
    await statusOf(all);
    const { height } = chain;
    const [one, other] = [await walk.mined([parent]), await walk.mined([])];
    const going: Promise<unknown>[] = [];
    const watching = all.scripts.watched.changes$.subscribe(({ type }) => {
      // Both wait for the node's lock before the pass does.
      if (type === 'connect' && going.length === 0) going.push(chain.reset(height), chain.add(other));
    });
    await chain.add(one);
    await all.untilLive();
    await Promise.all(going);
    watching.unsubscribe();
    await all.untilNotified();
    expect(going).to.have.length(2);
    const fresh = await NotifyingNode.beside(walk.host);
    const expected = await statusOf(fresh);
    await fresh.close();
    expect(await statusOf(all)).to.equal(expected);
  });

  it('is told to every other listener if one of them fails, which is told that it did', async function () {
    needsNode(this, IN_RECORDS);
    const script = scriptHash(SCRIPTS[CHILD]?.script ?? Buffer.alloc(0)).toString('latin1');
    const fault = new Error('a client that cannot be told');
    const failures: unknown[] = [];
    const fail = (): never => {
      throw fault;
    };
    const broken = { changed: fail, tipChanged: fail, failed: (error: unknown) => failures.push(error) };
    const heard: string[] = [];
    const whole = { changed: () => heard.push('status'), tipChanged: () => heard.push('tip'), failed: unfailing };
    for (const listener of [broken, whole]) {
      await all.statuses.add(script, listener, 10);
      await all.index.reader.read(({ tip }) => {
        all.tips.add(listener, tip);
        return Promise.resolve();
      });
    }
    await walk.mineOnly([parent]);
    await all.untilNotified();
    expect(heard).to.deep.equal(['tip', 'status']);
    expect(failures).to.deep.equal([fault, fault]);
    for (const listener of [broken, whole]) {
      all.statuses.delete(script, listener);
      all.tips.delete(listener);
    }
  });

  it('is told under the name that was given, to every subscriber, once for each subscription', async function () {
    needsNode(this, IN_RECORDS);
    const script = scriptHash(SCRIPTS[CHILD]?.script ?? Buffer.alloc(0));
    const upper = nameOf(CHILD).toUpperCase();
    const clients = [nameOf(CHILD), upper].map((name) => {
      const client = all.client((_, params) => told.push(String(params[0])));
      return { client, name };
    });
    for (const { client, name } of clients) await client.addScript(script, name);
    const [first] = clients;
    expect(all.statuses.size).to.equal(1);
    expect(first?.client.removeScript(script)).to.equal(true);
    expect(first?.client.removeScript(script)).to.equal(false);
    await walk.mineOnly([parent]);
    await all.untilNotified();
    expect(told).to.deep.equal([upper]);
    for (const { client } of clients) client.close();
    expect(all.statuses.size).to.equal(0);
  });

  it('is answered in place of older notifications that were not sent yet, and so are the tip and outpoints', async () => {
    const script = scriptHash(SCRIPTS[CHILD]?.script ?? Buffer.alloc(0));
    const withdrawn: string[] = [];
    const notified = { notify: () => undefined, withdraw: (about: string) => withdrawn.push(about), failed: unfailing };
    const client = new ClientSubscriptions(all, notified, all.memory.open('192.0.2.1'), { maxSubscriptions: 1, maxHistory: 10 });
    const outpoint = { txid: Buffer.alloc(32, 1), index: 0 };
    await client.addScript(script, nameOf(CHILD));
    client.removeScript(script);
    all.index.reader.read(({ tip }) => {
      client.addHeaders(tip);
    });
    await client.addOutpoint(outpoint, NO_CLIENT, () => undefined);
    client.removeOutpoint(outpoint);
    const keys = [script.toString('latin1'), keyOfOutpoint(outpoint.txid, outpoint.index)];
    expect(withdrawn).to.deep.equal([keys[0], keys[0], 'tips', keys[1], keys[1]]);
    client.close();
  });

  it('is refused only to clients that may only see shorter histories', async () => {
    const script = scriptHash(SCRIPTS[CHILD]?.script ?? Buffer.alloc(0));
    const limited = all.client(() => undefined, { maxHistory: 0 });
    const refused = refusal(limited, script, nameOf(CHILD));
    expect(await subscribe()).to.have.length(64);
    expect(await refused).to.be.instanceOf(HistoryTooLongError);
  });

  it('is told to a client that was answered after another one was refused', async function () {
    needsNode(this, IN_RECORDS);
    const script = scriptHash(SCRIPTS[CHILD]?.script ?? Buffer.alloc(0));
    const limited = all.client(() => undefined, { maxHistory: 0 });
    const refused = refusal(limited, script, nameOf(CHILD));
    await subscribe();
    expect(await refused).to.be.instanceOf(HistoryTooLongError);
    await walk.mineOnly([parent]);
    await all.untilNotified();
    expect(told).to.deep.equal([await present()]);
  });

  it('costs the first client what had to be read, including the pool', async function () {
    needsNode(this, IN_RECORDS);
    const script = scriptHash(SCRIPTS[CHILD]?.script ?? Buffer.alloc(0));
    const read: number[] = [];
    for (let i = 0; i < 2; i++) await all.client(() => undefined).addScript(script, nameOf(CHILD), (count) => read.push(count));
    expect(read).to.deep.equal([2]);
  });

  it('takes no memory if it is refused', async () => {
    const client = all.client(() => undefined, { maxHistory: 0 });
    // One is read in the turn in which it is asked for, the other one not, since it has a part in the pool.
    for (const kind of [3, CHILD]) {
      const script = scriptHash(SCRIPTS[kind]?.script ?? Buffer.alloc(0));
      expect(await refusal(client, script, nameOf(kind))).to.be.instanceOf(HistoryTooLongError);
      expect(client.removeScript(script)).to.equal(false);
    }
    expect([all.memory.count, all.statuses.size]).to.deep.equal([0, 0]);
  });

  it('ends when the client leaves or unsubscribes before it is answered', async () => {
    const script = scriptHash(SCRIPTS[CHILD]?.script ?? Buffer.alloc(0));
    const [leaving, unsubscribing] = [all.client(() => undefined), all.client(() => undefined)];
    for (const [client, end] of [
      [leaving, () => leaving.close()],
      [unsubscribing, () => expect(unsubscribing.removeScript(script)).to.equal(true)]
    ] as const) {
      const asked = client.addScript(script, nameOf(CHILD));
      end();
      expect(await asked).to.have.length(32);
      expect([all.memory.count, all.statuses.size]).to.deep.equal([0, 0]);
    }
    unsubscribing.close();
  });

  it('is refused to a client with the most subscriptions allowed', async () => {
    const client = all.client(() => undefined, { maxSubscriptions: 1 });
    const [one, other] = [PARENT, CHILD].map((kind) => scriptHash(SCRIPTS[kind]?.script ?? Buffer.alloc(0)));
    await client.addScript(one ?? Buffer.alloc(0), nameOf(PARENT));
    const refused = { code: 1, message: 'too many subscriptions: at most 1 scripts and outpoints' };
    expect(await refusal(client, other ?? Buffer.alloc(0), nameOf(CHILD))).to.include(refused);
    await client.addScript(one ?? Buffer.alloc(0), nameOf(PARENT));
    const outpoint = { txid: Buffer.alloc(32, 1), index: 0 };
    const addOutpoint = (): Promise<unknown> => client.addOutpoint(outpoint, NO_CLIENT, () => undefined).catch((error: unknown) => error);
    expect(await addOutpoint()).to.include(refused);
    client.removeScript(one ?? Buffer.alloc(0));
    expect(await addOutpoint()).to.equal('{}');
    expect(await refusal(client, one ?? Buffer.alloc(0), nameOf(PARENT))).to.include(refused);
  });

  it('is refused while all clients together have as many as there is memory for', async () => {
    const { memory } = all;
    all.memory = new SubscriptionMemory(8 * SUBSCRIPTION_BYTES);
    const [one, other] = [all.client(() => undefined), all.client(() => undefined)];
    const hashOf = (i: number): Buffer => Buffer.alloc(32, i);
    const add = (client: ClientSubscriptions, i: number): Promise<unknown> => refusal(client, hashOf(i), toDisplayHex(hashOf(i)));
    for (const [client, i] of [
      [one, 1],
      [other, 2]
    ] as const)
      for (let repeated = 0; repeated < 2; repeated++) expect(await add(client, i)).to.equal(undefined);
    // Both clients are of one address, which has a quarter.
    const refused = { code: 1, message: 'too many subscriptions of one address' };
    expect(await add(one, 3)).to.include(refused);
    expect(one.removeScript(hashOf(1))).to.equal(true);
    expect(one.removeScript(hashOf(1))).to.equal(false);
    expect(await add(other, 3)).to.equal(undefined);
    expect(await add(one, 1)).to.include(refused);
    other.close();
    for (const i of [1, 4]) expect(await add(one, i)).to.equal(undefined);
    expect(await add(one, 5)).to.include(refused);
    one.close();
    all.memory = memory;
  });
});

describe('the subscription to tips', () => {
  it('is one until the client leaves, also if it is answered afterwards', async () => {
    const walk = await PoolWalk.start();
    const all = await NotifyingNode.beside(walk.host);
    const client = all.client(() => undefined);
    const tip = all.index.reader.read((snapshot) => snapshot.tip);
    expect(client.isEmpty).to.equal(true);
    client.addHeaders(tip);
    expect([client.isEmpty, all.tips.size]).to.deep.equal([false, 1]);
    client.close();
    client.addHeaders(tip);
    expect(all.tips.size).to.equal(0);
    await all.close();
    await walk.close();
  });
});

describe('the subscription to an outpoint', () => {
  it('is not ended by a request for it that fails while another one is answered', async () => {
    const walk = await PoolWalk.start();
    const all = await NotifyingNode.beside(walk.host);
    const client = all.client(() => undefined);
    const outpoint = { txid: Buffer.alloc(32, 1), index: 0 };
    const ask = (worked: () => void): Promise<unknown> => client.addOutpoint(outpoint, NO_CLIENT, worked).catch((error: unknown) => error);
    const fails = (): void => {
      throw new Error('the chain is moving');
    };
    expect(await ask(fails)).to.be.instanceOf(Error);
    expect(client.removeOutpoint(outpoint)).to.equal(false);
    const answers = await Promise.all([ask(fails), ask(() => undefined), ask(fails)]);
    expect(answers.map((answer) => answer instanceof Error)).to.deep.equal([true, false, true]);
    expect(client.removeOutpoint(outpoint)).to.equal(true);
    await Promise.all([ask(fails), ask(fails)]);
    expect(client.removeOutpoint(outpoint)).to.equal(false);
    expect([all.memory.count, all.outpoints.size]).to.deep.equal([0, 0]);
    client.close();
    await all.close();
    await walk.close();
  });

  it('is answered in place of what changed before, and what changes before the answer is sent is told once, after it', async () => {
    const walk = await PoolWalk.start();
    const all = await NotifyingNode.beside(walk.host);
    const outpoint = { txid: Buffer.alloc(32, 1), index: 0 };
    const told: unknown[] = [];
    const client = all.client((_, params) => told.push(params[2]));
    const ask = (): Promise<string> => client.addOutpoint(outpoint, NO_CLIENT, () => undefined);
    const change = (funderHeight: number): void => client.outpointChanged(outpoint, { funderHeight, spender: undefined });
    await ask();
    const asked = [ask(), ask()];
    change(1);
    await Promise.all(asked);
    await nextTurn();
    expect(told).to.deep.equal([]);
    await Promise.all([ask(), ask()]);
    change(2);
    expect(told).to.deep.equal([]);
    await nextTurn();
    expect(told).to.deep.equal([{ funder_height: 2 }]);
    await ask();
    change(3);
    client.close();
    await nextTurn();
    change(4);
    expect(told, 'of a client that has left').to.have.length(1);
    await all.close();
    await walk.close();
  });

  it('ends when the client leaves or unsubscribes before it is answered', async () => {
    const walk = await PoolWalk.start();
    const all = await NotifyingNode.beside(walk.host);
    const outpoint = { txid: Buffer.alloc(32, 1), index: 0 };
    const [leaving, unsubscribing] = [all.client(() => undefined), all.client(() => undefined)];
    for (const [client, end] of [
      [leaving, () => leaving.close()],
      [unsubscribing, () => expect(unsubscribing.removeOutpoint(outpoint)).to.equal(true)]
    ] as const) {
      const asked = client.addOutpoint(outpoint, NO_CLIENT, () => undefined);
      end();
      expect(await asked).to.equal('{}');
      expect([all.memory.count, all.outpoints.size]).to.deep.equal([0, 0]);
    }
    unsubscribing.close();
    await all.close();
    await walk.close();
  });

  it('is answered with the block that has just come, though others are told of it later', async function () {
    needsNode(this, IN_RECORDS);
    const walk = await PoolWalk.start();
    const all = await NotifyingNode.beside(walk.host);
    const [coin] = await walk.spendable();
    const txid = (await walk.send(coin === undefined ? [] : [coin], [CHILD], FEE)) ?? expect.fail('a transaction');
    const [script, outpoint] = [scriptHash(SCRIPTS[CHILD]?.script ?? Buffer.alloc(0)), { txid, index: 0 }];
    const known: unknown[] = [];
    const [first, second] = [all.client((_, params) => known.push(params[2])), all.client(() => undefined)] as const;
    const ask = (client: ClientSubscriptions): Promise<string> => client.addOutpoint(outpoint, NO_CLIENT, () => undefined);
    expect(await ask(first)).to.equal('{"funder_height":0}');
    // Of scripts that nobody watches, blocks say nothing.
    await second.addScript(script, toDisplayHex(script));
    const asking: Promise<string>[] = [];
    const watching = all.scripts.watched.changes$.subscribe(() => asking.push(ask(second)));
    await walk.mineOnly([walk.host.mempool.getTX(walk.hostHash(txid)) ?? expect.fail('a transaction of the pool')]);
    watching.unsubscribe();
    const { height } = walk.host.chain;
    expect(await Promise.all(asking)).to.deep.equal([`{"funder_height":${height}}`]);
    await all.untilNotified();
    expect(known).to.deep.equal([{ funder_height: height }]);
    for (const client of [first, second]) client.close();
    await all.close();
    await walk.close();
  });
});
