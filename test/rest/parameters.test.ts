import { expect } from 'chai';
import { describe, it } from 'mocha';
import { RestRequest } from '../../lib/rest/endpoint';
import { asksForMany, parseHeaderCount } from '../../lib/rest/endpoints/headers';
import { parseHash } from '../../lib/rest/format';
import { HttpError } from '../../lib/server/errors';
import { PROFILES, type Profile } from '../../lib/views/profile';

describe('parseHash', () => {
  it('reads 64 hex digits of either case into wire order', () => {
    expect(parseHash(`${'00'.repeat(31)}aB`)).to.deep.equal(Buffer.concat([Buffer.of(0xab), Buffer.alloc(31)]));
  });

  it('refuses anything else, and echoes it as typed', () => {
    const hash = 'Ab'.repeat(32);
    for (const text of ['', hash.slice(1), `${hash}0`, `${hash}\n`, `${hash}.foo`, `0x${hash.slice(2)}`, `${hash.slice(1)}g`, `%61${hash}`])
      expect(() => parseHash(text), text)
        .to.throw(HttpError)
        .with.property('message', `Invalid hash: ${text}`);
  });
});

describe('parseHeaderCount, parsing as 0.17', () => {
  const taken: readonly [text: string, count: number][] = [
    ['1', 1],
    ['2000', 2_000],
    ['0005', 5],
    ['+5', 5],
    ['1abc', 1],
    ['1.5', 1],
    ['1e2', 1],
    ['1,000', 1],
    ['5%20', 5],
    ['\t 5', 5]
  ];
  for (const [text, count] of taken) {
    it(`reads '${text}' as ${count}`, () => {
      expect(parseHeaderCount(text, 2_000, PROFILES['0.17'])).to.equal(count);
    });
  }

  for (const text of ['%205', '0x5', 'abc', '', '-1', '0', '2001', '2147483648', '99999999999999999999', '+', '- 1']) {
    it(`refuses '${text}'`, () => {
      expect(() => parseHeaderCount(text, 2_000, PROFILES['0.17'])).to.throw(HttpError, `Header count out of range: ${text}`);
    });
  }
});

describe('parseHeaderCount, as strict as Bitcoin Core is now', () => {
  const countOf = (text: string): number => parseHeaderCount(text, 2_000, PROFILES.modern);

  it('reads digits, with leading zeros', () => {
    for (const [text, count] of Object.entries({ 1: 1, 2000: 2_000, '0005': 5, '00000000000000000000000000000001': 1 }))
      expect(countOf(text), text).to.equal(count);
  });

  it('refuses anything else, and echoes it', () => {
    for (const text of ['', '0', '2001', '+5', '-1', ' 5', '5 ', '5\n', '1.0', '1e2', '0x5', 'abc', '٣', '99999999999999999999'])
      expect(() => countOf(text), text)
        .to.throw(HttpError)
        .with.property('message', `Header count is invalid or out of acceptable range (1-2000): ${text}`);
  });
});

describe('asksForMany', () => {
  const hash = `65${'0'.repeat(62)}`;
  const asked = (target: string, profile: Profile): boolean => {
    const { cutsQuery } = profile.parsing;
    return asksForMany(new RestRequest(target, Buffer.alloc(0), { destroyed: false }, cutsQuery), profile);
  };

  it('looks at the count in the path', () => {
    for (const profile of Object.values(PROFILES)) {
      expect(asked(`65/${hash}.json?count=1`, profile)).to.equal(true);
      expect(asked(`64/${hash}.json?count=2000`, profile)).to.equal(false);
    }
  });

  it('looks at the count in the query if the edition allows that, and does not mistake a hash for a count', () => {
    const { modern } = PROFILES;
    for (const [query, isMany] of Object.entries({
      '?count=65': true,
      '?count=64': false,
      '?a=b&count=%36%35': true,
      '?count=': false,
      '': false
    }))
      expect(asked(`${hash}.json${query}`, modern), query).to.equal(isMany);
  });
});
