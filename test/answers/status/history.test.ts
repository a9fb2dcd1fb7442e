import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import { PooledScripts } from '../../../lib/answers/scripts/pooled-script';
import { ChainTotals } from '../../../lib/answers/scripts/totals';
import { ScriptHistories } from '../../../lib/answers/status/history';
import { hash256 } from '../../../lib/bitcoin/hash';
import { TXID_LENGTH } from '../../../lib/bitcoin/transaction';
import { BcoinNode } from '../../../lib/node/bcoin';
import { ScriptPool } from '../../../lib/pool/by-script/script-pool';
import { HistoryTooLongError } from '../../../lib/scripts/errors';
import { AnswerCache } from '../../../lib/server/cache/answer-cache';
import { unpacked } from '../../../lib/scripts/records/positions';
import { blockHash, madeBlock, madeCoinbase, madeTransaction } from '../../support/chain/made-blocks';
import { openRegtestNode } from '../../support/bcoin/regtest-node';
import { ScriptIndex } from '../../support/index/script-index';
import { ScriptModel, sha256 } from '../../support/index/script-model';
import { unfailing } from '../../support/expectations/unfailing';
import type { Position } from '../../../lib/index/types';
import type { RowTransaction, RowTransactions, ScriptSnapshot } from '../../../lib/scripts/types';
import type { TestFullNode } from '../../support/bcoin/bcoin';

/** More than fit into a page. */
const LONG = 1_300;
const SHORT = 200;
/** Transactions in each block that pay to a script, so many in all that they are counted. */
const IN_BLOCK = 8;
const COUNTED = LONG * IN_BLOCK;
const CLIENT = { isGone: false };
const [longScript, shortScript, countedScript] = [Buffer.of(0x51), Buffer.of(0x52), Buffer.of(0x53)] as const;

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
      const transactions = [madeCoinbase(2, [{ value: height, script: countedScript }, ...outputs])];
      while (transactions.length < IN_BLOCK) {
        const before = { txid: hash256(transactions.at(-1) ?? Buffer.alloc(0)), index: 0 };
        transactions.push(madeTransaction([before], [{ value: 1, script: countedScript }], 0));
      }
      chain.push(madeBlock(blockHash(chain.at(-1) ?? Buffer.alloc(0)), transactions, height));
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

  it('is given whole if it is not longer than allowed, and counted, once, only if it is long and there is a limit', async () => {
    for (const [script, most, counts] of [
      [shortScript, SHORT, 0],
      [longScript, LONG, 0],
      [countedScript, COUNTED, 1],
      [countedScript, COUNTED + 1, 0],
      [countedScript, Infinity, 0]
    ] as const)
      expect(await read(script, most)).to.deep.equal({ rows: model.history(sha256(script)), error: undefined, counts });
  });

  it('is refused if it is longer than allowed, when a little more than that was read, or when it was counted', async () => {
    for (const [script, most, mostRead] of [
      [shortScript, SHORT - 1, 0],
      [shortScript, 0, 0],
      [longScript, SHORT, 0],
      [longScript, LONG - 1, 1_024],
      [countedScript, COUNTED - 1, 10_000],
      // What was counted is known.
      [countedScript, COUNTED - 1, 0]
    ] as const) {
      const { rows, error } = await read(script, most);
      expect(rows.length).to.be.at.most(mostRead);
      expect(error).to.be.instanceOf(HistoryTooLongError);
    }
  });

  it('is refused if the part above a position has more than a page, and all of it is longer than allowed', async () => {
    const { rows, error } = await read(longScript, LONG - 1, { height: 10, index: 0 });
    expect(rows).to.deep.equal([]);
    expect(error).to.be.instanceOf(HistoryTooLongError);
  });

  it('is given from a position on', async () => {
    const { rows } = await read(longScript, Infinity, { height: 7, index: 0 });
    expect(rows).to.deep.equal(model.history(sha256(longScript)).slice(7));
  });
});
