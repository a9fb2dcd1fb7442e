import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { LONGEST_COMPACT_SIZE, writeCompactSize } from '../../lib/bitcoin/reader';
import { bytesOfHexBody, outpointsInBody, outpointsInPath as readPath, type Query } from '../../lib/rest/outpoints';
import { HttpError } from '../../lib/server/errors';
import { PROFILES } from '../../lib/views/profile';
import type { Outpoint } from '../../lib/bitcoin/transaction';

const TXID = 'f5735f8536cd394a5400478faeff716b537e9ccce696207cdcc0a5f3b6a1d2e4';
const wire = (displayed: string): Buffer => Buffer.from(displayed, 'hex').reverse();

const outpoint = fc.record<Outpoint>({
  txid: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes)),
  index: fc.integer({ min: 0, max: 0xffff_ffff })
});
const query = fc.record<Query>({ checkMempool: fc.boolean(), outpoints: fc.array(outpoint, { maxLength: 20 }) });

describe('outpointsInPath, parsing as 0.17', () => {
  const outpointsInPath = (text: string): Query | undefined => readPath(text, PROFILES['0.17'].parsing);

  it('reads outpoints, and checkmempool before them', () => {
    const first = { txid: wire(TXID), index: 0 };
    const second = { txid: wire(TXID), index: 7 };
    expect(outpointsInPath(`/${TXID}-0/${TXID}-7`)).to.deep.equal({ checkMempool: false, outpoints: [first, second] });
    expect(outpointsInPath(`/checkmempool/${TXID}-0`)).to.deep.equal({ checkMempool: true, outpoints: [first] });
  });

  it('does not look at the first character', () => {
    for (const first of ['/', 'X', '-', '?']) expect(outpointsInPath(`${first}${TXID}-0`)?.outpoints, first).to.have.length(1);
  });

  it('finds nothing in an empty path and in one character', () => {
    for (const text of ['', '/', 'X']) expect(outpointsInPath(text), text).to.equal(undefined);
  });

  it('says that a request for no outpoints is empty', () => {
    expect(() => outpointsInPath('/checkmempool')).to.throw(HttpError, 'Error: empty request');
  });

  const indexes: readonly [text: string, index: number][] = [
    ['0', 0],
    ['00', 0],
    ['+0', 0],
    ['-0', 0],
    ['-1', 4_294_967_295],
    ['-2147483648', 2_147_483_648],
    ['2147483647', 2_147_483_647],
    ['+5', 5]
  ];
  for (const [text, index] of indexes) {
    it(`reads the index '${text}' as ${index}`, () => {
      expect(outpointsInPath(`/${TXID}-${text}`)?.outpoints[0]?.index).to.equal(index);
    });
  }

  for (const text of ['2147483648', '-2147483649', '4294967295', 'abc', '', '%200', '0x0', '0.0', '0-0', '+', '-', '1e0']) {
    it(`refuses the index '${text}'`, () => {
      expect(() => outpointsInPath(`/${TXID}-${text}`)).to.throw(HttpError, /^Parse error$/);
    });
  }

  it('pads short txids on the left, cuts long ones to the last 64 digits, and takes upper case', () => {
    const txidOf = (text: string): Buffer | undefined => outpointsInPath(`/${text}-0`)?.outpoints[0]?.txid;
    expect(txidOf('12')).to.deep.equal(wire('12'.padStart(64, '0')));
    expect(txidOf(`abcd${TXID}`)).to.deep.equal(wire(TXID));
    expect(txidOf(TXID.toUpperCase())).to.deep.equal(wire(TXID));
  });

  it('uses a segment without a dash as both txid and index', () => {
    expect(outpointsInPath('/12')).to.deep.equal({ checkMempool: false, outpoints: [{ txid: wire('12'.padStart(64, '0')), index: 12 }] });
    for (const text of ['/123', `/${TXID}`]) expect(() => outpointsInPath(text), text).to.throw(HttpError, /^Parse error$/);
  });

  it('refuses odd, empty, prefixed and other txids, and empty segments', () => {
    const refused = [
      `/${TXID.slice(1)}-0`,
      '/-0',
      `/0x${TXID}-0`,
      '/xy-0',
      '//',
      `//${TXID}-0`,
      `/${TXID}-0/`,
      '/checkmempool/',
      `/${TXID}-0/checkmempool`,
      `/CHECKMEMPOOL/${TXID}-0`
    ];
    for (const text of refused) expect(() => outpointsInPath(text), text).to.throw(HttpError, /^Parse error$/);
  });
});

describe('outpointsInPath, as strict as Bitcoin Core is now', () => {
  const outpointsInPath = (text: string): Query | undefined => readPath(text, PROFILES.modern.parsing);

  it('reads every outpoint in its only form, with digits of either case and leading zeros', () => {
    const written = fc.record({ asked: query, isUpper: fc.boolean(), zeros: fc.nat(30) });
    fc.assert(
      fc.property(written, ({ asked: { checkMempool, outpoints }, isUpper, zeros }) => {
        fc.pre(outpoints.length > 0);
        const segments = outpoints.map(({ txid, index }) => {
          const digits = toDisplayHex(txid);
          return `/${isUpper ? digits.toUpperCase() : digits}-${'0'.repeat(zeros)}${index}`;
        });
        expect(outpointsInPath(`${checkMempool ? '/checkmempool' : ''}${segments.join('')}`)).to.deep.equal({ checkMempool, outpoints });
      })
    );
  });

  it('accepts what the grammar accepts, and nothing else', () => {
    /** 64 hex digits, one dash, 0 to 4294967295; implemented independently. */
    const isOutpoint = (text: string): boolean => {
      const [txid = '', index = '', ...more] = text.split('-');
      const isHex = txid.length === 64 && Array.from(txid.toLowerCase()).every((digit) => '0123456789abcdef'.includes(digit));
      const isNumber = index !== '' && Array.from(index).every((digit) => '0123456789'.includes(digit)) && BigInt(index) < 2n ** 32n;
      return more.length === 0 && isHex && isNumber;
    };
    const piece = fc.constantFrom('-', '_', '+', ' ', '%2D', '0', '1', '4294967295', '4294967296', 'a', 'F', 'g', '0x', '\n', '\0', 'é');
    const nearly = fc.tuple(fc.constantFrom(TXID, TXID.slice(2), `${TXID}ab`, `-${TXID}`, ''), fc.array(piece, { maxLength: 5 }));
    fc.assert(
      fc.property(nearly, ([txid, pieces]) => {
        const text = txid + pieces.join('');
        const read = (): unknown => outpointsInPath(`/${text}`)?.outpoints.length;
        if (text === '') expect(read()).to.equal(undefined);
        else if (isOutpoint(text)) expect(read(), text).to.equal(1);
        else expect(read, text).to.throw(HttpError, /^Parse error$/);
      }),
      { numRuns: 2_000 }
    );
  });

  it('drops the first character, and says that a request for no outpoints is empty', () => {
    for (const first of ['/', 'X', '-', '?']) expect(outpointsInPath(`${first}${TXID}-0`)?.outpoints, first).to.have.length(1);
    for (const text of ['', '/', 'X']) expect(outpointsInPath(text), text).to.equal(undefined);
    expect(() => outpointsInPath('/checkmempool')).to.throw(HttpError, 'Error: empty request');
  });
});

function bodyOf({ checkMempool, outpoints }: Query): Buffer {
  const head = Buffer.from([checkMempool ? 1 : 0, ...Buffer.alloc(LONGEST_COMPACT_SIZE)]);
  return Buffer.concat([
    head.subarray(0, writeCompactSize(head, outpoints.length, 1)),
    ...outpoints.flatMap(({ txid, index }) => [txid, Buffer.from(Uint32Array.of(index).buffer)])
  ]);
}

describe('outpointsInBody', () => {
  it('reads what was written, with any bytes after it', () => {
    fc.assert(
      fc.property(query, fc.uint8Array({ maxLength: 40 }), (asked, more) => {
        expect(outpointsInBody(Buffer.concat([bodyOf(asked), more]))).to.deep.equal(asked);
      })
    );
  });

  it('refuses every truncated body', () => {
    fc.assert(
      fc.property(query, fc.nat(), (asked, cut) => {
        const body = bodyOf(asked);
        expect(() => outpointsInBody(body.subarray(0, cut % body.length))).to.throw(HttpError, /^Parse error$/);
      })
    );
  });

  it('gives nothing but outpoints or a parse error for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        try {
          outpointsInBody(Buffer.from(bytes));
        } catch (error) {
          expect(error).to.be.instanceOf(HttpError).with.property('message', 'Parse error');
        }
      })
    );
  });

  it('refuses counts that the bytes cannot hold, and counts in a longer form than needed', () => {
    for (const count of ['01', 'fdffff', 'fe00000001', 'ffffffffffffffff7f', 'fd0000'])
      expect(() => outpointsInBody(Buffer.from(`00${count}`, 'hex')), count).to.throw(HttpError, /^Parse error$/);
  });
});

describe('bytesOfHexBody', () => {
  const bytesOf = (text: string): Buffer | undefined => bytesOfHexBody(Buffer.from(text));

  it('accepts digits of either case, and skips white space', () => {
    expect(bytesOf('00ffAB')).to.deep.equal(Buffer.of(0, 255, 0xab));
    expect(bytesOf(' 0 0\tff\r\n')).to.deep.equal(Buffer.of(0, 255));
  });

  it('reads white space alone as no bytes', () => {
    for (const text of ['', ' ', '\r\n\t']) expect(bytesOf(text)).to.deep.equal(Buffer.alloc(0));
  });

  it('does not read text that is not hex, or of odd length', () => {
    for (const text of ['0', '0x00', 'this is not hex', '00 1', '00\u0000']) expect(bytesOf(text), text).to.equal(undefined);
  });

  it('reads a body of the largest size that an operator may allow', () => {
    expect(bytesOfHexBody(Buffer.alloc(0x0200_0000, '0'))).to.have.length(0x0100_0000);
  });
});
