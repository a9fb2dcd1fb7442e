import { hash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { PooledScripts } from '../../../lib/answers/scripts/pooled-script';
import { ChainTotals } from '../../../lib/answers/scripts/totals';
import { ScriptHistories } from '../../../lib/answers/status/history';
import { Statuses, type NewRows, type Status } from '../../../lib/answers/status/statuses';
import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { BcoinNode } from '../../../lib/node/bcoin';
import { ScriptPool } from '../../../lib/pool/by-script/script-pool';
import { AnswerCache } from '../../../lib/server/cache/answer-cache';
import { blockHash, madeBlock, madeCoinbase } from '../../support/chain/made-blocks';
import { madeChain, madeGenesis, plannedBlock } from '../../support/chain/made-chains';
import { openRegtestNode } from '../../support/bcoin/regtest-node';
import { ScriptIndex } from '../../support/index/script-index';
import { ScriptModel, sha256 } from '../../support/index/script-model';
import { unfailing } from '../../support/expectations/unfailing';
import type { ScriptSnapshot } from '../../../lib/scripts/types';
import type { TestFullNode } from '../../support/bcoin/bcoin';

const BLOCKS = 8;
const [PLANS = [], OTHER_PLANS = []] = fc.sample(fc.array(plannedBlock, { minLength: BLOCKS, maxLength: BLOCKS }), { seed: 3, numRuns: 2 });

/** A block of another branch. */
const ELSEWHERE = 'elsewhere';
type Block = number | typeof ELSEWHERE;
/** Its height. */
const FORKED = 3;

/** How many histories with one transaction ten megabytes hold: each takes 256 bytes and a text of 67. */
const ENTRIES = Math.floor(10_000_000 / (256 + 67));
/** Scripts without transactions, which take no place in the cache. */
const UNUSED = 100;

const numbers = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe('the status of a script', () => {
  let host: TestFullNode;
  let histories: ScriptHistories;
  let index: ScriptIndex;

  before(async () => {
    host = await openRegtestNode();
    // Without transactions.
    const pool = new ScriptPool(new BcoinNode(host).pool, unfailing);
    histories = new ScriptHistories(new PooledScripts(pool), new ChainTotals(new AnswerCache(1 << 20)));
  });
  after(() => host.close());
  beforeEach(async () => {
    index = await ScriptIndex.open(blockHash(madeGenesis));
  });
  afterEach(() => index.close());

  const statusAt = async (snapshot: ScriptSnapshot, script: Buffer, statuses: Statuses, newRows?: NewRows): Promise<Status> =>
    await statuses.of(histories.at(script, snapshot), Infinity, newRows);
  const statusOf = (script: Buffer, statuses: Statuses, newRows?: NewRows): Promise<Status> =>
    index.read((snapshot) => statusAt(snapshot, script, statuses, newRows));

  it('is that of its history, wherever the cached part ends, and after whichever block there are new rows', async () => {
    const [model, other] = [new ScriptModel(madeChain(PLANS)), new ScriptModel(madeChain(OTHER_PLANS, 1))];
    const scripts = [...model.scripts, sha256(Buffer.from('nobody'))];
    const rowsOf = (script: Buffer, of: ScriptModel): ReturnType<ScriptModel['history']> => of.rows.get(script.toString('hex')) ?? [];
    const newRowsSince = (script: Buffer, since: Block): NewRows => {
      const [of, height] = since === ELSEWHERE ? [other, FORKED] : [model, since];
      return {
        since: of.blocks[height]?.point ?? expect.fail('a block'),
        wasEmpty: rowsOf(script, of).every(({ position }) => position.height > height),
        rows: rowsOf(script, model).filter(({ position }) => position.height > height)
      };
    };
    const cachedAt: readonly (Block | undefined)[] = [undefined, ELSEWHERE, ...numbers(0, BLOCKS)];
    const rowsAfter: readonly (Block | undefined)[] = [undefined, ELSEWHERE, ...numbers(0, BLOCKS)];
    const ways = cachedAt.flatMap((cached) => rowsAfter.map((since) => ({ cached, since, statuses: new Statuses() })));
    const cache = async (at: Block): Promise<void> => {
      for (const { cached, statuses } of ways) if (cached === at) for (const script of scripts) await statusOf(script, statuses);
    };

    await index.connect(other.blocks.slice(0, FORKED + 1));
    await cache(ELSEWHERE);
    for (let height = FORKED; height > 0; height--) await index.disconnect();
    await cache(0);
    for (const height of numbers(1, BLOCKS)) {
      await index.connect(model.blocks.slice(height, height + 1));
      await cache(height);
    }
    for (const script of scripts) {
      const text = model.history(script).map(({ txid, position }) => `${toDisplayHex(txid)}:${position.height}:`);
      const expected = text.length === 0 ? '' : hash('sha256', text.join(''), 'binary');
      for (const { cached, since, statuses } of ways) {
        const newRows = since === undefined ? undefined : newRowsSince(script, since);
        const status = await statusOf(script, statuses, newRows);
        expect(
          status.text === expected,
          `${script.toString('hex')}: cached at ${String(cached)}, new rows since ${String(since)}`
        ).to.equal(true);
      }
    }
    // There are coinbases of one txid, and scripts without transactions at first.
    expect(scripts.some((script) => model.history(script).length < rowsOf(script, model).length)).to.equal(true);
    expect(scripts.some((script) => newRowsSince(script, 1).wasEmpty && rowsOf(script, model).length > 0)).to.equal(true);
  });

  it('is found without reading while its confirmed part is cached, in ten megabytes, for scripts with transactions', async () => {
    const scripts = numbers(1, ENTRIES + 1).map((i) => Buffer.from([0x51, i >> 8, i & 0xff]));
    const outputs = scripts.map((script) => ({ value: 1, script }));
    const chain = [madeGenesis, madeBlock(blockHash(madeGenesis), [madeCoinbase(1, outputs)], 1)];
    await index.connect(new ScriptModel(chain).blocks);
    const statuses = new Statuses();
    await index.read(async (snapshot) => {
      const readFor = async (script: Buffer): Promise<number> => (await statusAt(snapshot, sha256(script), statuses)).work;
      for (const script of scripts) expect(await readFor(script)).to.equal(1);
      for (const i of numbers(1, UNUSED)) expect(await readFor(Buffer.from([0x52, i]))).to.equal(0);
      const read: number[] = [];
      for (const script of scripts.slice(0, 2).reverse()) read.push(await readFor(script));
      expect(read).to.deep.equal([0, 1]);
    });
  });
});
