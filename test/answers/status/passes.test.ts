import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { bcoin } from '../../support/bcoin/bcoin';
import { madeTransaction } from '../../support/chain/made-blocks';
import { NotifyingNode } from '../../support/node/notifying-node';
import { PoolWalk, scriptHash, SCRIPTS, type Outpoint } from '../../support/pool/walk';
import { until } from '../../support/expectations/until';
import type { ClientSubscriptions } from '../../../lib/electrum/server/client-subscriptions';
import type { ScriptStatus } from '../../../lib/electrum/method';
import type { HostTransaction } from '../../../lib/node/host';

const FEE = 100_000;
/** More scripts than one pass has. */
const MANY = 600;
/** The last script of the first pass. */
const LAST = 511;
/** More listeners than are told in one turn. */
const MANY_LISTENERS = 100;
/** Scripts that are read together, and subscriptions that are ended in one turn. */
const [READ_TOGETHER, LEFT_IN_TURN] = [8, 512] as const;

const numbered = (i: number): Buffer => Buffer.from([0x52, i >> 8, i & 0xff]);

describe('the notifier', () => {
  let walk: PoolWalk;
  let all: NotifyingNode;
  let coins: Outpoint[];

  beforeEach(async () => {
    walk = await PoolWalk.start();
    all = await NotifyingNode.beside(walk.host);
    coins = (await walk.spendable()).filter((coin) => walk.coin(coin).script.equals(SCRIPTS[0]?.script ?? Buffer.alloc(0)));
  });
  afterEach(async () => {
    await all.close();
    await walk.close();
  });

  async function subscribe(client: ClientSubscriptions, scripts: readonly Buffer[]): Promise<void> {
    for (const script of scripts) await client.addScript(scriptHash(script), toDisplayHex(scriptHash(script)));
  }

  function paymentTo(paid: readonly Buffer[]): HostTransaction {
    const coin = coins.pop() ?? expect.fail('a coin');
    const value = Math.floor((walk.coin(coin).value - FEE) / paid.length);
    const outputs = paid.map((script) => ({ value, script }));
    return bcoin.TX.fromRaw(madeTransaction([coin], outputs, 0));
  }

  const scripts = Array.from({ length: MANY }, (_, i) => numbered(i));
  const names = scripts.map((script) => toDisplayHex(scriptHash(script)));

  it('tells of every script that a transaction touches, however many these are', async () => {
    const told: unknown[] = [];
    await subscribe(
      all.client((_, [name]) => told.push(name)),
      scripts
    );
    await walk.host.mempool.addTX(paymentTo(scripts));
    await all.untilNotified();
    expect(told).to.have.length(MANY).and.have.members(names);
  });

  it('collects 512 scripts at a time: what happens meanwhile counts for those that still wait', async () => {
    const told: unknown[] = [];
    const client = all.client((_, [name]) => {
      if (told.push(name) === 1) void walk.host.mempool.addTX(paymentTo(scripts.slice(-1)));
    });
    await subscribe(client, scripts);
    await walk.host.mempool.addTX(paymentTo(scripts));
    await all.untilNotified();
    expect(told).to.have.length(MANY).and.have.members(names);
  });

  it('tells of eight scripts in a turn, and of one script no more than 32 listeners', async () => {
    const [popular = Buffer.alloc(0), ...others] = scripts.slice(0, MANY_LISTENERS);
    /** How many were told in each turn. */
    const turns: number[] = [0];
    const tell = (): void => void turns.push((turns.pop() ?? 0) + 1);
    let next = setImmediate(function turn() {
      turns.push(0);
      next = setImmediate(turn);
    });
    for (let i = 0; i < MANY_LISTENERS; i++) await subscribe(all.client(tell), [popular]);
    await walk.host.mempool.addTX(paymentTo([popular]));
    await all.untilNotified();
    expect(Math.max(...turns.splice(0, Infinity, 0))).to.equal(32);
    await subscribe(all.client(tell), others);
    await walk.host.mempool.addTX(paymentTo(others));
    await all.untilNotified();
    clearImmediate(next);
    expect(Math.max(...turns)).to.equal(READ_TOGETHER);
  });

  it('tells of the other scripts what is new by then when a client fails', async () => {
    const told: unknown[] = [];
    let isPaid = false;
    const client = all.client((_, [name]) => {
      if (told.push(name) === 1) void walk.host.mempool.addTX(paymentTo(scripts.slice(LAST, LAST + 1))).then(() => (isPaid = true));
      if (!isPaid) return;
      isPaid = false;
      throw new Error('a client that fails');
    });
    await subscribe(client, scripts);
    await walk.host.mempool.addTX(paymentTo(scripts));
    await all.untilNotified();
    expect(all.log.lines).to.include('warning Clients were not told of changes: a client that fails.');
    expect(told).to.have.length(MANY).and.have.members(names);
  });

  it('tells nothing of a block that the node has dropped before the index has', async () => {
    const told: unknown[] = [];
    const [script = Buffer.alloc(0), name = ''] = [scripts[0], names[0]];
    const statusFrom = async (client: ClientSubscriptions): Promise<ScriptStatus> => await client.addScript(scriptHash(script), name);
    await statusFrom(all.client((_, [, status]) => told.push(status)));
    await walk.mineOnly([paymentTo([script])]);
    await all.untilNotified();
    expect(told.splice(0)).to.have.length(1);
    // The pool takes the transaction before the index hears that the chain is shorter, which the node does not announce.
    const { chain, mempool } = walk.host;
    await Promise.all([chain.replay(chain.height), mempool.addTX(paymentTo([script]))]);
    await all.untilNotified();
    const present = await statusFrom(all.client(() => undefined));
    expect(told).to.deep.equal([present?.toString('hex')]);
  });

  it('tells nothing more once it is closed, but of scripts that it has read', async () => {
    const told: unknown[] = [];
    let closing: Promise<void> | undefined;
    await subscribe(
      all.client((_, [name]) => {
        told.push(name);
        closing ??= all.passes.close();
      }),
      scripts.slice(0, 3 * READ_TOGETHER)
    );
    await walk.mineOnly([paymentTo(scripts)]);
    await all.untilNotified();
    await closing;
    expect(told).to.deep.equal(names.slice(0, READ_TOGETHER));
  });

  it('ends the subscriptions of clients that leave together, some in each turn', async () => {
    const clients = Array.from({ length: 3 }, () => all.client(() => undefined));
    for (const client of clients)
      await subscribe(
        client,
        Array.from({ length: MANY }, () => randomBytes(20))
      );
    expect(all.statuses.size).to.equal(3 * MANY);
    for (const client of clients) client.close();
    expect(all.statuses.size).to.equal(3 * MANY - LEFT_IN_TURN);
    await until(() => all.statuses.size === 0);
  });
});
