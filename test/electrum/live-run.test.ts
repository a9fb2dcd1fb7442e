import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { fromDisplayHex, toDisplayHex } from '../../lib/bitcoin/hash';
import { bcoin, type TestFullNode } from '../support/bcoin/bcoin';
import { chainABlocks, chainAPool } from '../support/chain/chain-a';
import { CHAIN_A_TIMEOUT_MS, copiedChain } from '../support/node/chain-a-node';
import { NotifyingNode } from '../support/node/notifying-node';
import { entryOf, openRegtestNode, trustSpends } from '../support/bcoin/regtest-node';
import type { HostEntry } from '../../lib/node/host';

/** Statuses by the number of the script. */
type Changes = Readonly<Record<string, string | null>>;

interface Header {
  readonly height: number;
  readonly hex: string;
}

interface LiveStep {
  readonly step: 'block' | 'blocks' | 'pool' | 'mined' | 'disconnected' | 'empty 1' | 'empty 2' | 'back to mined' | 'reorganized';
  /** `<height> <hash>` of one block, or of the first and the last. */
  readonly submit?: string;
  readonly from?: string;
  readonly to?: string;
  /** The index of the pool's last transaction. */
  readonly index?: number;
  readonly block?: string;
  readonly raw?: string;
  readonly tip: string;
  /** The headers that Fulcrum told. */
  readonly headers: readonly Header[];
  readonly changed: Changes;
  /** `silent`: ElectrumX tells nothing unless the chain gets longer. `others`: what it told and Fulcrum did not tell in the same step. */
  readonly electrumx: { readonly silent: boolean; readonly others: Changes };
}

interface LiveRun {
  readonly header: Header;
  readonly scripts: readonly string[];
  readonly statuses: readonly (string | null)[];
  readonly steps: readonly LiveStep[];
}

const run = JSON.parse(gunzipSync(readFileSync(join(__dirname, '../vectors/electrum/live-run.json.gz'))).toString('utf8')) as LiveRun;

/** Data outputs of two pool transactions, which ElectrumX counts while they are in the pool. */
const data = new Set(run.steps.filter(({ step }) => step === 'pool').flatMap(({ electrumx }) => Object.keys(electrumx.others)));

describe('notifications while the chain moves', function () {
  this.timeout(CHAIN_A_TIMEOUT_MS);

  let prefix: string;
  let host: TestFullNode;
  let all: NotifyingNode;
  let headers: Header[] = [];
  let changed: Record<string, string | null> = {};
  const doubled: string[] = [];
  const statuses = new Map<string, string | null>();
  const numbers = new Map(run.scripts.map((name, i) => [name, String(i)]));

  before(async () => {
    prefix = await copiedChain();
    host = await openRegtestNode({ prefix });
    takeBackAlways(host);
    trustSpends(host);
    await host.connect();
    await host.chain.reset(run.header.height);
    all = await NotifyingNode.beside(host);
  });
  after(async () => {
    await all.close();
    await host.close();
    await rm(prefix, { recursive: true });
  });

  it('begin with the present status of each script', async () => {
    const client = all.client((method, params) => {
      if (method === 'blockchain.headers.subscribe') {
        headers.push(params[0] as Header);
        return;
      }
      const [name, status] = params as [string, string | null];
      if (statuses.get(name) === status) doubled.push(name);
      statuses.set(name, status);
      changed[numbers.get(name) ?? name] = status;
    });
    all.index.reader.read(({ tip }) => {
      client.addHeaders(tip);
    });
    for (const [i, name] of run.scripts.entries()) {
      const status = (await client.addScript(fromDisplayHex(name), name))?.toString('hex') ?? null;
      expect(status, name).to.equal(run.statuses[i]);
      statuses.set(name, status);
    }
  });

  it('have each step’s tip and changed statuses, as told by Fulcrum, and by ElectrumX where it tells them', async () => {
    for (const step of run.steps) {
      [headers, changed] = [[], {}];
      await take(step);
      await all.untilNotified();
      const name = `${step.step} ${step.submit ?? step.index ?? ''}`;
      expect(toDisplayHex(all.source.tip().hash), name).to.equal(step.tip);
      expect(step.step === 'blocks' ? headers.slice(-1) : headers, name).to.deep.equal(step.headers);
      expect(changed, name).to.deep.equal(step.changed);
      if (!step.electrumx.silent)
        for (const [number, status] of Object.entries(step.electrumx.others))
          if (!data.has(number)) expect(statuses.get(run.scripts[Number(number)] ?? ''), name).to.equal(status);
    }
    expect(doubled).to.deep.equal([]);
    expect(all.log.lines.filter((line) => line.includes('not told'))).to.deep.equal([]);
  });

  const take = async (step: LiveStep): Promise<void> => {
    switch (step.step) {
      case 'block':
        return submit(step.submit ?? '', step.submit ?? '');
      case 'blocks':
        return submit(step.from ?? '', step.to ?? '');
      case 'pool':
        for (const raw of chainAPool().slice(0, (step.index ?? 0) + 1)) {
          const transaction = bcoin.TX.fromRaw(raw);
          if (all.source.pool.transaction(transaction.hash()) === undefined) await host.mempool.addTX(transaction);
        }
        return;
      case 'disconnected':
        return move(1, []);
      case 'back to mined':
        return move(2, ['mined']);
      case 'reorganized':
        return move(1, ['empty 1', 'empty 2']);
      default:
        await host.chain.add(bcoin.Block.fromRaw(Buffer.from(step.raw ?? '', 'hex')));
    }
  };

  const submit = async (from: string, to: string): Promise<void> => {
    const blocks = chainABlocks();
    const at = (line: string): number => blocks.findIndex(({ height, hash }) => line.startsWith(`${height} ${hash}`));
    for (const { raw } of blocks.slice(at(from), at(to) + 1)) await host.chain.add(bcoin.Block.fromRaw(raw));
  };

  /** Reorganizes the node's chain; a reset would empty the pool. Blocks are named by the steps that brought them. */
  const move = async (back: number, forth: readonly LiveStep['step'][]): Promise<void> => {
    const chain = host.chain as TestFullNode['chain'] & Record<'disconnect' | 'reconnect', (entry: HostEntry) => Promise<void>>;
    const blocks = forth.map((name) => Buffer.from(run.steps.find(({ step }) => step === name)?.raw ?? '', 'hex'));
    const entries = await Promise.all(blocks.map((raw) => entryOf(host, bcoin.Block.fromRaw(raw))));
    const unlock = await chain.locker.lock();
    for (let i = 0; i < back; i++) await chain.disconnect(chain.tip);
    for (const entry of entries) await chain.reconnect(entry);
    unlock();
  };

  /** bcoin’s pool takes nothing back while it is empty, unlike the pools of other nodes. */
  const takeBackAlways = ({ mempool }: TestFullNode): void => {
    const removeBlock = mempool._removeBlock.bind(mempool);
    mempool._removeBlock = async (block, transactions) => {
      const all = transactions;
      if (mempool.map.size === 0) for (const transaction of all.slice(1)) await mempool.insertTX(transaction, -1);
      else await removeBlock(block, transactions);
    };
  };
});
