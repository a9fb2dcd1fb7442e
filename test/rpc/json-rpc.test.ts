import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { isBad, parseCalls, type Call, type Parsed } from '../../lib/rpc/json-rpc';
import { errorReply, errorText, resultFrame } from '../../lib/server/json-rpc/frames';
import { runAtOnce } from '../../lib/turns/slices';

const parse = (body: string | Uint8Array): Parsed => runAtOnce(parseCalls(Buffer.from(body)));

/** The call in a body that has only one. */
function only(text: string): Call {
  const { calls, isBatch } = parse(text);
  expect(isBatch).to.equal(false);
  const [call] = calls;
  if (call === undefined || isBad(call)) throw new Error(`expected a call, got ${JSON.stringify(call)}`);
  return call;
}

describe('calls of JSON-RPC', () => {
  it('are of version 1 by default', () => {
    expect(only('{"method":"m"}')).to.deep.equal({ method: 'm', params: [], form: { isVersion2: false, id: undefined } });
    expect(only('{"jsonrpc":"1.0","method":"m","params":null,"id":null}').form).to.deep.equal({ isVersion2: false, id: 'null' });
    expect(only('{"jsonrpc":null,"method":"m","id":1}').form).to.deep.equal({ isVersion2: false, id: '1' });
    expect(only('{"jsonrpc":"2.0","method":"m","params":{"a":1},"id":"x"}')).to.deep.equal({
      method: 'm',
      params: { a: 1 },
      form: { isVersion2: true, id: '"x"' }
    });
  });

  it('get their id back as it came, of any type', () => {
    for (const id of [
      'null',
      'true',
      '"\u00e9\\n"',
      '[1,{"a":[]}]',
      '{"id":3}',
      '-7',
      '1.5',
      '18446744073709551615',
      '-123456789012345678901234567890'
    ]) {
      expect(only(`{"method":"m","id":${id}}`).form.id, id).to.equal(id);
      expect(only(`{"params":[{"id":5,"a":"\\"id\\":6"}] , "id" : ${id},"method":"m"}`).form.id, id).to.equal(id);
    }
  });

  it('keep the ids of a batch apart', () => {
    const ids = ['9007199254740993', '2', '9007199254740995', undefined, '9007199254740997'];
    const items = ids.map((id) => `{"method":"m"${id === undefined ? '' : `,"id":${id}`},"params":[[1,{"id":8}],2]}`);
    expect(parse(`[${items.join(',')}]`).calls.map(({ form }) => form.id)).to.deep.equal(ids);
  });

  it('are refused with the words of Bitcoin Core', () => {
    const refused: readonly [text: string, code: number, message: string][] = [
      ['', -32700, 'Parse error'],
      ['{"method":"m"', -32700, 'Parse error'],
      ['\u{feff}{"method":"m"}', -32700, 'Parse error'],
      ['1', -32700, 'Top-level object parse error'],
      ['"m"', -32700, 'Top-level object parse error'],
      ['null', -32700, 'Top-level object parse error'],
      ['{"method":"m","id":"\\ud800"}', -32700, 'Parse error'],
      ['{"method":"m","params":["\\uDC00a"]}', -32700, 'Parse error'],
      ['{"method":"m","params":{"\\ud83d\\u0041":1}}', -32700, 'Parse error'],
      ['{}', -32600, 'Missing method'],
      ['{"method":null}', -32600, 'Missing method'],
      ['{"method":1}', -32600, 'Method must be a string'],
      ['{"method":"m","params":1}', -32600, 'Params must be an array or object'],
      ['{"method":"m","params":"a"}', -32600, 'Params must be an array or object'],
      ['{"jsonrpc":2,"method":"m"}', -32600, 'jsonrpc field must be a string'],
      ['{"jsonrpc":"3.0","method":"m"}', -32600, 'JSON-RPC version not supported']
    ];
    for (const [text, code, message] of refused) {
      const [call] = parse(text).calls;
      expect(call, text).to.have.property('error').that.includes({ code, message });
    }
    expect(parse('[1,[],{"method":"m"}]').calls.map(isBad)).to.deep.equal([true, true, false]);
    expect(parse(Buffer.from('7b226d6574686f64223a22ff227d', 'hex')).calls[0])
      .to.have.property('error')
      .that.includes({ code: -32700 });
  });

  it('get replies of their version', () => {
    const [before, behind] = resultFrame({ isVersion2: false, id: '7' });
    expect(`${before}5${behind}`).to.equal('{"result":5,"error":null,"id":7}');
    const [before2, behind2] = resultFrame({ isVersion2: true, id: '"a"' });
    expect(`${before2}5${behind2}`).to.equal('{"jsonrpc":"2.0","result":5,"id":"a"}');
    expect(only('{"method":"m","id":"\\ud83d\\ude00","params":["\\\\ud800"]}')).to.deep.include({ params: ['\\ud800'] });
    expect(errorText({ code: -1, message: '\u0001\u007f\u0080' })).to.equal('{"code":-1,"message":"\\u0001\\u007f\u0080"}');
    const error = errorText({ code: -1, message: 'a "b"' });
    expect(errorReply({ isVersion2: false, id: undefined }, error)).to.equal('{"result":null,"error":{"code":-1,"message":"a \\"b\\""}}');
    expect(errorReply({ isVersion2: true, id: 'null' }, error)).to.equal(
      '{"jsonrpc":"2.0","error":{"code":-1,"message":"a \\"b\\""},"id":null}'
    );
  });

  it('are read from any bytes, and every reply is JSON', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        '\\',
        '"id"',
        '"method"',
        '"jsonrpc"',
        '"2.0"',
        '"params"',
        '"getblockcount"',
        '1e400',
        '-0',
        'null'
      ),
      fc.string({ unit: 'binary' }),
      fc.json()
    );
    const call = fc.record(
      {
        method: fc.oneof(fc.string(), fc.jsonValue()),
        params: fc.jsonValue(),
        id: fc.jsonValue(),
        jsonrpc: fc.constantFrom('2.0', '1.0', 2, null)
      },
      { requiredKeys: [] }
    );
    const bodies = fc.oneof(
      fc.array(piece).map((pieces) => Buffer.from(pieces.join(''))),
      fc.oneof(call, fc.array(call)).map((json) => Buffer.from(JSON.stringify(json))),
      fc.uint8Array().map((bytes) => Buffer.from(bytes))
    );
    fc.assert(
      fc.property(bodies, (body) => {
        for (const { form } of parse(body).calls) {
          JSON.parse(errorReply(form, errorText({ code: 1, message: '' })));
          JSON.parse(resultFrame(form).join('null'));
        }
      }),
      { numRuns: 200 }
    );
  });

  it('get back any id of any call', () => {
    const id = fc.oneof(
      fc.jsonValue(),
      fc.bigInt().map((value) => `\0${value}`)
    );
    fc.assert(
      fc.property(fc.array(id, { minLength: 1 }), (ids) => {
        const texts = ids.map((value) => (typeof value === 'string' && value.startsWith('\0') ? value.slice(1) : JSON.stringify(value)));
        const body = `[${texts.map((text) => `{"id":${text},"method":"m"}`).join(',')}]`;
        expect(parse(body).calls.map(({ form }) => form.id)).to.deep.equal(texts);
      })
    );
  });
});
