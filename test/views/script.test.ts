import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { isUnspendable, OPCODE_NAMES, writeScriptSigAsm } from '../../lib/bitcoin/script';
import { runAtOnce } from '../../lib/turns/slices';
import { JsonWriter } from '../../lib/views/json-writer';
import { writeScriptPubKey } from '../../lib/views/script';
import { coreStyles } from '../support/chain/chain-a';

const style = fc.constantFrom(...Object.values(coreStyles));

const key = `02${'11'.repeat(32)}`;
const hash = '22'.repeat(20);

/** A script of each kind, a script with a push past its end, and arbitrary bytes. */
const script = fc.oneof(
  fc
    .constantFrom(
      `21${key}ac`,
      `76a914${hash}88ac`,
      `a914${hash}87`,
      `51${`21${key}`.repeat(2)}52ae`,
      '6a0548656c6c6f',
      `0014${hash}`,
      `0020${'33'.repeat(32)}`,
      `5120${'44'.repeat(32)}`,
      '4c',
      '05ff',
      ''
    )
    .map((hex) => Buffer.from(hex, 'hex')),
  fc.uint8Array({ maxLength: 90 }).map((bytes) => Buffer.from(bytes))
);
const bytes = fc.uint8Array({ maxLength: 80 }).map((some) => Buffer.from(some));

describe('a script among other bytes', () => {
  const written = (write: (writer: JsonWriter) => void): string => {
    const writer = new JsonWriter(4);
    write(writer);
    return writer.toString();
  };

  it('is written as it would be alone, with digits prepared or not', () => {
    fc.assert(
      fc.property(bytes, script, bytes, fc.boolean(), style, (before, alone, after, prepared, inStyle) => {
        const all = Buffer.concat([before, alone, after]);
        const [start, end] = [before.length, before.length + alone.length];
        const inside = written((writer) => {
          if (prepared) runAtOnce(writer.prepareHex(all, 0, all.length));
          writeScriptPubKey(writer, all, start, end, inStyle);
          writeScriptSigAsm(writer, OPCODE_NAMES, all, start, end);
        });
        expect(inside).to.equal(
          written((writer) => {
            writeScriptPubKey(writer, alone, 0, alone.length, inStyle);
            writeScriptSigAsm(writer, OPCODE_NAMES, alone);
          })
        );
        expect(isUnspendable(all, start, end)).to.equal(isUnspendable(alone));
      }),
      { numRuns: 1_000 }
    );
  });
});
