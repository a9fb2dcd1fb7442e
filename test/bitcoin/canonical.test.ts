import { expect } from 'chai';
import { describe, it } from 'mocha';
import { canonicalBlock } from '../../lib/bitcoin/canonical';
import { MalformedBytesError } from '../../lib/bitcoin/reader';
import { chainABlocks, regtestGenesis } from '../support/chain-a';
import { withSuperfluousWitnesses } from '../support/superfluous-witness';

describe('canonicalBlock', () => {
  it('gives ordinary blocks as they are', () => {
    for (const raw of [regtestGenesis, ...chainABlocks().map((block) => block.raw)]) expect(canonicalBlock(raw)).to.equal(raw);
  });

  it('takes superfluous witnesses out, and nothing else', () => {
    let changed = 0;
    for (const { raw, hash } of chainABlocks()) {
      const stored = withSuperfluousWitnesses(raw);
      expect(canonicalBlock(stored).equals(raw), hash).to.equal(true);
      if (!stored.equals(raw)) changed++;
    }
    expect(changed).to.be.above(10);
  });

  it('refuses bytes that are no block', () => {
    expect(() => canonicalBlock(Buffer.alloc(0))).to.throw(MalformedBytesError);
    expect(() => canonicalBlock(regtestGenesis.subarray(0, 80))).to.throw(MalformedBytesError);
    expect(() => canonicalBlock(regtestGenesis.subarray(0, -1))).to.throw(MalformedBytesError);
    expect(() => canonicalBlock(Buffer.concat([regtestGenesis, Buffer.alloc(1)]))).to.throw(MalformedBytesError, 'the end of the block');
    const withoutInputs = Buffer.concat([regtestGenesis.subarray(0, 81), Buffer.from('01000000000100000000000000', 'hex')]);
    expect(() => canonicalBlock(withoutInputs)).to.throw(MalformedBytesError, 'inputs after the witness flag');
    const flagged = Buffer.concat([regtestGenesis.subarray(0, 81), Buffer.from('010000000002', 'hex')]);
    expect(() => canonicalBlock(flagged)).to.throw(MalformedBytesError, 'witness flag 1');
  });
});
