import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import { after, describe, it } from 'mocha';
import { hash256 } from '../../lib/bitcoin/hash';
import { TOPICS } from '../../lib/zmq/topics';
import { bcoin, type HostKeyRing } from '../support/bcoin/bcoin';
import { newFolder } from '../support/process/folders';
import { ask } from '../support/client/http';
import { blockWith, entryOf, freePort, mine, mineOnly } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode, type RestNodeOptions } from '../support/node/rest-node';
import { testScale } from '../support/process/scale';
import { signed } from '../support/chain/signed';
import { until } from '../support/expectations/until';
import { TestSubscriber, type Message } from './subscriber';
import type { HostTransaction } from '../../lib/node/host';

const MATURE = 100;
/** Coins that are spent, each by several transactions. */
const COINS = 120 * testScale();
const SUBSCRIBERS = 4;
const FEE = 2_000;

interface ShownPool {
  readonly txids: readonly string[];
  readonly mempool_sequence: number;
}

describe('subscribers who follow the pool', function () {
  this.timeout(60_000 * testScale());

  const closing: (() => Promise<unknown>)[] = [];
  after(async () => {
    for (const close of closing.reverse()) await close();
  });

  async function open(options: RestNodeOptions = {}): Promise<RestNode & { readonly address: string }> {
    const address = `tcp://127.0.0.1:${await freePort()}`;
    const settings: Record<string, unknown> = { 'rest-core': 'modern', 'rest-pool': 'modern', ...options.settings };
    for (const topic of TOPICS) Object.assign(settings, { [`rest-zmq-${topic}`]: address, [`rest-zmq-${topic}hwm`]: 0 });
    const rest = await openRestNode({ isFleet: false, ...options, settings });
    await rest.node.connect();
    return { ...rest, address };
  }

  async function shown({ port }: RestNode): Promise<ShownPool> {
    const { body } = await ask(port, { path: '/rest/mempool/contents.json?verbose=false&mempool_sequence=true' });
    return JSON.parse(body.toString()) as ShownPool;
  }

  it('end with the pool that the node shows, after replacements, conflicts with blocks and a reorganization', async () => {
    const rest = await open();
    const { node } = rest;
    closing.push(() => node.close());
    const ring: HostKeyRing = bcoin.KeyRing.generate();
    const target = ring.getAddress();
    const [block] = await mine(node, MATURE + 1, undefined, target);
    const [coinbase] = block?.txs ?? [];
    const each = Math.floor(4_999_000_000 / COINS);
    const fan = signed(
      ring,
      [coinbase ?? expect.fail('a coinbase')],
      Array.from({ length: COINS }, () => [target, each] as const)
    );
    await mineOnly(node, [fan]);
    await untilReady(rest);
    const subscribers = await Promise.all(Array.from({ length: SUBSCRIBERS }, () => TestSubscriber.open(rest.address)));
    for (const subscriber of subscribers) closing.push(() => subscriber.close());

    /** The last message of a block. */
    const isTip = ({ topic, body }: Message): boolean =>
      topic === 'rawblock' && hash256(body.subarray(0, 80)).equals(rest.rest.node.tip().hash);
    // Blocks that came before may still be told.
    await mineOnly(node, []);
    for (const subscriber of subscribers) {
      await until(() => subscriber.messages.some(isTip));
      subscriber.messages.length = 0;
    }

    const start = await shown(rest);
    const send = (transaction: HostTransaction): Promise<unknown> => node.mempool.addTX(transaction).catch(() => undefined);
    const spending = (coin: number, fee: number): HostTransaction => signed(ring, [[fan, coin]], [[target, each - fee]], 2);
    const firsts = Array.from({ length: COINS }, (_, coin) => spending(coin, FEE));
    for (const [coin, transaction] of firsts.entries()) {
      await send(transaction);
      if (coin % 2 === 0) await send(signed(ring, [transaction], [[target, each - 2 * FEE]], 2));
      // Replaces it, and its child.
      if (coin % 3 === 0) await send(spending(coin, 10 * FEE));
    }
    const fork = node.chain.tip;
    // A block with some of them, and with double spends of others.
    await mineOnly(node, [
      ...firsts.slice(1, 20).filter((_, i) => (i + 1) % 3 !== 0),
      ...[21, 24, 27].map((coin) => spending(coin, 5 * FEE))
    ]);
    // A longer branch with others of them.
    const other = await blockWith(
      node,
      [31, 32, 34, 35].map((coin) => (coin < 34 ? spending(coin, 3 * FEE) : (firsts[coin] ?? fan))),
      fork
    );
    await node.chain.add(other);
    await mineOnly(node, [], await entryOf(node, other));
    await send(signed(ring, [[fan, 40]], [[target, each - 40 * FEE]], 2));
    const end = await shown(rest);
    expect(end.txids.length).to.be.greaterThan(COINS / 2);
    expect(end.mempool_sequence - start.mempool_sequence).to.be.greaterThan(2 * COINS);

    await mineOnly(node, []);
    for (const subscriber of subscribers) {
      await until(() => subscriber.messages.some(isTip));
      expect(followed(start, subscriber.messages)).to.deep.equal([...end.txids].sort());
    }
    for (const { messages } of subscribers) expect(messages.map(lineOf)).to.deep.equal(subscribers[0]?.messages.map(lineOf));
  });

  it('begin anew with a node that was restarted, and hear what has expired when the next block comes', async () => {
    const prefix = await newFolder();
    closing.push(() => rm(prefix, { recursive: true }));
    const before = await open({ prefix, settings: { 'persistent-mempool': true } });
    const ring: HostKeyRing = bcoin.KeyRing.generate();
    const blocks = await mine(before.node, MATURE + 2, undefined, ring.getAddress());
    await untilReady(before);
    const [kept, next] = blocks
      .slice(0, 2)
      .map(({ txs: [coinbase] }) => signed(ring, [coinbase ?? expect.fail('a coinbase')], [[ring.getAddress(), 4_999_990_000]])) as [
      HostTransaction,
      HostTransaction
    ];
    await before.node.mempool.addTX(kept);
    await mineOnly(before.node, []);
    const { txids } = await shown(before);
    expect(txids).to.have.lengthOf(1);
    await before.node.close();

    const again = await open({ prefix, settings: { 'persistent-mempool': true } });
    closing.push(() => again.node.close());
    await untilReady(again);
    expect(await shown(again)).to.deep.equal({ txids, mempool_sequence: 1 });
    const subscriber = await TestSubscriber.open(again.address);
    closing.push(() => subscriber.close());
    await again.node.mempool.addTX(next);
    await until(() => subscriber.messages.some(({ topic }) => topic === 'sequence'));
    expect(subscriber.messages.map(({ topic, number }) => `${topic} ${number}`)).to.deep.equal(['hashtx 0', 'rawtx 0', 'sequence 0']);
    expect(numberOf(subscriber.messages[2])).to.equal(1n);

    // Three weeks later.
    const now = Date.now.bind(Date);
    Date.now = () => now() + 21 * 86_400_000;
    try {
      await mineOnly(again.node, []);
    } finally {
      Date.now = now;
    }
    await until(() => subscriber.messages.filter(({ topic }) => topic === 'sequence').length === 4);
    const labels = subscriber.messages.filter(({ topic }) => topic === 'sequence').map(({ body }) => body.toString('latin1', 32, 33));
    expect(labels.sort().join('')).to.equal('ACRR');
    expect(await shown(again)).to.deep.equal({ txids: [], mempool_sequence: 4 });
  });
});

/** The pool of a subscriber who has asked for it once. */
function followed(start: ShownPool, messages: readonly Message[]): string[] {
  const pool = new Set(start.txids);
  let transactions: string[] = [];
  for (const message of messages) {
    const hash = message.body.toString('hex', 0, 32);
    if (message.topic === 'hashtx') transactions.push(hash);
    if (message.topic !== 'sequence') continue;
    const label = message.body.toString('latin1', 32, 33);
    const number = numberOf(message);
    if (label === 'C') for (const txid of transactions) pool.delete(txid);
    else if (number !== undefined && number >= BigInt(start.mempool_sequence)) {
      if (label === 'A') pool.add(hash);
      else pool.delete(hash);
    }
    transactions = [];
  }
  return [...pool].sort();
}

/** Of the change of the pool. */
const numberOf = (message: Message | undefined): bigint | undefined =>
  message?.topic === 'sequence' && message.body.length > 33 ? message.body.readBigUInt64LE(33) : undefined;

const lineOf = ({ topic, number, body }: Message): string => `${topic} ${number} ${body.toString('hex')}`;
