import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import { PooledScripts } from '../../../lib/answers/scripts/pooled-script';
import { ChainTotals } from '../../../lib/answers/scripts/totals';
import { ScriptHistories } from '../../../lib/answers/status/history';
import { BcoinNode } from '../../../lib/node/bcoin';
import { ScriptPool } from '../../../lib/pool/by-script/script-pool';
import { HistoryTooLongError } from '../../../lib/scripts/errors';
import { AnswerCache } from '../../../lib/server/cache/answer-cache';
import { TXID_LENGTH } from '../../../lib/scripts/records/block-txids';
import { unpacked } from '../../../lib/scripts/records/positions';
import { blockHash, madeBlock, madeCoinbase } from '../../support/made-blocks';
import { openRegtestNode } from '../../support/regtest-node';
import { ScriptIndex } from '../../support/script-index';
import { ScriptModel, sha256 } from '../../support/script-model';
import { unfailing } from '../../support/unfailing';
import type { Position } from '../../../lib/index/types';
import type { RowTransaction, RowTransactions, ScriptSnapshot } from '../../../lib/scripts/types';
import type { TestFullNode } from '../../support/bcoin';

/** More than fit into two pages. */
const LONG = 1_300;
const SHORT = 200;
const CLIENT = { isGone: false };
const [longScript, shortScript] = [Buffer.of(0x51), Buffer.of(0x52)] as const;

describe('the confirmed part of a history', () => {
  let host: TestFullNode;
  let index: ScriptIndex;
  let histories: ScriptHistories;
  let model: ScriptModel;

  before(async () => {
    const chain = [madeBlock(Buffer.alloc(32), [madeCoinbase(1, [])], 0)];
    for (let height = 1; height <= LONG; height++) {
      const paid = height <= SHORT ? [longScript, shortScript] : [longScript];
      const outputs = paid.map((script) => ({ value: height, script }));
      chain.push(madeBlock(blockHash(chain.at(-1) ?? Buffer.alloc(0)), [madeCoinbase(2, outputs)], height));
    }
    model = new ScriptModel(chain);
    index = await ScriptIndex.open(blockHash(chain[0] ?? Buffer.alloc(0)));
    await index.connect(model.blocks);
    host = await openRegtestNode();
  });
  after(async () => {
    await index.close();
    await host.close();
  });
  beforeEach(() => {
    const pool = new ScriptPool(new BcoinNode(host).pool, unfailing);
    histories = new ScriptHistories(new PooledScripts(pool), new ChainTotals(new AnswerCache(1 << 20)));
  });

  interface Read {
    readonly rows: readonly RowTransaction[];
    readonly error: unknown;
    /** How many times the history was counted. */
    readonly counts: number;
  }

  function read(script: Buffer, most: number, above?: Position): Promise<Read> {
    return index.read(async (snapshot) => {
      let counts = 0;
      const counting = new Proxy(snapshot, {
        get: (target, name) => {
          if (name === 'totals') counts++;
          const member: unknown = Reflect.get(target, name, target);
          return typeof member === 'function' ? (member as (...values: unknown[]) => unknown).bind(target) : member;
        }
      });
      const rows: RowTransaction[] = [];
      const error = await readAll(counting, script, most, above, rows).catch((caught: unknown) => caught);
      return { rows, error, counts };
    });
  }

  async function readAll(
    snapshot: ScriptSnapshot,
    script: Buffer,
    most: number,
    above: Position | undefined,
    rows: RowTransaction[]
  ): Promise<void> {
    const take = ({ positions, txids }: RowTransactions): void => {
      for (const [i, position] of positions.entries())
        rows.push({ position: unpacked(position), txid: txids.subarray(i * TXID_LENGTH, (i + 1) * TXID_LENGTH) });
    };
    await histories.at(sha256(script), snapshot).confirmed(most, CLIENT, take, above);
  }

  it('is given whole if it is not longer than allowed, and counted first, once, only if it is long and there is a limit', async () => {
    for (const [script, most, counts] of [
      [shortScript, SHORT, 0],
      [shortScript, Infinity, 0],
      [longScript, LONG, 1],
      [longScript, Infinity, 0]
    ] as const)
      expect(await read(script, most)).to.deep.equal({ rows: model.history(sha256(script)), error: undefined, counts });
  });

  it('is refused before any of it is given if it is longer than allowed', async () => {
    for (const [script, most] of [
      [shortScript, SHORT - 1],
      [shortScript, 0],
      [longScript, LONG - 1],
      [longScript, SHORT]
    ] as const) {
      const { rows, error } = await read(script, most);
      expect(rows).to.deep.equal([]);
      expect(error).to.be.instanceOf(HistoryTooLongError);
    }
  });

  it('is given from a position on', async () => {
    const { rows } = await read(longScript, Infinity, { height: 7, index: 0 });
    expect(rows).to.deep.equal(model.history(sha256(longScript)).slice(7));
  });
});
