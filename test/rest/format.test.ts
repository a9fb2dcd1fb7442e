import { expect } from 'chai';
import { describe, it } from 'mocha';
import { replyIn, requireJson, splitSuffix } from '../../lib/rest/format';
import { HttpError } from '../../lib/server/errors';
import { ClientGoneError } from '../../lib/turns/client';
import { caught } from '../support/expectations/caught';
import { afterThisTurn } from '../support/expectations/turn';

const here = { isGone: false };

describe('splitSuffix', () => {
  const cases: readonly [text: string, parameter: string, format: string | undefined][] = [
    ['ab.bin', 'ab', 'bin'],
    ['ab.hex', 'ab', 'hex'],
    ['ab.json', 'ab', 'json'],
    ['ab', 'ab', undefined],
    ['ab.', 'ab', undefined],
    ['ab.foo', 'ab.foo', undefined],
    ['ab.JSON', 'ab.JSON', undefined],
    ['ab.json.bin', 'ab.json', 'bin'],
    ['ab.bin.foo', 'ab.bin.foo', undefined],
    ['ab.json?x=1', 'ab.json?x=1', undefined],
    ['?x.json', '?x', 'json'],
    ['.json', '', 'json'],
    ['.', '', undefined],
    ['', '', undefined]
  ];
  for (const [text, parameter, format] of cases) {
    it(`takes '${text}' for '${parameter}' in ${format ?? 'no format'}`, () => {
      expect(splitSuffix(text)).to.deep.equal({ parameter, format });
    });
  }
});

describe('replyIn', () => {
  const forms = { binary: (): Buffer => Buffer.of(0, 255), json: (): Buffer => Buffer.from('{}\n') };

  it('gives each format its content type and ending', async () => {
    expect(await replyIn('bin', forms, '', here)).to.deep.equal({
      contentType: 'application/octet-stream',
      body: Buffer.of(0, 255),
      tip: undefined
    });
    expect(await replyIn('hex', forms, '', here)).to.deep.equal({ contentType: 'text/plain', body: Buffer.from('00ff\n'), tip: undefined });
    expect(await replyIn('json', forms, '', here)).to.deep.equal({
      contentType: 'application/json',
      body: Buffer.from('{}\n'),
      tip: undefined
    });
  });

  it('makes long JSON and hex in slices, and stops when the client has gone', async () => {
    function* untilLater(): Generator<void, Buffer> {
      for (const isLater = afterThisTurn(); !isLater();) yield;
      return Buffer.from('[]\n');
    }
    const long = { binary: (): Buffer => Buffer.alloc(8_000_000), json: untilLater };
    for (const format of ['hex', 'json'] as const)
      expect(await caught(replyIn(format, long, '', { isGone: true })), format).to.be.instanceOf(ClientGoneError);
    expect(await replyIn('json', long, '', here)).to.deep.equal({
      contentType: 'application/json',
      body: Buffer.from('[]\n'),
      tip: undefined
    });
  });

  it('refuses an undefined format with the endpoint’s list of formats', async () => {
    const refused = await caught(replyIn(undefined, forms, '.bin, .hex', here));
    expect(refused).to.be.instanceOf(HttpError).with.property('message', 'output format not found (available: .bin, .hex)');
  });
});

describe('requireJson', () => {
  it('accepts everything that ends in .json', () => {
    for (const text of ['.json', 'XYZ.json', '/a/b.json', '.bin.json', '?a=b.json']) requireJson(text);
  });

  it('refuses everything else', () => {
    for (const text of ['', '.', '.bin', '.hex', '.json?', '.json/', '.JSON'])
      expect(() => {
        requireJson(text);
      }, text).to.throw(HttpError, 'output format not found (available: json)');
  });
});
