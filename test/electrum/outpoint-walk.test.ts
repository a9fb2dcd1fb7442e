import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { scanBlock } from '../../lib/bitcoin/block';
import { fromDisplayHex, toDisplayHex } from '../../lib/bitcoin/hash';
import { scanWholeTransaction, type ScannedTransaction } from '../../lib/bitcoin/transaction';
import { NO_CLIENT } from '../../lib/turns/client';
import { needsNode, NO_FEED_WHILE_SHORTER } from '../support/fleet/fleet';
import { activeChain } from '../support/chain/regtest-chain';
import { POOLS, PoolWalk, type Outpoint } from '../support/pool/walk';
import { testScale, testSeed } from '../support/process/scale';
import { servedWalks } from '../support/pool/served-walks';
import type { ClientSubscriptions } from '../../lib/electrum/server/client-subscriptions';
import type { NotifyingNode } from '../support/node/notifying-node';

const RUNS = 4 * testScale();
const seed = testSeed();

interface Status {
  readonly funder_height?: number;
  readonly spender_txhash?: string;
  readonly spender_height?: number;
}

const nameOf = ({ txid, index }: Outpoint): string => `${toDisplayHex(txid)}:${index}`;

/** A client that knows only what it was told. */
class Client {
  readonly told = new Map<string, Status>();
  readonly wrong: string[] = [];
  readonly #subscriptions: ClientSubscriptions;

  constructor(all: NotifyingNode) {
    this.#subscriptions = all.client((method, [txid, index, status]) => {
      const name = `${txid as string}:${index as number}`;
      if (method !== 'blockchain.outpoint.subscribe' || !this.told.has(name)) this.wrong.push(`${method} ${name}`);
      if (JSON.stringify(this.told.get(name)) === JSON.stringify(status)) this.wrong.push(`${name} twice`);
      this.told.set(name, status as Status);
    });
  }

  async subscribe(outpoints: readonly Outpoint[]): Promise<void> {
    await Promise.all(
      outpoints.map(async (outpoint) => {
        const status = await this.#subscriptions.addOutpoint(outpoint, NO_CLIENT, () => undefined);
        this.told.set(nameOf(outpoint), JSON.parse(status) as Status);
      })
    );
  }

  unsubscribe(outpoint: Outpoint): boolean {
    this.told.delete(nameOf(outpoint));
    return this.#subscriptions.removeOutpoint(outpoint);
  }

  close(): void {
    this.#subscriptions.close();
  }
}

/** The statuses of all outpoints, made of the node's blocks and its pool alone. */
async function statusesOf({ host, node }: PoolWalk): Promise<(name: string) => Status> {
  const heights = new Map<string, number>();
  const outputs = new Map<string, number>();
  const spenders = new Map<string, { readonly txid: string; readonly height: number }>();
  const take = ({ txid, inputs, outputs: made }: ScannedTransaction, height: number): void => {
    const name = toDisplayHex(txid);
    heights.set(name, height);
    outputs.set(name, made.length);
    for (const input of inputs) spenders.set(nameOf(input), { txid: name, height });
  };
  for (const [height, raw] of (await activeChain(node)).entries())
    if (height > 0) for (const transaction of scanBlock(raw).transactions) take(transaction, height);
  const confirmed = new Set(heights.keys());
  for (const { tx } of host.mempool.map.values()) {
    const transaction = scanWholeTransaction(tx.toRaw());
    take(transaction, transaction.inputs.every(({ txid }) => confirmed.has(toDisplayHex(txid))) ? 0 : -1);
  }
  return (name) => {
    const [txid = '', index = ''] = name.split(':');
    const height = heights.get(txid);
    if (height === undefined || Number(index) >= (outputs.get(txid) ?? 0)) return {};
    const spender = spenders.get(name);
    return { funder_height: height, ...(spender && { spender_txhash: spender.txid, spender_height: spender.height }) };
  };
}

describe('notifications about outpoints', () => {
  const open = servedWalks();

  for (const { name, start, step } of POOLS)
    it(`end with what chain and pool say of each, and tell nothing twice, on random walks with ${name} (TEST_SEED=${seed})`, async function () {
      let [funded, joined] = [0, 0];
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(step, fc.boolean(), fc.nat({ max: 3 })), { minLength: 15, maxLength: 30 }), async (steps) => {
          const { walk, all } = await open(start);
          const first = new Client(all);
          await first.subscribe(walk.outpoints());
          const clients = [first];
          for (const [one, isJoined, gap] of steps) {
            // Those of everything that was sent, one output that is not there, and a transaction that nobody has.
            const known = walk.outpoints().filter((_, i) => i % (gap + 1) === 0);
            const [last] = known.slice(-1);
            const asked = [
              ...known,
              ...(last === undefined ? [] : [{ txid: last.txid, index: 99 }]),
              { txid: Buffer.alloc(32, 7), index: 0 }
            ];
            const stepping = walk.step(one);
            if (isJoined) {
              const client = new Client(all);
              // No client is answered while the chain moves back.
              await client.subscribe(asked).then(
                () => {
                  clients.push(client);
                  joined++;
                },
                () => client.close()
              );
            }
            await stepping;
            await all.untilNotified();
            const statusOf = await statusesOf(walk);
            for (const client of clients) {
              for (const [outpoint, status] of client.told) {
                expect(status, outpoint).to.deep.equal(statusOf(outpoint));
                if (status.funder_height !== undefined) funded++;
              }
              expect(client.wrong).to.deep.equal([]);
              const [left] = client.told.keys();
              const [txid = '', index = ''] = left?.split(':') ?? [];
              if (left !== undefined && gap === 0)
                expect(client.unsubscribe({ txid: fromDisplayHex(txid), index: Number(index) })).to.equal(true);
            }
            for (const client of clients.splice(4)) client.close();
          }
        }),
        { numRuns: RUNS, seed, endOnFailure: true }
      );
      expect(funded, 'statuses of outputs that are there').to.be.above(0);
      expect(joined, 'clients that subscribed during a step').to.be.above(0);
    }).timeout(300_000 * testScale());

  it('tell what blocks alone have: an output, its spend, and that both are undone', async function () {
    needsNode(this, NO_FEED_WHILE_SHORTER);
    const { walk, all } = await open();
    const client = new Client(all);
    const [coin] = await walk.spendable();
    const funding = walk.made(coin === undefined ? [] : [coin], [0, 1], 5_000) ?? expect.fail('a transaction');
    const outpoint = { txid: funding.hash(), index: 1 };
    walk.know(funding);
    const spending = walk.made([outpoint], [0], 5_000) ?? expect.fail('another one');
    await client.subscribe([outpoint, { txid: funding.hash(), index: 2 }]);
    const seen: Status[] = [];
    const look = async (): Promise<void> => {
      await all.untilNotified();
      expect(client.told.get(nameOf({ txid: funding.hash(), index: 2 }))).to.deep.equal({});
      seen.push(client.told.get(nameOf(outpoint)) ?? expect.fail('a status'));
    };
    await look();
    await walk.mineOnly([funding]);
    await look();
    await walk.mineOnly([spending]);
    await look();
    await walk.goBack('reset', 1);
    await look();
    await walk.goBack('reset', 1);
    await look();
    const height = walk.host.chain.height + 1;
    const [funded, spent] = [
      { funder_height: height },
      { funder_height: height, spender_txhash: toDisplayHex(spending.hash()), spender_height: height + 1 }
    ];
    expect(seen).to.deep.equal([{}, funded, spent, funded, {}]);
    expect(client.wrong).to.deep.equal([]);
    client.close();
    expect(all.outpoints.size).to.equal(0);
  }).timeout(60_000);

  it('tell that another branch has spent an output otherwise, also to the first subscriber of a process', async () => {
    const { walk, all } = await open();
    const [outpoint] = await walk.spendable();
    if (outpoint === undefined) throw new Error('expected an output to spend');
    // What pays nothing does not come back into the pool.
    const [spending, other] = [1, 2].map((pays) => walk.made([outpoint], [pays], 0) ?? expect.fail('a transaction'));
    if (spending === undefined || other === undefined) throw new Error('expected two transactions');
    const fork = walk.host.chain.tip;
    await walk.mineOnly([spending]);
    await all.untilNotified();
    const [client, later] = [new Client(all), new Client(all)];
    await client.subscribe([outpoint]);
    expect(client.told.get(nameOf(outpoint))).to.include({ spender_txhash: toDisplayHex(spending.hash()) });
    await walk.mineOnly([], await walk.mineOnly([other], fork));
    await all.untilNotified();
    await later.subscribe([outpoint]);
    for (const { told } of [client, later]) expect(told.get(nameOf(outpoint))).to.include({ spender_txhash: toDisplayHex(other.hash()) });
    client.close();
    later.close();
  }).timeout(60_000);
});
