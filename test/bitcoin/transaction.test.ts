import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { hash256, toDisplayHex } from '../../lib/bitcoin/hash';
import { compactSizeOf, MalformedBytesError } from '../../lib/bitcoin/reader';
import { scanTransaction, scanWholeTransaction } from '../../lib/bitcoin/transaction';
import { chainAManifest, chainAPool, recordedBody, recordedSuccesses } from '../support/chain/chain-a';

interface DecodedTransaction {
  readonly txid: string;
  readonly hash: string;
  readonly version: number;
  readonly size: number;
  readonly weight: number;
  readonly locktime: number;
  readonly vin: readonly { readonly txid?: string; readonly vout?: number; readonly coinbase?: string; readonly sequence: number }[];
  readonly vout: readonly { readonly scriptPubKey: { readonly hex: string } }[];
  readonly hex: string;
}

const recorded = (): DecodedTransaction[] =>
  recordedSuccesses('tx', 'json').map((answer) => JSON.parse(recordedBody(answer).toString()) as DecodedTransaction);

/** A pool transaction with a witness, as small as they come. */
const smallWithWitness = (): Buffer =>
  chainAPool()
    .filter((raw) => scanTransaction(raw, 0).hasWitness)
    .reduce((least, raw) => (raw.length < least.length ? raw : least));

describe('scanTransaction', () => {
  it('reads every recorded transaction as the reference does', () => {
    expect(recorded()).to.have.length.above(200);
    for (const expected of recorded()) {
      const transaction = scanWholeTransaction(Buffer.from(expected.hex, 'hex'));
      expect({
        txid: toDisplayHex(transaction.txid),
        hash: toDisplayHex(transaction.wtxid),
        version: transaction.version,
        size: transaction.length,
        weight: transaction.weight,
        locktime: transaction.locktime,
        inputs: transaction.inputs.map(({ txid, index, sequence }) => [toDisplayHex(txid), index, sequence]),
        outputs: transaction.outputs.map(({ script }) => script.toString('hex'))
      }).to.deep.equal({
        txid: expected.txid,
        hash: expected.hash,
        version: expected.version,
        size: expected.size,
        weight: expected.weight,
        locktime: expected.locktime,
        inputs: expected.vin.map(({ txid, vout, sequence }) => [txid ?? '00'.repeat(32), vout ?? 0xffff_ffff, sequence]),
        outputs: expected.vout.map(({ scriptPubKey }) => scriptPubKey.hex)
      });
      expect(transaction.isCoinbase).to.equal(expected.vin[0]?.coinbase !== undefined);
    }
  });

  it('knows the pool by its txids', () => {
    expect(chainAPool().map((raw) => toDisplayHex(scanTransaction(raw, 0).txid))).to.have.members(
      chainAManifest().mempool.map(({ txid }) => txid)
    );
  });

  it('reads the same at any offset', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...chainAPool()),
        fc.uint8Array({ maxLength: 50 }),
        fc.uint8Array({ maxLength: 50 }),
        (raw, before, after) => {
          const moved = scanTransaction(Buffer.concat([before, raw, after]), before.length);
          const { txid, wtxid, length, strippedLength } = scanTransaction(raw, 0);
          expect(moved.offset).to.equal(before.length);
          expect(moved.raw.equals(raw)).to.equal(true);
          expect([moved.length, moved.strippedLength]).to.deep.equal([length, strippedLength]);
          expect(moved.txid.equals(txid) && moved.wtxid.equals(wtxid)).to.equal(true);
        }
      )
    );
  });

  it('refuses every shortened transaction with MalformedBytesError', () => {
    const raw = smallWithWitness();
    for (let length = 0; length < raw.length; length++)
      expect(() => scanTransaction(raw.subarray(0, length), 0)).to.throw(MalformedBytesError);
  });

  it('fails with nothing but MalformedBytesError on arbitrary bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          expect(scanTransaction(Buffer.from(bytes), 0).length).to.be.at.most(bytes.length);
        } catch (error) {
          expect(error).to.be.instanceOf(MalformedBytesError);
        }
      })
    );
  });

  it('refuses an unknown flag, outputs without inputs and a witness of nothing but empty stacks', () => {
    const input = `${'11'.repeat(32)}0000000000ffffffff`;
    const outputs = '01000000000000000000';
    const scan = (hex: string): unknown => scanTransaction(Buffer.from(hex, 'hex'), 0);
    expect(() => scan(`01000000000201${input}${outputs}0000000000`)).to.throw(MalformedBytesError, 'witness flag 1');
    expect(() => scan(`01000000000100${outputs}00000000`)).to.throw(MalformedBytesError, 'inputs after');
    expect(() => scan(`01000000000101${input}${outputs}0000000000`)).to.throw(MalformedBytesError, 'witness item');
    expect(scan(`01000000000101${input}${outputs}010000000000`)).to.have.property('hasWitness', true);
    const empty = scanWholeTransaction(Buffer.from(EMPTY, 'hex'));
    expect([empty.inputs, empty.outputs, empty.hasWitness, empty.weight]).to.deep.equal([[], [], false, 40]);
  });
});

/** Neither inputs nor outputs: its second zero may be taken for a flag. */
const EMPTY = '02000000000000000000';

describe('scanWholeTransaction', () => {
  it('refuses bytes after the transaction', () => {
    expect(() => scanWholeTransaction(Buffer.concat([smallWithWitness(), Buffer.of(7)]))).to.throw(MalformedBytesError, '1 more bytes');
  });
});

describe('the serialization without witness', () => {
  it('leaves out marker, flag and witness, however long the rest is, and the txid is its hash', () => {
    const [version, locktime] = [Buffer.of(1, 2, 3, 4), Buffer.of(5, 6, 7, 8)];
    const input = Buffer.concat([Buffer.of(1), Buffer.alloc(36, 9), Buffer.of(0), Buffer.alloc(4, 0xff)]);
    const witness = Buffer.of(1, 3, 7, 7, 7);
    for (const scriptLength of [0, 1, 250, 16_000, 16_320, 16_384, 100_000]) {
      const output = Buffer.concat([Buffer.of(1), Buffer.alloc(8, 1), compactSizeOf(scriptLength), Buffer.alloc(scriptLength, 0x6a)]);
      const raw = Buffer.concat([version, Buffer.of(0, 1), input, output, witness, locktime]);
      const expected = Buffer.concat([version, input, output, locktime]);
      const transaction = scanTransaction(Buffer.concat([Buffer.alloc(5), raw, Buffer.alloc(5)]), 5);
      expect(transaction.stripped.equals(expected), `${scriptLength}`).to.equal(true);
      const written = Buffer.alloc(40);
      transaction.writeTxid(written, 8);
      expect(written.subarray(8)).to.deep.equal(hash256(expected));
      expect(transaction.txid).to.deep.equal(hash256(expected));
    }
  });

  it('has the same txid, whose preimage it is', () => {
    for (const raw of chainAPool()) {
      const before = scanTransaction(raw, 0);
      const after = scanWholeTransaction(scanWholeTransaction(raw).stripped);
      expect(after.hasWitness).to.equal(false);
      expect(after.length).to.equal(before.strippedLength);
      expect(after.txid.equals(before.txid) && after.wtxid.equals(before.txid)).to.equal(true);
    }
  });

  it('is the same as the whole one for a transaction without witness', () => {
    const raw = scanWholeTransaction(smallWithWitness()).stripped;
    expect(scanWholeTransaction(raw).stripped).to.deep.equal(raw);
  });
});
