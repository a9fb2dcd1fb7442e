import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { projectFolder } from '../support/process/project-folder';
import { allCurves } from './curves';
import { bip341 } from './bip341';
import type { Curve } from '../../lib/taproot/curve';

/** Of BIP340: x coordinates that no point has, one of them not below the size of the field. */
const NO_POINTS = [
  'eefdea4cdb677750a420fee807eacf21eb9898ae79b9768766e4faa04a2d4a34',
  'fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc30'
].map((hex) => Buffer.from(hex, 'hex'));

const ORDER = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex');

interface Vector {
  readonly index: string;
  readonly key: Buffer;
  readonly message: Buffer;
  readonly signature: Buffer;
  readonly isValid: boolean;
}

function bip340(): Vector[] {
  const [, ...lines] = readFileSync(join(projectFolder, 'test/vectors/taproot/bip340.csv'), 'latin1').trimEnd().split('\n');
  return lines.map((line) => {
    const [index = '', , key = '', , message = '', signature = '', result] = line.split(',');
    return {
      index,
      key: Buffer.from(key, 'hex'),
      message: Buffer.from(message, 'hex'),
      signature: Buffer.from(signature, 'hex'),
      isValid: result === 'TRUE'
    };
  });
}

describe('a curve', () => {
  let curves: ReadonlyMap<string, Curve>;
  /** What transactions sign is hashes. */
  const vectors = bip340().filter(({ message }) => message.length === 32);

  before(async () => {
    curves = await allCurves();
  });

  it('verifies signatures as BIP340 says', () => {
    expect(vectors.length).to.equal(15);
    for (const [name, curve] of curves)
      for (const { index, key, message, signature, isValid } of vectors)
        expect(curve.verifySchnorr(signature, message, key), `${name}, vector ${index}`).to.equal(isValid);
  });

  it('knows a tweaked key as BIP341 says', () => {
    const { scriptPubKey: outputs } = bip341();
    for (const [name, curve] of curves)
      for (const { given, intermediary, expected } of outputs) {
        const [tweaked, key, tweak] = [intermediary.tweakedPubkey, given.internalPubkey, intermediary.tweak].map((hex) =>
          Buffer.from(hex, 'hex')
        ) as [Buffer, Buffer, Buffer];
        const isTweaked = [false, true].map((isOdd) => curve.isTweaked(tweaked, isOdd, key, tweak));
        expect(isTweaked.toSorted(), name).to.deep.equal([false, true]);
        const [control] = expected.scriptPathControlBlocks ?? [];
        if (control !== undefined) expect(isTweaked[1], name).to.equal((Number.parseInt(control.slice(0, 2), 16) & 1) === 1);
        expect(curve.isTweaked(key, false, key, tweak) || curve.isTweaked(key, true, key, tweak), name).to.equal(false);
      }
  });

  it('says no to what is no point or out of range, however often, and works on', () => {
    const { key, message, signature } = vectors[0] as Vector; // there are 15
    const halves = [signature.subarray(0, 32), signature.subarray(32)] as const;
    for (const [name, curve] of curves) {
      // WebAssembly's memory for calls has a bound, which mistakes of others have used up after 3,368 calls.
      for (let i = 0; i < 2_500; i++)
        for (const other of NO_POINTS) {
          expect(curve.verifySchnorr(signature, message, other), name).to.equal(false);
          expect(curve.isTweaked(key, false, other, message), name).to.equal(false);
          expect(curve.isTweaked(other, false, key, message), name).to.equal(false);
        }
      expect(curve.verifySchnorr(Buffer.concat([ORDER, halves[1]]), message, key), name).to.equal(false);
      expect(curve.verifySchnorr(Buffer.concat([halves[0], ORDER]), message, key), name).to.equal(false);
      expect(curve.isTweaked(key, false, key, ORDER), name).to.equal(false);
      expect(curve.verifySchnorr(signature, message, key), name).to.equal(true);
    }
  });
});
