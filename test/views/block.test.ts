import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { scanBlock } from '../../lib/bitcoin/block';
import { MalformedBytesError } from '../../lib/bitcoin/reader';
import { withoutWitness } from '../../lib/bitcoin/transaction';
import { blockJson, blockSummaryJson } from '../../lib/views/block';
import { finish } from '../support/finish';
import { chainAManifest, recordedBody, recordedSuccesses, type RecordedAnswer } from '../support/chain-a';
import { chainAView, type ChainAView } from '../support/chain-a-views';
import { inBech32m } from '../support/recorded-json';

const blockText = (view: ChainAView): Buffer => finish(blockJson(scanBlock(view.raw), view));

const hashIn = ({ path }: RecordedAnswer): string => /[0-9a-fA-F]{64}/.exec(path)?.[0] ?? '';

describe('blockJson', () => {
  it('writes every recorded block byte for byte, stale ones and genesis among them', () => {
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
      tx: whole.tx.map((transaction) => ({ ...transaction, hex: withoutWitness(Buffer.from(transaction.hex, 'hex')).toString('hex') }))
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

  it('refuses bytes that are no block', () => {
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
