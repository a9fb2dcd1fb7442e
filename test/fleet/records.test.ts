// Records of the log as bytes: the same after a way there and back, and bytes of strangers are refused.

import { expect } from 'chai';
import * as fc from 'fast-check';
import { MalformedMessageError, NewerMessageError } from '../../lib/fleet/messages/errors';
import { decodeRecord, encodeRecord, MOST_RECORD_BYTES, TERM_ID_LENGTH } from '../../lib/fleet/messages/record-codec';
import { messageType } from '../../lib/fleet/messages/schema';
import { anyRecord } from './any-record';

const TERM_ID = Buffer.alloc(TERM_ID_LENGTH, 1);

describe('records of the log', () => {
  it('are the same after encoding and decoding', () => {
    fc.assert(
      fc.property(anyRecord, (record) => {
        expect(decodeRecord(encodeRecord(record))).to.deep.equal(record);
      })
    );
  });

  it('are refused or read, but nothing else happens, whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        decodedOrRefused(bytes);
      })
    );
  });

  it('are refused or read when some of their bytes were altered, or are missing', () => {
    fc.assert(
      fc.property(anyRecord, fc.nat(), fc.integer({ min: 1, max: 255 }), fc.boolean(), (record, place, change, isCut) => {
        const bytes = encodeRecord(record);
        const at = place % bytes.length;
        bytes[at] = (bytes[at] as number) ^ change;
        decodedOrRefused(isCut ? bytes.subarray(0, at) : bytes);
      })
    );
  });

  it('of a newer version are refused as such', () => {
    const bytes = Buffer.from(messageType('Record').encode({ version: 2, poolClear: {} }).finish());
    expect(() => decodeRecord(bytes)).to.throw(NewerMessageError, 'version 2');
  });

  it('of a kind that is not known are refused as those of a newer version', () => {
    // Field 99 of the record, a message without fields.
    const bytes = Buffer.concat([
      Buffer.from(messageType('Record').encode({ version: 1, termId: TERM_ID }).finish()),
      Buffer.from('9a0600', 'hex')
    ]);
    expect(() => decodeRecord(bytes)).to.throw(NewerMessageError);
  });

  it('are refused where a field breaks its rules', () => {
    const [hash, short] = [Buffer.alloc(32, 1), Buffer.alloc(31, 1)];
    const point = { hash, header: Buffer.alloc(80), deployments: {}, deploymentInfo: {} };
    const wrong: readonly (readonly [fields: object, words: string])[] = [
      [{ version: 0, poolClear: {} }, 'the bytes are no record'],
      [{ termId: Buffer.alloc(7), poolClear: {} }, 'termId: 8 bytes expected, 7 came'],
      [{ termId: Buffer.alloc(0), poolClear: {} }, 'termId: 8 bytes expected, 0 came'],
      [{ block: { hash, part: 3, parts: 3 } }, 'a part below 3 expected, 3 came'],
      [{ connect: { ...point, hash: short } }, 'Connect.hash: 32 bytes expected, 31 came'],
      [{ connect: { ...point, deploymentInfo: undefined } }, 'Connect: the state of the soft forks expected'],
      [{ reset: { ...point, header: hash } }, 'Reset.header: 80 bytes expected, 32 came'],
      [{ reset: { ...point, chainwork: Buffer.alloc(33) } }, 'chainwork: at most 32 bytes expected, 33 came'],
      [{ disconnect: { hash, previous: short } }, 'Disconnect.previous: 32 bytes expected, 31 came'],
      [{ poolRemove: { txid: hash, replacement: short } }, 'PoolRemove.replacement: 32 bytes expected, 31 came'],
      [{ poolClear: { kept: Buffer.alloc(33) } }, 'whole hashes expected, 33 bytes came'],
      [{ beat: { hash, pool: {} } }, 'the state of pool and network expected']
    ];
    const type = messageType('Record');
    for (const [fields, words] of wrong)
      expect(() => decodeRecord(type.encode({ version: 1, termId: TERM_ID, ...fields }).finish()), words).to.throw(
        MalformedMessageError,
        words
      );
    expect(decodeRecord(type.encode({ version: 1, termId: TERM_ID, reset: point }).finish()).body).to.include({
      type: 'reset',
      chainwork: 0n
    });
  });

  it('are refused by their length before they are read', () => {
    const bytes = Buffer.alloc(MOST_RECORD_BYTES + 1);
    expect(() => decodeRecord(bytes)).to.throw(MalformedMessageError, `at most ${MOST_RECORD_BYTES} bytes`);
  });
});

function decodedOrRefused(bytes: Uint8Array): void {
  try {
    decodeRecord(bytes);
  } catch (error) {
    expect(error).to.be.instanceOf(MalformedMessageError);
  }
}
