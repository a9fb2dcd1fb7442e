import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { blockWithoutWitness, canonicalBlock, scanBlock } from '../../lib/bitcoin/block';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { previousHashOf } from '../../lib/bitcoin/header';
import { MalformedBytesError } from '../../lib/bitcoin/reader';
import { chainABlocks, chainAManifest, recordedBody, recordedSuccesses, regtestGenesis } from '../support/chain/chain-a';
import { withSuperfluousWitnesses } from '../support/chain/superfluous-witness';

const mixedBlock = (): Buffer => {
  const block = chainABlocks().find(({ hash }) => hash === chainAManifest().blocks['mixed']?.hash);
  if (block === undefined) throw new Error('chain A has no block named mixed');
  return block.raw;
};

describe('scanBlock', () => {
  it('finds the hash, the parent and the count of transactions of every block of chain A', () => {
    const known = new Set([chainAManifest().genesis.hash]);
    for (const { hash, raw } of chainABlocks()) {
      const block = scanBlock(raw);
      expect(toDisplayHex(block.hash)).to.equal(hash);
      expect(known).to.include(toDisplayHex(previousHashOf(block.header)));
      expect(block.length).to.equal(raw.length);
      known.add(hash);
    }
  });

  it('finds the txid of every transaction that the manifest names', () => {
    const blocks = new Map(chainABlocks().map(({ hash, raw }) => [hash, raw]));
    const named = Object.values(chainAManifest().txs);
    expect(named).to.have.length.above(100);
    for (const { block, index, txid } of named) {
      const raw = blocks.get(block) ?? expect.fail(`a block ${block}`);
      expect(toDisplayHex(scanBlock(raw).transactions[index]?.txid ?? Buffer.alloc(0))).to.equal(txid);
    }
  });

  it('measures blocks as the reference does', () => {
    const lengths = new Map(
      recordedSuccesses('notxdetails', 'json').map((answer) => {
        const { hash, strippedsize, size } = JSON.parse(recordedBody(answer).toString()) as {
          hash: string;
          strippedsize: number;
          size: number;
        };
        return [hash, { strippedsize, size }];
      })
    );
    const seen = [...chainABlocks().map(({ raw }) => raw), regtestGenesis]
      .map((raw) => scanBlock(raw))
      .filter(({ hash }) => lengths.has(toDisplayHex(hash)));
    expect(seen).to.have.length(lengths.size);
    for (const { hash, strippedLength, length } of seen)
      expect({ strippedsize: strippedLength, size: length }).to.deep.equal(lengths.get(toDisplayHex(hash)));
  });

  it('finds transactions one after another up to the end of the block', () => {
    const raw = mixedBlock();
    let end = scanBlock(raw).transactions[0]?.offset;
    for (const { offset, length } of scanBlock(raw).transactions) {
      expect(offset).to.equal(end);
      end = offset + length;
    }
    expect(end).to.equal(raw.length);
  });

  it('refuses bytes after the last transaction', () => {
    expect(() => scanBlock(Buffer.concat([regtestGenesis, Buffer.of(0)]))).to.throw(MalformedBytesError, 'end of the block');
  });

  it('refuses every shortened block with MalformedBytesError', () => {
    for (let length = 0; length < regtestGenesis.length; length++)
      expect(() => scanBlock(regtestGenesis.subarray(0, length))).to.throw(MalformedBytesError);
  });

  it('fails with nothing but MalformedBytesError when bytes are changed', () => {
    const raw = mixedBlock();
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(raw.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }), (changes) => {
        const changed = Buffer.from(raw);
        for (const [at, value] of changes) changed[at] = value;
        try {
          expect(scanBlock(changed).length).to.equal(raw.length);
        } catch (error) {
          expect(error).to.be.instanceOf(MalformedBytesError);
        }
      }),
      { numRuns: 300 }
    );
  });
});

describe('blockWithoutWitness', () => {
  it('keeps txids, drops all witnesses and has the stripped length', () => {
    const before = scanBlock(mixedBlock());
    const after = scanBlock(blockWithoutWitness(mixedBlock()));
    expect(before.transactions.some(({ hasWitness }) => hasWitness)).to.equal(true);
    expect(after.transactions.some(({ hasWitness }) => hasWitness)).to.equal(false);
    expect(after.length).to.equal(before.strippedLength);
    expect(after.hash.equals(before.hash)).to.equal(true);
    expect(after.transactions.map(({ txid }) => toDisplayHex(txid))).to.deep.equal(
      before.transactions.map(({ txid }) => toDisplayHex(txid))
    );
  });

  it('returns the same buffer for a block without witness', () => {
    expect(blockWithoutWitness(regtestGenesis)).to.equal(regtestGenesis);
  });
});

describe('canonicalBlock', () => {
  it('returns ordinary blocks as they are', () => {
    for (const raw of [regtestGenesis, ...chainABlocks().map((block) => block.raw)]) expect(canonicalBlock(raw)).to.equal(raw);
  });

  it('removes superfluous witnesses, and nothing else', () => {
    let changed = 0;
    for (const { raw, hash } of chainABlocks()) {
      const stored = withSuperfluousWitnesses(raw);
      expect(canonicalBlock(stored).equals(raw), hash).to.equal(true);
      if (!stored.equals(raw)) changed++;
    }
    expect(changed).to.be.above(10);
  });

  it('refuses bytes that are not a block', () => {
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
