import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { SettledPasses, type Notifier } from '../../../lib/answers/updates/settled-passes';
import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { NotifyingNode } from '../../support/node/notifying-node';
import { PoolWalk, scriptHash, SCRIPTS, type Outpoint } from '../../support/pool/walk';

const FEE = 10_000;
const [PAYER, PAYEE, OTHER] = [0, 1, 2] as const;
const hashOf = (kind: number): Buffer => scriptHash(SCRIPTS[kind]?.script ?? expect.fail('a script'));

describe('passes over chain and pool', () => {
  let walk: PoolWalk;
  let all: NotifyingNode;
  /** How many times the chain was locked. */
  let locks: number;
  let coins: Outpoint[];

  beforeEach(async () => {
    walk = await PoolWalk.start();
    all = await NotifyingNode.beside(walk.host);
    locks = 0;
    const lock = all.source.withChainLock.bind(all.source);
    all.source.withChainLock = (use) => {
      locks++;
      return lock(use);
    };
    coins = (await walk.spendable()).filter((coin) => walk.coin(coin).script.equals(SCRIPTS[PAYER]?.script ?? Buffer.alloc(0)));
  });
  afterEach(async () => {
    await all.close();
    await walk.close();
  });

  const pay = async (kind: number): Promise<void> => {
    await walk.send([coins.pop() ?? expect.fail('a coin')], [kind], FEE);
    await all.untilNotified();
  };

  async function subscribe(kind: number): Promise<void> {
    const client = all.client(() => undefined);
    await client.addScript(hashOf(kind), toDisplayHex(hashOf(kind)));
    all.index.reader.read(({ tip }) => {
      client.addHeaders(tip);
    });
  }

  it('lock the chain once for a block, and once for a transaction of the pool that touches a script with listeners', async () => {
    await subscribe(PAYEE);
    await pay(PAYEE);
    expect(locks).to.equal(1);
    await walk.mineOnly([walk.made([coins.pop() ?? expect.fail('a coin')], [PAYEE], FEE) ?? expect.fail('a transaction')]);
    await all.untilNotified();
    expect(locks).to.equal(2);
  });

  it('are not made for transactions that touch no such script, nor while nobody listens', async () => {
    await pay(PAYEE);
    await walk.mineOnly([]);
    await all.untilNotified();
    expect(locks).to.equal(0);
    await subscribe(PAYEE);
    await all.untilNotified();
    locks = 0;
    await pay(OTHER);
    expect(locks).to.equal(0);
  });

  it('have every notifier notify, in the order in which they were added, even if one before it fails to hear or to notify', async () => {
    const heard: string[] = [];
    const fail = (): never => {
      throw new Error('a fault');
    };
    const passes = new SettledPasses({ node: all.source, scripts: all.scripts, pool: all.pool, logger: all.log });
    const broken: Notifier = { size: 1, changed: fail, collect: () => () => Promise.reject(new Error('another fault')) };
    const idle: Notifier = { size: 0, collect: fail };
    const whole = (name: string): Notifier => ({
      size: 1,
      changed: ({ type }) => heard.push(`${name} hears ${type}`),
      collect: () => {
        heard.push(`${name} collects`);
        return () => Promise.resolve(void heard.push(`${name} notifies`));
      }
    });
    for (const notifier of [broken, idle, whole('one'), whole('other')]) passes.add(notifier);
    passes.open();
    await passes.settled();
    heard.length = 0;
    passes.watch(hashOf(PAYEE).toString('latin1'));
    await walk.mineOnly([]);
    await all.untilLive();
    await passes.settled();
    await passes.close();
    expect(heard).to.deep.equal([
      ...['one hears connect', 'other hears connect'],
      ...['one collects', 'other collects', 'one notifies', 'other notifies']
    ]);
    expect(all.log.lines.filter((line) => line.startsWith('error scripts: Error: a fault'))).to.have.length(1);
    expect(all.log.lines).to.include('warning Clients were not told of changes: another fault.');
  });

  it('watch a script as long as one of the notifiers does', async () => {
    const script = hashOf(PAYEE).toString('latin1');
    const rows: unknown[] = [];
    const watching = all.scripts.watched.changes$.subscribe((change) => rows.push(change.type === 'connect' && [...change.rows.keys()]));
    const watched = new Set<string>();
    const passes = new SettledPasses({ node: all.source, scripts: all.scripts, pool: all.pool, logger: all.log });
    for (let i = 0; i < 2; i++) passes.add({ size: 0, watches: (one) => watched.has(one), collect: () => () => Promise.resolve() });
    const mined = async (): Promise<unknown[]> => {
      await walk.mineOnly([walk.made([coins.pop() ?? expect.fail('a coin')], [PAYEE], FEE) ?? expect.fail('a transaction')]);
      await all.untilLive();
      return rows.splice(0);
    };
    watched.add(script);
    passes.watch(script);
    passes.unwatch(script);
    expect(await mined()).to.deep.equal([[script]]);
    watched.delete(script);
    passes.unwatch(script);
    expect(await mined()).to.deep.equal([]);
    watching.unsubscribe();
  });
});
