import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { MalformedBytesError } from '../../lib/bitcoin/reader';
import { IndexError } from '../../lib/follow/errors';
import { putRecord } from '../../lib/index/records/layout';
import { RowCursor, rowKey } from '../../lib/scripts/records/row';
import { ScriptHasher } from '../../lib/scripts/records/script-hasher';
import { scriptRows, type ScriptBlock, type ScriptRows } from '../../lib/scripts/scan/rows';
import { chainAActiveBlocks } from '../support/chain/chain-a';
import { blockHash, madeBlock, madeCoinbase, madeTransaction } from '../support/chain/made-blocks';
import { madeChain, plannedBlock } from '../support/chain/made-chains';
import { ScriptModel, sha256 } from '../support/index/script-model';

const hasher = new ScriptHasher(Buffer.alloc(32, 5));

function rowsOf(block: ScriptBlock): ScriptRows {
  const rows = scriptRows(block, hasher);
  for (;;) {
    const step = rows.next();
    if (step.done === true) return step.value;
  }
}

/** The rows as text, a line for each. */
function linesOf({ point, count, hashes, indexes, ends, rows }: ScriptRows): string[] {
  return Array.from({ length: count }, (_, row) => {
    const hash = hashes.subarray(row * 10, row * 10 + 10);
    const bytes = rows.subarray(row === 0 ? 0 : ends[row - 1], ends[row]);
    const { key, value } = putRecord(rowKey(hash, { height: point.height, index: indexes[row] ?? -1 }), bytes);
    const cursor = new RowCursor(key, value);
    cursor.next();
    const { index, fundedCount, fundedValue, spentCount, spentValue } = cursor;
    expect(cursor.next()).to.equal(false);
    return `${hash.toString('hex')} ${index} ${fundedCount} ${fundedValue} ${spentCount} ${spentValue} ${bytes.subarray(bytes.length - 2 * spentCount).toString('hex')}`;
  });
}

function expectRowsOf(model: ScriptModel): number {
  const expected = new Map<number, string[]>();
  for (const [script, rows] of model.rows)
    for (const { position, funded, spent } of rows) {
      const hints = model.spends
        .filter((spend) => spend.spender.height === position.height && spend.spender.index === position.index)
        .filter((spend) => spend.script.toString('hex') === script)
        .map(({ output }) => hasher.hint(output.txid, output.index).toString(16).padStart(4, '0'));
      const lines = expected.get(position.height) ?? [];
      expected.set(position.height, lines);
      const hash = hasher.hash(Buffer.from(script, 'hex')).toString('hex');
      lines.push(`${hash} ${position.index} ${funded.count} ${funded.value} ${spent.count} ${spent.value} ${hints.join('')}`);
    }
  let count = 0;
  for (const [height, block] of model.blocks.entries()) {
    const rows = rowsOf(block);
    expect(linesOf(rows).sort()).to.deep.equal((expected.get(height) ?? []).sort());
    expect([...rows.indexes]).to.deep.equal([...rows.indexes].sort((a, b) => a - b));
    expect(rows.txids).to.deep.equal(Buffer.concat(model.txids[height] ?? []));
    expect(rows.point).to.equal(block.point);
    count += rows.count;
  }
  return count;
}

describe('the rows of blocks', () => {
  it('equal the model, one for each script and transaction', () => {
    fc.assert(
      fc.property(fc.array(plannedBlock, { maxLength: 12 }), (plans) => {
        expectRowsOf(new ScriptModel(madeChain(plans)));
      }),
      { numRuns: 60 }
    );
  });

  it('equal the model for chain A', () => {
    const model = new ScriptModel(chainAActiveBlocks().map(({ raw }) => raw));
    expect(model.blocks.reduce((sum, block) => sum + rowsOf(block).count, 0)).to.equal(24_204);
    const all = [...model.rows.values()].reduce((sum, rows) => sum + rows.length, 0);
    expect(all).to.equal(24_204);
  });

  it('do not exist for the genesis block, nor for data', () => {
    const model = new ScriptModel(madeChain([]));
    expect(rowsOf(model.blocks[0] as ScriptBlock).count).to.equal(0);
    const raw = madeBlock(Buffer.alloc(32), [madeCoinbase(1, [{ value: 0, script: Buffer.from('6a0568656c6c6f', 'hex') }])], 1);
    const block = { point: { hash: blockHash(raw), height: 1 }, raw, spent: undefined };
    expect(rowsOf(block).count).to.equal(0);
    expect(rowsOf(block).txids.length).to.equal(32);
  });

  it('yield often while a transaction with very many outputs and scripts is read', () => {
    const outputs = Array.from({ length: 20_000 }, (_, i) => ({
      value: i,
      script: Buffer.from(`03${i.toString(16).padStart(6, '0')}`, 'hex')
    }));
    const raw = madeBlock(Buffer.alloc(32), [madeCoinbase(1, outputs)], 1);
    const rows = scriptRows({ point: { hash: blockHash(raw), height: 1 }, raw, spent: undefined }, hasher);
    let turns = 0;
    let step = rows.next();
    for (; step.done !== true; step = rows.next()) turns++;
    expect(turns).to.be.greaterThan(2);
    expect(step.value.count).to.equal(20_000);
    expect(step.value.hashes.subarray(-10)).to.deep.equal(hasher.hash(sha256(Buffer.from('03004e1f', 'hex'))));
  });

  it('are refused when the spent outputs do not fit the inputs', () => {
    const pay = { value: 10, script: Buffer.from('51', 'hex') };
    const input = (index: number): { txid: Buffer; index: number } => ({ txid: Buffer.alloc(32, 9), index });
    const raw = madeBlock(
      Buffer.alloc(32),
      [madeCoinbase(1, [pay]), madeTransaction([input(0), input(1)], [pay], 1), madeTransaction([input(2)], [pay], 2)],
      1
    );
    const point = { hash: blockHash(raw), height: 1 };
    const output = '0a00000000000000' + '0151';
    const right = `030002${output}${output}01${output}`;
    expect(rowsOf({ point, raw, spent: Buffer.from(right, 'hex') }).count).to.equal(3);
    const wrong = [
      '',
      '00',
      `020002${output}${output}`,
      `040002${output}${output}01${output}00`,
      `030001${output}01${output}`,
      `030001${output}02${output}${output}`,
      `0301${output}02${output}${output}01${output}`,
      `${right}00`,
      right.slice(0, -2)
    ];
    for (const spent of wrong)
      expect(() => rowsOf({ point, raw, spent: Buffer.from(spent, 'hex') }), spent).to.throw(IndexError, 'does not fit');
    expect(() => rowsOf({ point, raw, spent: undefined })).to.throw(IndexError, 'does not fit');
    expect(() => rowsOf({ point, raw: raw.subarray(0, -1), spent: Buffer.from(right, 'hex') })).to.throw(MalformedBytesError);
  });

  it('are those of each transaction, as many as a position can tell apart, and are refused for one more', () => {
    const script = (i: number): Buffer => Buffer.from(`03${i.toString(16).padStart(6, '0')}`, 'hex');
    const paying = (i: number): Buffer =>
      madeTransaction([{ txid: Buffer.alloc(32), index: 0xffff_ffff }], [{ value: i + 1, script: script(i) }], i);
    const transactions = Array.from({ length: 65_536 }, (_, i) => paying(i));
    const blockOf = (raw: Buffer): ScriptBlock => ({ point: { hash: blockHash(raw), height: 1 }, raw, spent: undefined });
    const raw = madeBlock(Buffer.alloc(32), transactions, 1);
    const expected = transactions.map((_, i) => `${hasher.hash(sha256(script(i))).toString('hex')} ${i} 1 ${i + 1} 0 0 `);
    expect(linesOf(rowsOf(blockOf(raw))).join()).to.equal(expected.join());
    expect(() => rowsOf(blockOf(madeBlock(Buffer.alloc(32), [...transactions, paying(65_536)], 1)))).to.throw(IndexError, 'got 65537');
    expect(() => rowsOf(blockOf(Buffer.concat([raw, Buffer.alloc(1)])))).to.throw(MalformedBytesError);
  });

  it('have a hint for each of very many inputs', () => {
    const inputs = Array.from({ length: 20_000 }, (_, index) => ({ txid: Buffer.alloc(32, 9), index }));
    const pay = { value: 10, script: Buffer.from('51', 'hex') };
    const raw = madeBlock(Buffer.alloc(32), [madeCoinbase(1, [pay]), madeTransaction(inputs, [pay], 1)], 1);
    const spent = Buffer.from(`0200fd204e${'0a000000000000000151'.repeat(inputs.length)}`, 'hex');
    const hints = inputs.map(({ txid, index }) => hasher.hint(txid, index).toString(16).padStart(4, '0')).join('');
    const of = hasher.hash(sha256(pay.script)).toString('hex');
    expect(linesOf(rowsOf({ point: { hash: blockHash(raw), height: 1 }, raw, spent })).join()).to.equal(
      `${of} 0 1 10 0 0 ,${of} 1 1 10 20000 200000 ${hints}`
    );
  });

  it('have the txids that are known as they are', () => {
    const raw = madeBlock(Buffer.alloc(32), [madeCoinbase(1, [{ value: 10, script: Buffer.from('51', 'hex') }])], 1);
    const [point, txids] = [{ hash: blockHash(raw), height: 1 }, Buffer.alloc(32, 'a txid that nobody has hashed')];
    expect(rowsOf({ point, raw, spent: undefined, txids })).to.deep.equal({ ...rowsOf({ point, raw, spent: undefined }), txids });
  });

  it('of a block that spends nothing need no spent outputs, or an empty list of them', () => {
    const raw = madeBlock(Buffer.alloc(32), [madeCoinbase(1, [{ value: 10, script: Buffer.from('51', 'hex') }])], 1);
    const point = { hash: blockHash(raw), height: 1 };
    expect(linesOf(rowsOf({ point, raw, spent: undefined }))).to.deep.equal(linesOf(rowsOf({ point, raw, spent: Buffer.from([1, 0]) })));
  });
});
