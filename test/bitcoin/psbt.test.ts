import { join } from 'node:path';
import { Transaction } from '@scure/btc-signer';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { PsbtError } from '../../lib/bitcoin/psbt/errors';
import { combined } from '../../lib/bitcoin/psbt/merge';
import { INPUT, setField } from '../../lib/bitcoin/psbt/psbt';
import { psbtIn, PsbtRoom } from '../../lib/bitcoin/psbt/read';
import { compactSizeOf } from '../../lib/bitcoin/reader';
import { serializedPsbt } from '../../lib/bitcoin/psbt/write';
import { isPublicKey } from '../../lib/bitcoin/secp256k1';
import { isSignatureEncoding } from '../../lib/bitcoin/signature-encoding';
import { jsonIn } from '../support/chain/chain-a';
import { finish } from '../support/expectations/finish';
import { testScale } from '../support/process/scale';
import type { Psbt } from '../../lib/bitcoin/psbt/psbt';
import type { RecordedCall } from '../support/recorded/calls';

/** Those that Bitcoin Core 31 could read. */
const valid = jsonIn<RecordedCall>(join(__dirname, '../vectors/rpc/recorded-31.jsonl.gz')).flatMap((record) =>
  'rpc' in record && record.rpc.method === 'decodepsbt' && record.status === 200 && Array.isArray(record.rpc.params)
    ? [record.rpc.params[0] as string]
    : []
);

const read = (text: string): Psbt => finish(psbtIn(text));
const bytesOf = (psbt: Psbt): Buffer => finish(serializedPsbt(psbt));
const written = (psbt: Psbt): string => bytesOf(psbt).toString('base64');

describe('a PSBT', () => {
  it('is read as it was written, and once written always written the same', () => {
    expect(valid).to.have.length.above(70);
    for (const text of valid) {
      const again = written(read(text));
      expect(written(read(again)), text).to.equal(again);
      const [one, other] = [read(text), read(again)];
      expect([one.version, one.inputs.length, one.outputs.length]).to.deep.equal([
        other.version,
        other.inputs.length,
        other.outputs.length
      ]);
      expect(written(finish(combined([one, other])) ?? expect.fail('one PSBT')), text).to.equal(again);
    }
  });

  it('says the same to another library', () => {
    let count = 0;
    for (const text of valid) {
      let theirs: Transaction;
      try {
        theirs = Transaction.fromPSBT(Buffer.from(text, 'base64'), { allowUnknownOutputs: true, allowUnknownInputs: true });
      } catch {
        // It does not know all fields, and is stricter about scripts.
        continue;
      }
      count++;
      const ours = read(text);
      const again = Transaction.fromPSBT(bytesOf(ours), { allowUnknownOutputs: true, allowUnknownInputs: true });
      expect(again.unsignedTx, text).to.deep.equal(theirs.unsignedTx);
      expect(ours.inputs.map(({ txid, index }) => [Buffer.from(txid).reverse().toString('hex'), index])).to.deep.equal(
        Array.from({ length: theirs.inputsLength }, (_, i) => {
          const input = theirs.getInput(i);
          return [Buffer.from(input.txid ?? []).toString('hex'), input.index];
        })
      );
    }
    expect(count).to.be.above(30);
  });

  it('is refused with a sentence, or read, whatever its bytes are', () => {
    const changed = fc
      .tuple(
        fc.constantFrom(...valid),
        fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 3 }),
        fc.nat({ max: 3 })
      )
      .map(([text, changes, cut]) => {
        const bytes = Buffer.from(text, 'base64');
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
        return bytes.subarray(0, bytes.length - cut);
      });
    let refused = 0;
    fc.assert(
      fc.property(
        fc.oneof(
          changed,
          fc.uint8Array({ maxLength: 200 }).map((noise) => Buffer.from(noise))
        ),
        (bytes) => {
          try {
            const again = written(read(bytes.toString('base64')));
            expect(written(read(again))).to.equal(again);
          } catch (error) {
            if (!(error instanceof PsbtError)) throw error;
            refused++;
          }
        }
      ),
      { numRuns: 2_000 * testScale() }
    );
    expect(refused).to.be.above(100);
  }).timeout(60_000 * testScale());

  it('claims no more memory than it has bytes', () => {
    // A key path with 33,554,432 hashes, of which there are none.
    const key = Buffer.concat([Buffer.of(33, 0x16), Buffer.alloc(32, 1)]);
    const head = Buffer.from('70736274ff01020402000000010401010105010001fb040200000000', 'hex');
    const bytes = Buffer.concat([head, key, Buffer.from('fefffff001fe00000002', 'hex')]);
    expect(() => read(bytes.toString('base64'))).to.throw(PsbtError, 'SpanReader::read(): end of data: iostream error');
  });

  it('is refused for the first fault in a tree', () => {
    const withTree = (tree: string): string =>
      Buffer.from(`70736274ff01020402000000010401000105010101fb0402000000000106${tree}00`, 'hex').toString('base64');
    for (const [tree, words] of [
      ['07' + '01c10151' + '01c005', 'Output Taproot tree has a leaf with an invalid leaf version: iostream error'],
      ['07' + '01c00151' + '01c105', 'SpanReader::read(): end of data: iostream error'],
      ['04' + '01c00151', 'Output Taproot tree is malformed: iostream error'],
      ['00', 'Output Taproot tree must not be empty: iostream error']
    ] as const)
      expect(() => read(withTree(tree)), tree).to.throw(PsbtError, words);
  });

  it('is refused with an extended key of depth 0 that has a parent or a number, which no first key has', () => {
    const point = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
    const withXpub = (depth: string, parent: string, number: string): string => {
      const xpub = `4f01043587cf${depth}${parent}${number}${'07'.repeat(32)}${point}`;
      return Buffer.from(`70736274ff01020402000000010401000105010001fb0402000000${xpub}040a0b0c0d00`, 'hex').toString('base64');
    };
    for (const [depth, parent, number] of [
      ['00', '00000000', '00000000'],
      ['01', '00000000', '00000000'],
      ['01', '0a0b0c0d', '80000001']
    ] as const)
      expect(read(withXpub(depth, parent, number)).fields.size, `${depth} ${parent} ${number}`).to.equal(5);
    for (const [parent, number] of [
      ['0a000000', '00000000'],
      ['0000000d', '00000000'],
      ['00000000', '80000000'],
      ['00000000', '00000001']
    ] as const)
      expect(() => read(withXpub('00', parent, number)), `${parent} ${number}`).to.throw(PsbtError, 'Invalid pubkey: iostream error');
  });

  it('is refused if there is more in it, or in all of a call, than is read', () => {
    const text = (...parts: readonly (string | Buffer)[]): string =>
      Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'hex') : part))).toString('base64');
    const head = (inputs: string, outputs: string): string => `70736274ff01020402000000010401${inputs}010501${outputs}01fb040200000000`;
    const input = `${head('01', '00')}010e20${'05'.repeat(32)}010f0400000000`;
    const output = head('00', '01');
    const sized = (value: Buffer): Buffer => Buffer.concat([compactSizeOf(value.length), value]);
    const unknown = (count: number): Buffer[] =>
      Array.from({ length: count }, (_, i) => Buffer.from(`0577${i.toString(16).padStart(8, '0')}0101`, 'hex'));
    expect(read(text(input, ...unknown(3_998), '00')).inputs).to.have.length(1);
    const point = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
    for (const [sentence, refused] of [
      ['more than 4000 fields in a map', text(input, ...unknown(3_999), '00')],
      ['more than 100000 bytes in a script', text(input, '0104', sized(Buffer.alloc(100_001)), '00')],
      ['more than 33000 bytes of keys that make up one', text(input, '221a', point, sized(Buffer.alloc(33_033)), '00')],
      ['more than 255 steps in a path', text(input, '2206', point, sized(Buffer.alloc(1_028)), '00')],
      ['more than 10000 hashes of leaves', text(input, '2116', '01'.repeat(32), 'fd1527', 'fd1127', Buffer.alloc(32 * 10_001), '00')],
      ['more than 10000 leaves in a tree', text(output, '0106', sized(Buffer.alloc(40_004, '01c00151', 'hex')), '00')],
      ['more than 1000000 bytes in a transaction', text('70736274ff0100', sized(Buffer.alloc(1_000_001)), '00')],
      ['more than 4000000 bytes in a transaction with its witnesses', text(input, '0100', sized(Buffer.alloc(4_000_001)), '00')],
      ['more than 4000000 bytes in a witness', text(input, '0108', sized(Buffer.alloc(4_000_001)), '00')],
      ['more than 8000000 bytes', 'A'.repeat(10_666_672)]
    ] as const)
      expect(() => read(refused), sentence).to.throw(PsbtError, new RegExp(`^${sentence}$`));

    const room = new PsbtRoom();
    const parts = (): Psbt => finish(psbtIn(text(input, ...unknown(3_990), '00'), room));
    for (let i = 0; i < 49; i++) parts();
    expect(() => [parts(), parts()]).to.throw(PsbtError, 'more than 200000 inputs, outputs and fields');
  });

  it('gets what others have beside its own, but not the kind of hash; a leaf keeps the control blocks that came first', () => {
    const [input = ''] = valid;
    const psbtWith = (...fields: readonly (readonly [type: number, key: string, value: string])[]): Psbt => {
      const psbt = read(input);
      for (const [type, key, value] of fields)
        for (const { fields: own } of psbt.inputs)
          setField(own, type, Buffer.from(value, 'hex'), Buffer.concat([Buffer.of(type), Buffer.from(key, 'hex')]));
      return psbt;
    };
    const [script, unknown] = [INPUT.tapScript, 0x77];
    const others = [
      psbtWith([INPUT.sighash, '', '02000000'], [unknown, '01', '01'], [script, '01', '51c0'], [script, '02', '51c0']),
      psbtWith([unknown, '01', '02'], [unknown, '02', '02'], [script, '03', '51c0'], [script, '04', '52c0'])
    ];
    const steps = combined([read(input), ...others]);
    let count = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) count++;
    const expected = psbtWith(
      [unknown, '01', '01'],
      [unknown, '02', '02'],
      ...(
        [
          ['01', '51c0'],
          ['02', '51c0'],
          ['04', '52c0']
        ] as const
      ).map(([key, leaf]) => [script, key, leaf] as const)
    );
    expect(written(step.value ?? expect.fail('one PSBT'))).to.equal(written(expected));
    // A step for each map of each.
    expect(count).to.be.at.least(others.length * (1 + expected.inputs.length + expected.outputs.length));
  });

  it('does not become one with more fields than are read', () => {
    const [text = ''] = valid;
    const [one, other] = [read(text), read(text)];
    for (let i = 0; i < 4_000; i++) setField(i % 2 === 0 ? one.fields : other.fields, 0x77, Buffer.of(1), Buffer.from(`w${i}`));
    expect(() => finish(combined([one, other]))).to.throw(PsbtError, /^more than 4000 fields in a map$/);
  });
});

describe('isPublicKey', () => {
  const X = '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
  const Y = '483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8';

  it('takes points on the curve in each form', () => {
    for (const key of [`02${X}`, `03${X}`, `04${X}${Y}`, `06${X}${Y}`]) expect(isPublicKey(Buffer.from(key, 'hex')), key).to.equal(true);
  });

  it('takes nothing else', () => {
    const off = `${X.slice(0, -1)}9`;
    for (const key of [
      '',
      `05${X}`,
      `07${X}${Y}`,
      `04${X}`,
      `02${X}00`,
      `04${off}${Y}`,
      `02${'ff'.repeat(32)}`,
      `04${X}${'ff'.repeat(32)}`
    ])
      expect(isPublicKey(Buffer.from(key, 'hex')), key).to.equal(false);
  });
});

describe('isSignatureEncoding', () => {
  const R = '0220' + '11'.repeat(32);
  const S = '0220' + '22'.repeat(32);

  it('takes strict DER with a known kind behind it', () => {
    for (const kind of ['01', '02', '03', '81', '82', '83'])
      expect(isSignatureEncoding(Buffer.from(`3044${R}${S}${kind}`, 'hex'))).to.equal(true);
    expect(isSignatureEncoding(Buffer.from('3006020101020101' + '01', 'hex'))).to.equal(true);
    expect(isSignatureEncoding(Buffer.from(`3045022100${'ff'.repeat(32)}${S}01`, 'hex'))).to.equal(true);
    const longest = `022100${'ff'.repeat(32)}`;
    expect(isSignatureEncoding(Buffer.from(`3046${longest}${longest}01`, 'hex'))).to.equal(true);
    expect(isSignatureEncoding(Buffer.from(`3047${longest}02227f${'ff'.repeat(33)}01`, 'hex'))).to.equal(false);
  });

  it('takes nothing else', () => {
    const wrong = [
      ...['', '30', `3044${R}${S}00`, `3044${R}${S}04`, `3044${R}${S}`, `3043${R}${S}01`, `3144${R}${S}01`, `3044${R}${S}0101`],
      ...[`30440320${'11'.repeat(32)}${S}01`, `30440220${'91'.repeat(32)}${S}01`, `3045022100${'11'.repeat(32)}${S}01`],
      ...['30060200020101' + '01' + '01', `3044${R}0220${'92'.repeat(32)}01`]
    ];
    for (const hex of wrong) expect(isSignatureEncoding(Buffer.from(hex, 'hex')), hex).to.equal(false);
  });
});
