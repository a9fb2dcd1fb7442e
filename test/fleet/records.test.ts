// Records of the log as bytes: the same after a way there and back, and bytes of strangers are refused.

import { expect } from 'chai';
import * as fc from 'fast-check';
import { MalformedMessageError, NewerMessageError } from '../../lib/fleet/messages/errors';
import { decodeRecord, encodeRecord, MOST_RECORD_BYTES } from '../../lib/fleet/messages/record-codec';
import { messageType } from '../../lib/fleet/messages/schema';
import { anyRecord } from './any-record';

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
    const bytes = Buffer.concat([Buffer.from(messageType('Record').encode({ version: 1 }).finish()), Buffer.from('9a0600', 'hex')]);
    expect(() => decodeRecord(bytes)).to.throw(NewerMessageError);
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
