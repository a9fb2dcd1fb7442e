import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import { keyOf, toDisplayHex } from '../../../lib/bitcoin/hash';
import { NotifyingNode } from '../../support/node/notifying-node';
import { PoolWalk, scriptHash, SCRIPTS } from '../../support/pool/walk';
import { unfailing } from '../../support/expectations/unfailing';
import type { ClientSubscriptions } from '../../../lib/electrum/server/client-subscriptions';
import type { HostTransaction } from '../../../lib/node/host';

const FEE = 10_000;
/** Listeners: telling so many takes many turns. */
const MANY = 3_000;
const SCRIPT = scriptHash(SCRIPTS[1]?.script ?? Buffer.alloc(0));
const NAME = toDisplayHex(SCRIPT);

describe('a client is never told anything older than what it knows', () => {
  let walk: PoolWalk;
  let all: NotifyingNode;
  /** Transactions that pay to the script, not sent yet. */
  const payments: HostTransaction[] = [];
  const clients: ClientSubscriptions[] = [];

  before(async () => {
    walk = await PoolWalk.start();
    all = await NotifyingNode.beside(walk.host);
    for (const coin of await walk.spendable()) {
      const isTheirs = walk.coin(coin).script.equals(SCRIPTS[1]?.script ?? Buffer.alloc(0));
      if (!isTheirs) payments.push(walk.made([coin], [1], FEE) ?? expect.fail('a transaction'));
    }
  });
  after(async () => {
    await all.close();
    await walk.close();
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
  });

  const payment = (): HostTransaction => payments.pop() ?? expect.fail('a transaction');
  const pay = (): Promise<unknown> => walk.host.mempool.addTX(payment());

  function clientThat(hears: (news: readonly unknown[]) => void): ClientSubscriptions {
    const client = all.client((_, news) => {
      hears(news);
    });
    clients.push(client);
    return client;
  }

  const heightIn = ([header]: readonly unknown[]): number => (header as { readonly height: number }).height;
  const statusIn = ([, status]: readonly unknown[]): string => status as string;

  /** The height of the tip in the client's answer. */
  const askTip = (client: ClientSubscriptions): Promise<number> =>
    all.scripts.reader.read(({ index: { tip } }) => {
      client.addHeaders(tip);
      return Promise.resolve(tip.height);
    });

  const askStatus = async (client: ClientSubscriptions): Promise<string> =>
    (await client.addScript(SCRIPT, NAME))?.toString('hex') ?? expect.fail('a script with transactions');

  it('about tips: one that asks while the index by script is a block behind is told that block', async () => {
    const known: number[] = [];
    const client = clientThat((news) => known.push(heightIn(news)));
    const { height } = walk.host.chain;
    const watching = all.index.blocks$.subscribe(() => void askTip(client).then((answer) => known.push(answer)));
    await walk.mineOnly([]);
    watching.unsubscribe();
    await all.untilNotified();
    expect(known).to.deep.equal([height, height + 1]);
  });

  it('about tips: one that asks again while the others are told an earlier block', async () => {
    const known: number[] = [];
    let going: Promise<unknown> | undefined;
    const goOn = (): void => void (going ??= walk.mineOnly([]).then(ask));
    for (let i = 0; i < MANY; i++) await askTip(clientThat(goOn));
    const last = clientThat((news) => known.push(heightIn(news)));
    const ask = async (): Promise<void> => void known.push(await askTip(last));
    await ask();
    const { height } = walk.host.chain;
    await walk.mineOnly([]);
    await all.untilNotified();
    await going;
    await all.untilNotified();
    expect(known).to.deep.equal([height, height + 2]);
  });

  it('about statuses: one that asks again, or leaves, while the others are told an earlier change', async () => {
    const known: string[] = [];
    let going: Promise<unknown> | undefined;
    const goOn = (): void => void (going ??= pay().then(ask));
    for (let i = 0; i < MANY; i++) await askStatus(clientThat(goOn));
    const leaving = { changed: () => void known.push('who has left'), failed: unfailing };
    await all.statuses.add(keyOf(SCRIPT), leaving, Infinity);
    const last = clientThat((news) => known.push(statusIn(news)));
    const ask = async (): Promise<void> => {
      all.statuses.delete(keyOf(SCRIPT), leaving);
      known.push(await askStatus(last));
    };
    const first = await askStatus(last);
    await pay();
    await all.untilNotified();
    await going;
    await all.untilNotified();
    expect(known).to.deep.equal([await askStatus(clientThat(() => undefined))]);
    expect(known).not.to.include(first);
  });

  it('about statuses: one that asks about another script, or leaves it, is still told of this one', async () => {
    const other = scriptHash(Buffer.from('53', 'hex'));
    const known: string[] = [];
    let asking: Promise<unknown> | undefined;
    const [first, asker, leaver] = [
      clientThat(() => {
        asking = Promise.resolve(asker.addScript(other, toDisplayHex(other)));
        leaver.removeScript(other);
      }),
      clientThat((news) => known.push(statusIn(news))),
      clientThat((news) => known.push(statusIn(news)))
    ] as const;
    for (const client of [asker, leaver]) await client.addScript(other, toDisplayHex(other));
    for (const client of [first, asker, leaver]) await askStatus(client);
    await pay();
    await all.untilNotified();
    await asking;
    const present = await askStatus(clientThat(() => undefined));
    expect(known).to.deep.equal([present, present]);
  });

  it('about statuses: one that asks again while its own change is on its way', async () => {
    const known: string[] = [];
    const client = clientThat((news) => known.push(statusIn(news)));
    await askStatus(client);
    let asking: Promise<unknown> | undefined;
    for (let i = 0; i < MANY; i++) {
      const listener = clientThat(() => {
        if (i === 0) void pay();
        // Statuses are told after the tip.
        if (i === MANY - 1) asking = askStatus(client).then((status) => known.push(status));
      });
      await askTip(listener);
    }
    await walk.mineOnly([payment()]);
    await all.untilNotified();
    await asking;
    await all.untilNotified();
    // The change is told after the answer.
    await setImmediate();
    expect(known).to.deep.equal([await askStatus(clientThat(() => undefined))]);
  });
});
