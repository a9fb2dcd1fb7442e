import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { scanBlock } from '../../lib/bitcoin/block';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { scanWholeTransaction } from '../../lib/bitcoin/transaction';
import { activeChain } from '../support/chain/regtest-chain';
import { POOLS, scriptHash, SCRIPTS, type PoolWalk } from '../support/pool/walk';
import { testScale, testSeed } from '../support/process/scale';
import { servedWalks } from '../support/pool/served-walks';
import { ScriptModel } from '../support/index/script-model';
import type { ClientSubscriptions } from '../../lib/electrum/server/client-subscriptions';
import type { NotifyingNode } from '../support/node/notifying-node';

const RUNS = 5 * testScale();
const seed = testSeed();

/** The last one carries data, and has no status. */
const NAMES = SCRIPTS.map(({ script }) => scriptHash(script));

/** A client that knows only what it was told. */
class Client {
  readonly told = new Map<string, string | undefined>();
  readonly twice: string[] = [];
  tip: unknown;
  readonly #all: NotifyingNode;
  readonly #subscriptions: ClientSubscriptions;

  constructor(all: NotifyingNode) {
    this.#all = all;
    this.#subscriptions = all.client((method, [first, second]) => {
      if (method === 'blockchain.headers.subscribe') {
        const { height } = first as { height: number };
        if (JSON.stringify(first) === JSON.stringify(this.tip)) this.twice.push(`tip ${height}`);
        this.tip = first;
        return;
      }
      const [name, status] = [first as string, (second as string | null) ?? undefined];
      if (!this.told.has(name) || this.told.get(name) === status) this.twice.push(`${name} ${status ?? 'none'}`);
      this.told.set(name, status);
    });
  }

  async subscribe(): Promise<void> {
    this.#all.index.reader.read(({ tip }) => {
      this.#subscriptions.addHeaders(tip);
    });
    await Promise.all(
      NAMES.map(async (script) => {
        const name = toDisplayHex(script);
        const status = await this.#subscriptions.addScript(script, name);
        this.told.set(name, status?.toString('hex'));
      })
    );
  }

  close(): void {
    this.#subscriptions.close();
  }
}

/** The statuses, computed from the node's blocks and its pool alone. */
async function statusesOf({ host, node }: PoolWalk): Promise<Map<string, string | undefined>> {
  const chain = new ScriptModel(await activeChain(node));
  const confirmed = new Set(chain.txids.flat().map(toDisplayHex));
  const pool = Array.from(host.mempool.map.values(), ({ tx }) => scanWholeTransaction(tx.toRaw()));
  const pooled = new Map(pool.map((transaction) => [toDisplayHex(transaction.txid), transaction]));
  const outputs = new Map(
    [...chain.blocks.flatMap(({ raw }) => scanBlock(raw).transactions), ...pool].map((transaction) => [
      toDisplayHex(transaction.txid),
      transaction.outputs
    ])
  );
  const touches = (script: Buffer, { inputs, outputs: made }: (typeof pool)[number]): boolean =>
    [...made, ...inputs.flatMap(({ txid, index }) => outputs.get(toDisplayHex(txid))?.[index] ?? [])].some((output) =>
      output.script.equals(script)
    );
  return new Map(
    SCRIPTS.map(({ script }, i): [string, string | undefined] => {
      const isData = script[0] === 0x6a;
      const ofPool = [...pooled].filter(([, transaction]) => !isData && touches(script, transaction));
      const heights = ofPool.map(([txid, { inputs }]): [string, number] => [
        txid,
        inputs.every((input) => confirmed.has(toDisplayHex(input.txid))) ? 0 : -1
      ]);
      const text = [
        ...chain.history(NAMES[i] as Buffer).map(({ txid, position }) => `${toDisplayHex(txid)}:${position.height}:`),
        ...heights.sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([txid, height]) => `${txid}:${height}:`)
      ].join('');
      return [toDisplayHex(NAMES[i] as Buffer), text === '' ? undefined : createHash('sha256').update(text).digest('hex')];
    })
  );
}

describe('notifications on random walks', () => {
  const open = servedWalks();

  for (const { name, start, step } of POOLS)
    it(`end with the status of chain and pool, and tell nothing twice, also to new clients, with ${name} (TEST_SEED=${seed})`, async function () {
      let [tips, joined] = [0, 0];
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(step, fc.boolean()), { minLength: 15, maxLength: 30 }), async (steps) => {
          const { walk, all } = await open(start);
          const clients = [new Client(all)];
          await clients[0]?.subscribe();
          for (const [one, isJoined] of steps) {
            const stepping = walk.step(one);
            if (isJoined) {
              const client = new Client(all);
              // No client is answered while the chain moves back.
              await client.subscribe().then(
                () => {
                  clients.push(client);
                  joined++;
                },
                () => client.close()
              );
            }
            await stepping;
            await all.untilNotified();
            const statuses = await statusesOf(walk);
            for (const client of clients) {
              expect(client.told).to.deep.equal(statuses);
              expect(client.twice).to.deep.equal([]);
            }
            const tip = all.index.reader.read(({ tip: { header, height } }) => ({ hex: header.toString('hex'), height }));
            // A client has none before the first block after it has subscribed.
            const told = clients.filter((client) => client.tip !== undefined);
            for (const client of told) expect(client.tip).to.deep.equal(tip);
            tips += told.length;
            for (const client of clients.splice(4)) client.close();
          }
        }),
        { numRuns: RUNS, seed, endOnFailure: true }
      );
      expect(tips, 'tips that clients were told').to.be.above(0);
      expect(joined, 'clients that subscribed during a step').to.be.above(0);
    }).timeout(300_000 * testScale());
});
