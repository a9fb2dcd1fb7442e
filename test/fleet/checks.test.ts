import { expect } from 'chai';
import { describe, it } from 'mocha';
import { scanBlock, transactionOffsets } from '../../lib/bitcoin/block';
import { hash256 } from '../../lib/bitcoin/hash';
import { HEADER_LENGTH, previousHashOf } from '../../lib/bitcoin/header';
import { checkedHash, checkedTxids } from '../../lib/fleet/reader/checks';
import { UntrueRecordError } from '../../lib/fleet/reader/errors';
import { NETWORKS } from '../../lib/fleet/reader/networks';
import { caught } from '../support/expectations/caught';
import { chainABlocks } from '../support/chain/chain-a';

const blocks = [...chainABlocks()];
const blockOf = (length: number): Buffer => (blocks.find(({ raw }) => raw.length > length) as { readonly raw: Buffer }).raw;
const headerOf = (raw: Buffer): Buffer => Buffer.from(raw.subarray(0, HEADER_LENGTH));

describe('what a reader checks', () => {
  it('takes every header of a real chain, and its hash', () => {
    for (const { raw } of blocks) {
      const header = headerOf(raw);
      expect(checkedHash(header, previousHashOf(header), NETWORKS.regtest)).to.deep.equal(hash256(header));
    }
  });

  it('refuses a header that does not follow, has no proof of work, an easy target or another length', () => {
    const header = headerOf(blockOf(0));
    const check =
      (changed: Buffer, network = NETWORKS.regtest, previous = previousHashOf(changed)) =>
      () =>
        checkedHash(changed, previous, network);
    expect(check(header, NETWORKS.regtest, Buffer.alloc(32))).to.throw(UntrueRecordError, 'to follow');
    expect(check(header, NETWORKS.main)).to.throw(UntrueRecordError, 'easier than the network allows');
    expect(check(header.subarray(1))).to.throw(UntrueRecordError, 'expected a header of 80 bytes, got 79');
    // With the target of the main network's first blocks.
    const hard = Buffer.from(header);
    hard.writeUInt32LE(0x1d00ffff, 72);
    expect(check(hard, NETWORKS.main)).to.throw(UntrueRecordError, 'has no proof of work');
    const none = Buffer.from(header);
    none.writeUInt32LE(0x20800000, 72);
    expect(check(none)).to.throw(UntrueRecordError, 'has no proof of work');
    expect(checkedHash(NETWORKS.main.genesisHeader, Buffer.alloc(32), NETWORKS.main)).to.deep.equal(NETWORKS.main.genesisHash);
  });

  it('refuses a block with another hash, other transactions, bytes too many or too few, or a transaction twice', async () => {
    const raw = blockOf(1_000);
    const hash = hash256(headerOf(raw));
    expect(await checkedTxids(raw, hash)).to.deep.equal(Buffer.concat(scanBlock(raw).transactions.map(({ txid }) => txid)));
    const refused = async (changed: Buffer, of = hash): Promise<string> => {
      const error = await caught(checkedTxids(changed, of));
      expect(error).to.be.instanceOf(UntrueRecordError);
      return (error as Error).message;
    };
    expect(await refused(raw, Buffer.alloc(32))).to.include('got those of another');
    expect(await refused(Buffer.alloc(0))).to.include('got those of another');
    expect(await refused(raw.subarray(0, -1))).to.include('cannot be read');
    const changed = Buffer.from(raw);
    // In the value of the last output of the last transaction, or in its script: a byte before the lock time.
    changed[raw.length - 6] = (changed[raw.length - 6] as number) ^ 1;
    expect(await refused(changed)).to.include('do not fit its Merkle root');
    expect(await refused(headerOf(raw))).to.include('cannot be read');
    expect(await refused(Buffer.concat([headerOf(raw), Buffer.alloc(1)]))).to.include('do not fit its Merkle root');
  });

  it('refuses the last transaction of a block twice, which leaves the Merkle root as it is', async () => {
    // A block of three transactions has the Merkle root of the same four, the last one twice (CVE-2012-2459).
    const raw = threeTransactions();
    const doubled = Buffer.concat([raw, raw.subarray(transactionOffsets(raw)[2])]);
    doubled[HEADER_LENGTH] = 4;
    const error = await caught(checkedTxids(doubled, hash256(headerOf(raw))));
    expect(error).to.be.instanceOf(UntrueRecordError).and.to.have.property('message').that.includes('has a transaction twice');
  });
});

function threeTransactions(): Buffer {
  return (blocks.find(({ raw }) => raw[HEADER_LENGTH] === 3) as { readonly raw: Buffer }).raw;
}
