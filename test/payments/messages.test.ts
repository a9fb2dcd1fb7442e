import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import {
  MAX_PAYMENT_ACK_SIZE,
  MAX_PAYMENT_REQUEST_SIZE,
  MAX_PAYMENT_SIZE,
  decodeOutput,
  decodePayment,
  decodePaymentACK,
  decodePaymentDetails,
  decodePaymentRequest,
  decodeX509Certificates,
  encodeOutput,
  encodePayment,
  encodePaymentDetails,
  encodePaymentRequest
} from '../../lib/payments/messages';
import { CODECS, codecOf } from './codecs';
import { codeOf, errorOf, messageVectors, vector, vectorsFolder } from './vectors';

const OP_1 = Buffer.from('51', 'hex');

function hex(text: string): Buffer {
  return Buffer.from(text.replace(/\s/g, ''), 'hex');
}

describe('payment messages', () => {
  describe('vectors', () => {
    for (const name of messageVectors()) {
      it(`${name} comes back byte for byte`, () => {
        const { decode, encode } = codecOf(name.split('.', 1)[0] ?? '');
        const bytes = vector(`messages/${name}.hex`);
        expect(encode(decode(bytes) as never).toString('hex')).to.equal(bytes.toString('hex'));
      });
    }

    const missing = ['protoc', 'xxd'].filter((tool) => spawnSync(tool, ['--version']).error);
    (missing.length > 0 ? it.skip : it)(
      `agree with protoc in both directions${missing.map((tool) => `, not checked: no ${tool} here`).join('')}`,
      () => {
        execFileSync('sh', [join(vectorsFolder, 'messages/check.sh')]);
      }
    );
  });

  describe('decoding', () => {
    it('reads an Output', () => {
      expect(decodeOutput(vector('messages/Output.full.hex'))).to.deep.equal({
        amount: 500000n,
        script: hex('76a914000102030405060708090a0b0c0d0e0f1011121388ac')
      });
    });

    it('reads PaymentDetails', () => {
      expect(decodePaymentDetails(vector('messages/PaymentDetails.full.hex'))).to.deep.equal({
        network: 'test',
        outputs: [
          { amount: 100000n, script: OP_1 },
          { amount: 1n, script: hex('52') }
        ],
        time: 1400000000n,
        expires: 1400000900n,
        memo: 'Two mugs ☕',
        paymentUrl: 'https://shop.example/pay/1',
        merchantData: hex('00ff80')
      });
    });

    it('reads a PaymentRequest', () => {
      expect(decodePaymentRequest(vector('messages/PaymentRequest.full.hex'))).to.deep.equal({
        paymentDetailsVersion: 1,
        pkiType: 'x509+sha256',
        pkiData: hex('0a023000'),
        serializedPaymentDetails: hex('1800'),
        signature: hex('010203')
      });
    });

    it('reads X509Certificates', () => {
      expect(decodeX509Certificates(vector('messages/X509Certificates.full.hex'))).to.deep.equal({
        certificate: [hex('3000'), hex(''), hex('300100')]
      });
    });

    it('reads a Payment', () => {
      expect(decodePayment(vector('messages/Payment.full.hex'))).to.deep.equal({
        merchantData: hex('00ff80'),
        transactions: [hex('01000000'), hex('0200')],
        refundTo: [{ amount: 1n, script: OP_1 }, { script: hex('52') }],
        memo: 'Grüße'
      });
    });

    it('reads a PaymentACK', () => {
      expect(decodePaymentACK(vector('messages/PaymentACK.full.hex'))).to.deep.equal({
        payment: { merchantData: hex('00ff80'), transactions: [hex('0200')], refundTo: [] },
        memo: 'Thanks'
      });
    });

    it('leaves absent fields absent, so that a default that was sent differs from one that was not', () => {
      expect(decodeOutput(vector('messages/Output.minimal.hex'))).to.not.have.property('amount');
      expect(decodeOutput(vector('messages/Output.explicit-default.hex'))).to.have.property('amount', 0n);
    });

    it('loses no digit of a 64-bit integer', () => {
      expect(decodeOutput(vector('messages/Output.largest-amount.hex')).amount).to.equal(2n ** 64n - 1n);
    });

    it('gives extension fields as received', () => {
      expect(decodeOutput(vector('messages/Output.extensions.hex')).unknownFields).to.deep.equal([
        hex('a206026869'),
        hex('f8ffffff0fac02')
      ]);
    });

    it('uses the last of duplicate fields, as protocol buffers do', () => {
      expect(decodePaymentDetails(hex('1801 1802')).time).to.equal(2n);
    });

    it('gives views into the bytes, not copies', () => {
      const bytes = vector('messages/Output.minimal.hex');
      expect(decodeOutput(bytes).script.buffer).to.equal(bytes.buffer);
    });
  });

  describe('refuses', () => {
    const cases: [title: string, decode: (bytes: Uint8Array) => unknown, bytes: string, message: RegExp][] = [
      ['a missing required field', decodeOutput, '0801', /^Output: missing required 'script'/],
      ['a missing required field of an inner message', decodePaymentDetails, '1202 0801 1801', /^Output: missing required 'script'/],
      ['no bytes where a field is required', decodePaymentRequest, '', /^PaymentRequest: missing required 'serializedPaymentDetails'/],
      ['a varint where bytes belong', decodeOutput, '1005 120151', /^Output\.script: length-delimited expected, varint came/],
      ['bytes where a varint belongs', decodeOutput, '0a00 120151', /^Output\.amount: varint expected, length-delimited came/],
      [
        'a fixed64 where a varint belongs',
        decodePaymentDetails,
        '1801 21 0000000000000000',
        /^PaymentDetails\.expires: varint expected, fixed64 came/
      ],
      [
        'a fixed32 where a message belongs',
        decodePaymentACK,
        '0a00 0d 00000000',
        /^PaymentACK\.payment: length-delimited expected, fixed32 came/
      ],
      [
        'a group where a message belongs',
        decodePaymentDetails,
        '1801 1314',
        /^PaymentDetails\.outputs: length-delimited expected, group came/
      ],
      ['bytes that end within a field', decodeOutput, '12 05 51', /^Output: the bytes are no such message/],
      ['bytes that end within a length', decodeOutput, '12 ff', /^Output: the bytes are no such message/],
      ['a length beyond any message', decodeOutput, '12 ffffffff0f', /^Output: the bytes are no such message/],
      [
        'an inner message that is longer than its frame',
        decodePaymentDetails,
        '12 03 120551 1801',
        /^PaymentDetails: the bytes are no such message/
      ],
      ['an integer of more than 64 bits', decodeOutput, '08 ffffffffffffffffff02 120151', /uint64 expected/],
      ['a varint of eleven bytes', decodeOutput, '08 ffffffffffffffffffff01 120151', /^Output: the bytes are no such message/],
      ['a version of more than 32 bits', decodePaymentRequest, '08 8180808010 2200', /uint32 expected/],
      ['a field number of 0', decodePayment, '0001', /field number 0/],
      ['a wire type that does not exist', decodePayment, 'a706', /wire type 7/],
      ['an end of a group that never began', decodePayment, 'a406', /wire type 4/],
      ['a group that never ends', decodePayment, 'a306', /^Payment: the bytes are no such message/],
      ['text that is not UTF-8', decodePayment, '22 02 c328', /^Payment: the bytes are no such message/]
    ];
    for (const [title, decode, bytes, message] of cases) {
      it(title, () => {
        const error = errorOf(() => decode(hex(bytes)));
        expect(error.code).to.equal('malformed');
        expect(error.message).to.match(message);
      });
    }

    it('groups within groups without end', () => {
      expect(codeOf(() => decodePayment(hex('a306'.repeat(20_000))))).to.equal('malformed');
    });

    it('more than 6,000 fields, with those of inner messages, which take long to read', () => {
      const most = { transactions: [], refundTo: Array.from({ length: 3_000 }, () => ({ script: OP_1 })) };
      expect(decodePayment(encodePayment(most)).refundTo).to.have.length(3_000);
      const error = errorOf(() => decodePayment(encodePayment({ ...most, memo: '' })));
      expect(error.code).to.equal('malformed');
      expect(error.message).to.equal('Payment: the bytes are no such message (at most 6000 fields expected, more came).');
    });

    for (const [name, limit] of [
      ['PaymentRequest', MAX_PAYMENT_REQUEST_SIZE],
      ['Payment', MAX_PAYMENT_SIZE],
      ['PaymentACK', MAX_PAYMENT_ACK_SIZE]
    ] as const) {
      it(`a ${name} of more than ${limit} bytes, before it is read`, () => {
        const error = errorOf(() => codecOf(name).decode(Buffer.alloc(limit + 1)));
        expect(error.message).to.equal(`${name}: at most ${limit} bytes expected, ${limit + 1} came.`);
        expect(codeOf(() => codecOf(name).decode(Buffer.alloc(limit)))).to.equal('malformed');
      });
    }

    it('a Payment that would be larger than merchants accept', () => {
      const largest = MAX_PAYMENT_SIZE - 4;
      expect(encodePayment({ transactions: [Buffer.alloc(largest)], refundTo: [] })).to.have.length(MAX_PAYMENT_SIZE);
      expect(codeOf(() => encodePayment({ transactions: [Buffer.alloc(largest + 1)], refundTo: [] }))).to.equal('too-large');
    });
  });

  describe('encoding', () => {
    const refused: [title: string, encode: () => unknown, message: RegExp][] = [
      ['a negative amount', () => encodeOutput({ amount: -1n, script: OP_1 }), /^Output\.amount: a bigint of 64 bits expected, -1n came/],
      ['an amount of 65 bits', () => encodeOutput({ amount: 2n ** 64n, script: OP_1 }), /^Output\.amount/],
      ['a number as amount', () => encodeOutput({ amount: 1 as never, script: OP_1 }), /^Output\.amount/],
      [
        'a fraction as version',
        () => encodePaymentRequest({ paymentDetailsVersion: 1.5, serializedPaymentDetails: OP_1 }),
        /^PaymentRequest\.paymentDetailsVersion/
      ],
      ['text as bytes', () => encodeOutput({ script: '51' as never }), /^Output\.script: bytes expected, '51' came/],
      [
        'half a character',
        () => encodePaymentDetails({ outputs: [], time: 1n, memo: '\ud800' }),
        /^PaymentDetails\.memo: well-formed text expected/
      ],
      ['a missing required field', () => encodePaymentDetails({ outputs: [] } as never), /^PaymentDetails\.time is required and missing/],
      [
        'a missing required field of an inner message',
        () => encodePaymentDetails({ outputs: [{ amount: 1n } as never], time: 1n }),
        /^Output\.script is required and missing/
      ],
      [
        'one output where a list belongs',
        () => encodePaymentDetails({ outputs: { script: OP_1 } as never, time: 1n }),
        /^PaymentDetails\.outputs: an array expected/
      ],
      [
        'null as a message',
        () => encodePaymentDetails({ outputs: [null as never], time: 1n }),
        /^PaymentDetails\.outputs: the fields of Output expected, null came/
      ],
      ['null as the message', () => encodeOutput(null as never), /^Output: the fields of Output expected, null came/],
      ['an extension that is not a field', () => encodeOutput({ script: OP_1, unknownFields: [hex('a206')] }), /^A field expected/],
      [
        'an extension of two fields',
        () => encodeOutput({ script: OP_1, unknownFields: [hex('a20600 a20600')] }),
        /^Output\.unknownFields: one field that the schema does not know/
      ],
      [
        'an extension that changes a field of the schema',
        () => encodeOutput({ script: OP_1, unknownFields: [hex('120152')] }),
        /^Output\.unknownFields: one field that the schema does not know/
      ],
      [
        'text as an extension',
        () => encodeOutput({ script: OP_1, unknownFields: ['a20600' as never] }),
        /^Output\.unknownFields: bytes expected/
      ],
      [
        'an extension where a list belongs',
        () => encodeOutput({ script: OP_1, unknownFields: hex('a20600') as never }),
        /^Output\.unknownFields: an array expected/
      ]
    ];
    for (const [title, encode, message] of refused) {
      it(`refuses ${title}`, () => expect(errorOf(encode).message).to.match(message));
    }
  });

  describe('round trip', () => {
    for (const [name, { decode, encode, message }] of Object.entries(CODECS)) {
      it(`decode(encode(x)) is x for any ${name}`, () => {
        fc.assert(
          fc.property(message, (original) => {
            expect(decode(encode(original as never))).to.deep.equal(original);
          }),
          { numRuns: 300 }
        );
      });
    }
  });
});
