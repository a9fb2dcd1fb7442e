import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { scanBlock } from '../../lib/bitcoin/block';
import { MalformedBytesError } from '../../lib/bitcoin/reader';
import { scanWholeTransaction } from '../../lib/bitcoin/transaction';
import { blockJson, blockSummaryJson, type BlockContext } from '../../lib/views/block';
import { finish } from '../support/expectations/finish';
import { chainAManifest, coreStyles, recordedBody, recordedSuccesses, type RecordedAnswer } from '../support/chain/chain-a';
import { chainAView, type ChainAView } from './chain-a-views';
import { madeBlock, madeTransaction } from '../support/chain/made-blocks';
import { inBech32m } from '../support/recorded/core';

const blockText = (view: ChainAView): Buffer => finish(blockJson(scanBlock(view.raw), view));

const hashIn = ({ path }: RecordedAnswer): string => /[0-9a-fA-F]{64}/.exec(path)?.[0] ?? '';

describe('blockJson', () => {
  it('writes every recorded block byte for byte, including stale ones and genesis', () => {
    const answers = recordedSuccesses('block', 'json');
    expect(answers).to.have.length.above(30);
    for (const answer of answers) {
      const view = chainAView(hashIn(answer));
      expect(blockText(view).toString() === inBech32m(recordedBody(answer).toString()), answer.id).to.equal(true);
    }
  });

  it('leaves witnesses out of the hex of transactions when it is told to, and nowhere else', () => {
    const view = chainAView(chainAManifest().blocks['mixed']?.hash ?? '');
    const json = (hexWithWitness: boolean): { tx: { hex: string }[] } =>
      JSON.parse(blockText({ ...view, hexWithWitness }).toString()) as { tx: { hex: string }[] };
    const [whole, stripped] = [json(true), json(false)];
    expect(stripped).to.not.deep.equal(whole);
    expect(stripped).to.deep.equal({
      ...whole,
      tx: whole.tx.map((transaction) => ({
        ...transaction,
        hex: scanWholeTransaction(Buffer.from(transaction.hex, 'hex')).stripped.toString('hex')
      }))
    });
  });

  it('pauses after each transaction, and more often in long ones', () => {
    for (const name of ['mixed', 'fanout', 'gather']) {
      const view = chainAView(chainAManifest().blocks[name]?.hash ?? '');
      const longest = Math.max(...scanBlock(view.raw).transactions.map(({ inputs, outputs }) => Math.max(inputs.length, outputs.length)));
      const pauses = [...blockJson(scanBlock(view.raw), view)].length;
      expect(pauses).to.be.at.least(view.transactionCount + Math.floor(longest / 64));
    }
  });

  it('refuses bytes that are not a block', () => {
    const view = chainAView(chainAManifest().tip);
    expect(() => blockText({ ...view, raw: view.raw.subarray(1) })).to.throw(MalformedBytesError);
  });

  it('writes JSON of changed bytes, or fails with MalformedBytesError', () => {
    const view = chainAView(chainAManifest().blocks['mixed']?.hash ?? '');
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(view.raw.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }), (changes) => {
        const changed = Buffer.from(view.raw);
        for (const [at, value] of changes) changed[at] = value;
        try {
          expect(JSON.parse(blockText({ ...view, raw: changed }).toString())).to.have.property('nTx');
        } catch (error) {
          expect(error).to.be.instanceOf(MalformedBytesError);
        }
      }),
      { numRuns: 100 }
    );
  });
});

describe('blockSummaryJson', () => {
  it('writes every recorded summary byte for byte', () => {
    const answers = recordedSuccesses('notxdetails', 'json');
    expect(answers).to.have.length.above(30);
    for (const answer of answers) {
      const view = chainAView(hashIn(answer));
      expect(finish(blockSummaryJson(scanBlock(view.raw), view)).toString(), answer.id).to.equal(recordedBody(answer).toString());
    }
  });

  it('pauses after each transaction', () => {
    const view = chainAView(chainAManifest().blocks['mixed']?.hash ?? '');
    expect([...blockSummaryJson(scanBlock(view.raw), view)]).to.have.length(view.transactionCount);
  });
});

describe('blockJson with the outputs that a block spends', () => {
  const { fields } = coreStyles.modern;
  const view = chainAView(chainAManifest().blocks['mixed']?.hash ?? '');
  const block = scanBlock(view.raw);
  const inputs = block.transactions.slice(1).reduce((sum, { inputCount }) => sum + inputCount, 0);
  const spent = Array.from({ length: inputs }, (_, i) => ({
    height: i,
    coinbase: i % 2 === 0,
    value: 2 ** 40 + i,
    script: Buffer.from('51024e73', 'hex')
  }));

  interface Shown {
    readonly tx: readonly {
      readonly fee?: number;
      readonly vin: readonly { readonly prevout?: { readonly height: number; readonly generated: boolean } }[];
    }[];
  }
  const shown = (more: Pick<BlockContext, 'spent' | 'hidesSpent'>): Shown =>
    JSON.parse(blockText({ ...view, fields, ...more }).toString()) as Shown;

  it('gives each input its own, in the order of the block', () => {
    const [coinbase, ...others] = shown({ spent }).tx;
    expect([coinbase?.fee, coinbase?.vin[0]?.prevout]).to.deep.equal([undefined, undefined]);
    const heights = others.flatMap(({ vin }) => vin.map(({ prevout }) => prevout?.height));
    expect(heights).to.deep.equal(spent.map(({ height }) => height));
    expect(others.flatMap(({ vin }) => vin.map(({ prevout }) => prevout?.generated))).to.deep.equal(spent.map((coin) => coin.coinbase));
    let at = 0;
    for (const [i, { inputCount, outputs }] of block.transactions.slice(1).entries()) {
      const before = spent.slice(at, (at += inputCount)).reduce((sum, { value }) => sum + value, 0);
      const after = outputs.reduce((sum, { value }) => sum + value, 0);
      expect(Math.round((others[i]?.fee ?? NaN) * 1e8)).to.equal(before - after);
    }
  });

  it('shows only fees when told to, and nothing if it has no spent outputs', () => {
    const fees = shown({ spent, hidesSpent: true }).tx;
    expect(fees.map(({ fee }) => fee)).to.deep.equal(shown({ spent }).tx.map(({ fee }) => fee));
    const without = shown({}).tx;
    expect(without.map(({ fee }) => fee).filter(Boolean)).to.deep.equal([]);
    for (const { vin } of [...fees, ...without]) for (const input of vin) expect(input).to.not.have.property('prevout');
  });

  it('refuses more or fewer outputs than the block spends', () => {
    for (const wrong of [spent.slice(1), [...spent, ...spent.slice(-1)], []]) expect(() => shown({ spent: wrong })).to.throw(RangeError);
  });

  it('shows the coinbase without a witness where it has none, whatever its locktime', () => {
    const coinbase = madeTransaction(
      [{ txid: Buffer.alloc(32), index: 0xffff_ffff }],
      [{ value: 50, script: Buffer.of(0x51) }],
      0x01010101
    );
    const made = scanBlock(madeBlock(Buffer.alloc(32), [coinbase], 1));
    const json = JSON.parse(finish(blockJson(made, { ...view, fields, spent: [] })).toString()) as object;
    const shownCoinbase = { version: 1, locktime: 0x01010101, sequence: 0xffff_ffff, coinbase: '' };
    expect(json).to.have.property('coinbase_tx').that.deep.equals(shownCoinbase);
  });

  it('needs no more memory than it allocated at first', () => {
    let times = 0;
    finish(
      blockJson(block, { ...view, fields, spent }, (length) => {
        times++;
        return Buffer.alloc(length);
      })
    );
    expect(times).to.equal(1);
  });
});
