import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { ChainTotals } from '../../../lib/answers/scripts/totals';
import { hash256 } from '../../../lib/bitcoin/hash';
import { HistoryTooLongError } from '../../../lib/scripts/errors';
import { AnswerCache } from '../../../lib/server/cache/answer-cache';
import { blockHash, madeBlock, madeCoinbase, madeTransaction } from '../../support/chain/made-blocks';
import { ScriptIndex } from '../../support/index/script-index';
import { ScriptModel, sha256 } from '../../support/index/script-model';
import type { ScriptBlock } from '../../../lib/scripts/scan/rows';
import type { ScriptSnapshot, ScriptTotals } from '../../../lib/scripts/types';

const script = Buffer.of(0x51);
const value = 50e8;

/** Blocks that each pay to the script once. */
function madeBlocks(previousHash: Buffer, height: number, count: number, salt: number, each = value): ScriptBlock[] {
  const blocks: ScriptBlock[] = [];
  for (let at = height; at < height + count; at++) {
    const raw = madeBlock(blocks.at(-1)?.point.hash ?? previousHash, [madeCoinbase(salt + at, [{ value: each, script }])], salt);
    blocks.push({ point: { hash: blockHash(raw), height: at }, raw, spent: undefined });
  }
  return blocks;
}

describe('ChainTotals', () => {
  const client = { isGone: false };
  const chain = madeBlocks(Buffer.alloc(32), 0, 301, 1);
  const hashAt = (height: number): Buffer => chain[height]?.point.hash ?? expect.fail('a block');
  let index: ScriptIndex;
  let totals: ChainTotals;
  /** How many transactions were counted. */
  let counted: number;

  before(async () => {
    index = await ScriptIndex.open(hashAt(0));
    await index.connect(chain);
    totals = new ChainTotals(new AnswerCache(1 << 20));
  });
  after(() => index.close());

  const counting = (snapshot: ScriptSnapshot): ScriptSnapshot =>
    new Proxy(snapshot, {
      get: (target, name) => {
        if (name === 'totals')
          return async (...values: Parameters<ScriptSnapshot['totals']>) => {
            const found = await target.totals(...values);
            counted += found.transactions;
            return found;
          };
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? (member as (...values: unknown[]) => unknown).bind(target) : member;
      }
    });

  /** The totals for a number of clients that ask at one time. */
  function asked(times = 1): Promise<ScriptTotals[]> {
    counted = 0;
    return index.read((snapshot) =>
      Promise.all(Array.from({ length: times }, async () => totals.of(sha256(script), counting(snapshot), client)))
    );
  }

  /** The genesis block does not count. */
  const expected = (transactions: number): ScriptTotals => ({
    transactions,
    funded: { count: transactions, value: transactions * value },
    spent: { count: 0, value: 0 }
  });

  it('counts once for all clients that ask at one time', async () => {
    expect(await asked(3)).to.deep.equal([expected(300), expected(300), expected(300)]);
    expect(counted).to.equal(300);
  });

  it('counts only newer transactions once a long history was asked for twice', async () => {
    await asked();
    expect(await asked()).to.deep.equal([expected(300)]);
    expect(counted).to.equal(0);
    await index.connect(madeBlocks(hashAt(300), 301, 5, 1));
    expect(await asked()).to.deep.equal([expected(305)]);
    expect(counted).to.equal(5);
  });

  it('counts again when the block up to which it had counted is disconnected, whatever replaces it', async () => {
    for (let i = 0; i < 10; i++) await index.disconnect();
    expect(await asked()).to.deep.equal([expected(295)]);
    expect(counted).to.equal(295);
    await index.connect(madeBlocks(hashAt(295), 296, 20, 7));
    expect(await asked()).to.deep.equal([expected(315)]);
    expect(counted).to.equal(20);
  });

  it('counts all newer transactions, however many there are', async () => {
    const { hash } = await index.read(({ index: { tip } }) => Promise.resolve(tip));
    await index.connect(madeBlocks(hash, 316, 300, 9));
    expect(await asked()).to.deep.equal([expected(615)]);
    expect(counted).to.equal(300);
  });

  it('counts the transactions of the block up to which it had counted once, wherever in the block they are', async () => {
    const [first, second, third] = [1, 2, 3].map((tag) => madeCoinbase(tag, [{ value, script }])) as [Buffer, Buffer, Buffer];
    const moving = madeTransaction([{ txid: hash256(first), index: 0 }], [{ value, script }], 0);
    const made: Buffer[] = [];
    for (const [salt, transactions] of [[first], [first], [second, moving], [third]].entries())
      made.push(madeBlock(salt === 0 ? Buffer.alloc(32) : blockHash(made[salt - 1] as Buffer), transactions, salt));
    const model = new ScriptModel(made);
    const moved = await ScriptIndex.open(blockHash(made[0] as Buffer));
    const own = new ChainTotals(new AnswerCache(1 << 20));
    const ask = (): Promise<ScriptTotals> => moved.read(async (snapshot) => own.of(sha256(script), snapshot, client));
    await moved.connect(model.blocks.slice(0, 3));
    for (let time = 0; time < 2; time++) expect(await ask()).to.have.property('transactions', 3);
    await moved.connect(model.blocks.slice(3));
    expect(await ask()).to.deep.equal(model.totals(sha256(script)));
    await moved.close();
  });

  it('are refused once a sum is no longer exact', async () => {
    const all = 21e14;
    const blocks = madeBlocks(Buffer.alloc(32), 0, 6, 7, all);
    const [genesis] = blocks;
    const rich = await ScriptIndex.open(genesis?.point.hash ?? expect.fail('a block'));
    const of = (counted: ChainTotals): Promise<unknown> =>
      rich.read(async (snapshot) => counted.of(sha256(script), snapshot, client)).catch((error: unknown) => error);
    const anew = (): ChainTotals => new ChainTotals(new AnswerCache(1 << 20));
    await rich.connect(blocks.slice(0, 5));
    expect(await of(anew())).to.have.nested.property('funded.value', 4 * all);
    await rich.connect(blocks.slice(5));
    expect(await of(anew())).to.be.instanceOf(HistoryTooLongError);
    await rich.close();
  });
});
