import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { displayTxid, parentsFirst, parseTransaction, type Transaction } from '../../../lib/payments/rules/transaction';
import { codeOf } from '../vectors';
import { outpoint, outpointOf, serialize } from '../transactions';

// The first payment ever (block 170), and the native P2WPKH example of BIP143.
const BLOCK_170 =
  '0100000001c997a5e56e104102fa209c6a852dd90660a20b2d9c352423edce25857fcd3704000000004847304402204e45e16932b8af514961a1d3a1a25fdf3f4f7732e9d624c6c61548ab5fb8cd410220181522ec8eca07de4860a4acdd12909d831cc56cbbac4622082221a8768d1d0901ffffffff0200ca9a3b00000000434104ae1a62fe09c5f51b13905f07f06b99a2f7159b2225f374cd378d71302fa28414e7aab37397f554a7df5f142c21c1b7303b8a0626f1baded5c72a704f7e6cd84cac00286bee0000000043410411db93e1dcdb8a016b49840f8c53bc1eb68a382e97b1482ecad7b148a6909a5cb2e0eaddfb84ccf9744464f82e160bfa9b8b64f9d4c03f999b8643f656b412a3ac00000000';
const BIP143 =
  '01000000000102fff7f7881a8099afa6940d42d1e7f6362bec38171ea3edf433541db4e4ad969f00000000494830450221008b9d1dc26ba6a9cb62127b02742fa9d754cd3bebf337f7a55d114c8e5cdd30be022040529b194ba3f9281a99f2b1c0a19c0489bc22ede944ccf4ecbab4cc618ef3ed01eeffffffef51e1b804cc89d182d279655c3aa89e815b1b309fe287d9b2b55d57b90ec68a0100000000ffffffff02202cb206000000001976a9148280b37df378db99f66f85c95a783a76ac7a6d5988ac9093510d000000001976a9143bde42dbee7e4dbe6a21b2d50ce2f0167faa815988ac000247304402203609e17b84f6a7d30c80bfa610b5b4542f32a8a0d5447a12fb1366d7f01cc44a0220573a954c4518331561406f90300e8f3358f51928d43c212a8caed02de67eebee0121025476c2e83188368da1ff3e292e7acafcdb3566bb0ad253f62fc70f07aeee635711000000';

const script = Buffer.from('51', 'hex');
const simple = serialize({ inputs: [outpoint(1)], outputs: [{ value: 5n, script }] });

describe('parentsFirst', () => {
  const family: Transaction[] = [];
  for (let i = 0; i < 5; i++) {
    const parents = family.slice(-2).map(({ txid }) => outpointOf(txid));
    family.push(parseTransaction(serialize({ inputs: [outpoint(i), ...parents], outputs: [{ value: 5n, script }] })));
  }

  it('puts each transaction after those from which it spends, for any order', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(family, { minLength: family.length }), (shuffled) => {
        expect(parentsFirst(shuffled)).to.deep.equal(family);
      })
    );
  });

  it('keeps the order of unrelated transactions', () => {
    const strangers = [3, 1, 2].map((seed) => parseTransaction(serialize({ inputs: [outpoint(seed)], outputs: [{ value: 5n, script }] })));
    expect(parentsFirst(strangers)).to.deep.equal(strangers);
  });
});

describe('parseTransaction', () => {
  it('reads a transaction without witness', () => {
    const { txid, outpoints, outputs } = parseTransaction(Buffer.from(BLOCK_170, 'hex'));
    expect(displayTxid(txid)).to.equal('f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16');
    expect(outpoints.map((one) => one.toString('hex'))).to.deep.equal([
      'c997a5e56e104102fa209c6a852dd90660a20b2d9c352423edce25857fcd370400000000'
    ]);
    expect(outputs.map(({ amount }) => amount)).to.deep.equal([1_000_000_000n, 4_000_000_000n]);
    expect(outputs[0]?.script).to.have.length(67);
  });

  it('reads a transaction with witness, and leaves that out of the txid', () => {
    const { txid, outpoints, outputs } = parseTransaction(Buffer.from(BIP143, 'hex'));
    expect(displayTxid(txid)).to.equal('e8151a2af31c368a35053ddd4bdb285a8595c769a3ad83e0fa02314a602d4609');
    expect(outpoints).to.have.length(2);
    expect(outputs.map(({ amount }) => amount)).to.deep.equal([112_340_000n, 223_450_000n]);
  });

  it('gives one txid with and without witness', () => {
    const parts = { inputs: [outpoint(1), outpoint(2)], outputs: [{ value: 5n, script }] };
    expect(parseTransaction(serialize({ ...parts, witness: true })).txid).to.deep.equal(parseTransaction(serialize(parts)).txid);
  });

  it('refuses every truncated transaction', () => {
    const whole = Buffer.from(BIP143, 'hex');
    for (let length = 0; length < whole.length; length++) {
      expect(
        codeOf(() => parseTransaction(whole.subarray(0, length))),
        `${length} bytes`
      ).to.equal('malformed');
    }
  });

  it('refuses bytes after the end', () => {
    expect(codeOf(() => parseTransaction(Buffer.concat([simple, Buffer.alloc(1)])))).to.equal('malformed');
  });

  it('refuses more coins than exist', () => {
    expect(
      codeOf(() => parseTransaction(serialize({ inputs: [outpoint(1)], outputs: [{ value: 2_100_000_000_000_001n, script }] })))
    ).to.equal('malformed');
  });

  it('refuses a transaction without inputs or outputs', () => {
    expect(codeOf(() => parseTransaction(serialize({ inputs: [outpoint(1)], outputs: [] })))).to.equal('malformed');
    expect(codeOf(() => parseTransaction(serialize({ inputs: [], outputs: [{ value: 5n, script }] })))).to.equal('malformed');
  });

  it('refuses a count in more bytes than it needs', () => {
    const longer = Buffer.concat([simple.subarray(0, 4), Buffer.from('fd0100', 'hex'), simple.subarray(5)]);
    expect(codeOf(() => parseTransaction(longer))).to.equal('malformed');
  });

  it('reads counts and lengths of two bytes', () => {
    const outputs = Array.from({ length: 300 }, (_, index) => ({ value: BigInt(index), script: Buffer.alloc(260, 0x51) }));
    expect(parseTransaction(serialize({ inputs: [outpoint(1)], outputs })).outputs).to.have.length(300);
  });

  it('throws only its own error for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(codeOf(() => parseTransaction(Buffer.from(bytes)))).to.equal('malformed');
      }),
      { numRuns: 500 }
    );
  });
});
