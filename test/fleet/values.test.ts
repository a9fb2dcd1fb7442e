// Questions and replies as bytes.

import { expect } from 'chai';
import * as fc from 'fast-check';
import { MissingOutputsError, TransactionRefusedError, UnreadableTransactionError } from '../../lib/node/errors';
import { MalformedMessageError, NewerMessageError } from '../../lib/fleet/messages/errors';
import { decodeReply, encodeFault, encodeReply, FleetReplyError } from '../../lib/fleet/messages/questions';
import { messageType } from '../../lib/fleet/messages/schema';
import { decodeValue, encodeValue } from '../../lib/fleet/messages/values';

const anyValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.string(),
    fc.boolean(),
    fc.constant(null),
    fc.integer(),
    fc.bigInt(),
    fc.uint8Array({ maxLength: 20 }).map((each) => Buffer.from(each)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.stringMatching(/^[a-z]{1,5}$/), fc.constantFrom('$', '$n', '$$', '$$n')), tie('value'), {
      maxKeys: 4,
      noNullPrototype: true
    })
  )
})).value;

describe('questions and replies', () => {
  it('are the same after encoding and decoding', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(decodeValue(encodeValue(value), 1_000_000)).to.deep.equal(value);
      })
    );
  });

  it('are refused or read, but nothing else happens, whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.string(), fc.nat(3), (bytes, json, version) => {
        const messages = [bytes, Buffer.from(messageType('Value').encode({ version, json }).finish())];
        for (const message of messages) {
          try {
            decodeValue(message, 1_000);
          } catch (error) {
            expect(error).to.be.instanceOf(MalformedMessageError);
          }
        }
      })
    );
  });

  it('of a newer version are refused as such', () => {
    expect(() => decodeValue(messageType('Value').encode({ version: 2, json: '1' }).finish(), 100)).to.throw(NewerMessageError);
  });

  it('are refused by their length before they are read', () => {
    expect(() => decodeValue(Buffer.alloc(11), 10)).to.throw(MalformedMessageError, 'at most 10 bytes');
  });

  it('that name bytes which did not come are refused', () => {
    expect(() => decodeValue(messageType('Value').encode({ version: 1, json: '{"$":0}' }).finish(), 100)).to.throw(MalformedMessageError);
  });

  it('carry absence and errors as data', () => {
    expect(decodeReply('block', encodeReply('block', undefined))).to.equal(undefined);
    const words = { reason: 'dust', message: 'dust, tx with dust output' };
    const errors = [
      new TransactionRefusedError('bad', { words }),
      new MissingOutputsError('missing'),
      new UnreadableTransactionError('unreadable'),
      new FleetReplyError('busy', 'too many')
    ];
    for (const error of errors) {
      try {
        decodeReply('broadcast', encodeFault(error));
        expect.fail('expected an error');
      } catch (came) {
        expect(came).to.be.instanceOf(error.constructor);
        expect(came).to.include({ message: error.message });
        if (error instanceof TransactionRefusedError) expect(came).to.have.deep.property('words', error.words);
      }
    }
  });
});
