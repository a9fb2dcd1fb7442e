import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { readMessage } from '../../lib/electrum/server/message';
import { parseCalls } from '../../lib/rpc/json-rpc';
import { callTextsIn, type CallText } from '../../lib/server/json-rpc/call-texts';
import { membersIn } from '../../lib/server/json-rpc/values';

/** JSON as a client writes it, and as Bitcoin Core prints it. */
interface Json {
  readonly written: string;
  readonly printed: string;
}

const same = (text: string): Json => ({ written: text, printed: text });

const digits = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 30 }).map((list) => list.join(''));

/** Any number of JSON's grammar. */
const number: fc.Arbitrary<Json> = fc
  .record({
    sign: fc.constantFrom('', '-'),
    whole: digits.map((text) => text.replace(/^0+(?=.)/, '')),
    fraction: fc.option(digits, { nil: undefined }),
    exponent: fc.option(fc.tuple(fc.constantFrom('e', 'E', 'e+', 'E-'), digits), { nil: undefined })
  })
  .map(({ sign, whole, fraction, exponent = [] }) =>
    same(`${sign}${whole}${fraction === undefined ? '' : `.${fraction}`}${exponent.join('')}`)
  );

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t'
};
const unicodeEscape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A character of a string, with or without an escape. */
const character: fc.Arbitrary<Json> = fc
  .record({
    text: fc.oneof(
      fc.constantFrom('"', '\\', '\n', '\t', '/', '\u007f', '\u0000', '{', ':', ','),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 })
    ),
    isEscaped: fc.boolean()
  })
  .map(({ text, isEscaped }) => {
    const isControl = (text.length === 1 && text < ' ') || text === '\u007f';
    const printed = SHORT[text] ?? (isControl ? unicodeEscape(text) : text);
    return { written: isEscaped ? text.split('').map(unicodeEscape).join('') : text === '\u007f' ? text : printed, printed };
  });

const string: fc.Arbitrary<Json> = fc.array(character).map((list) => ({
  written: `"${list.map(({ written }) => written).join('')}"`,
  printed: `"${list.map(({ printed }) => printed).join('')}"`
}));

const space = fc.array(fc.constantFrom(' ', '\t', '\n', '\r'), { maxLength: 2 }).map((list) => list.join(''));

const literal = fc.constantFrom('null', 'true', 'false').map(same);

const spaced = (json: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
  fc.tuple(space, json, space).map(([before, { written, printed }, behind]) => ({ written: before + written + behind, printed }));

/** Joined by commas, between brackets. */
const list = (open: string, items: fc.Arbitrary<Json>, close: string): fc.Arbitrary<Json> =>
  fc.tuple(space, fc.array(spaced(items), { maxLength: 3 })).map(([empty, all]) => ({
    written: open + (all.length === 0 ? empty : all.map(({ written }) => written).join(',')) + close,
    printed: open + all.map(({ printed }) => printed).join(',') + close
  }));

const { value } = fc.letrec<{ value: Json; member: Json }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, number, string, literal, list('[', tie('value'), ']'), list('{', tie('member'), '}')),
  member: fc.tuple(spaced(string), spaced(tie('value'))).map(([name, of]) => ({
    written: `${name.written}:${of.written}`,
    printed: `${name.printed}:${of.printed}`
  }))
}));

/** Other members of a call: names that are not `id`, and values that have ids in them. */
const other = fc
  .tuple(fc.constantFrom('ids', 'i', 'params', 'a "id":', 'method'), value)
  .map(([name, { written }]) => `${JSON.stringify(name)}:${written}`);

const idName = fc.constantFrom('"id"', '"i\\u0064"', '"\\u0069\\u0064"');

const idsIn = (text: string, isBatch: boolean): readonly (string | undefined)[] => callTextsIn(text, isBatch).calls.map(({ id }) => id);

describe('the id of a call', () => {
  it('does not come back if it is an array or object with thousands of texts', () => {
    const listOf = (texts: number): string => `[${Array(texts).fill('""').join(',')}]`;
    const objectOf = (texts: number): string => `{${Array.from({ length: texts / 2 }, (_, i) => `"${i}":""`).join(',')}}`;
    for (const idOf of [listOf, objectOf]) {
      expect(idsIn(`{"id": ${idOf(900)} }`, false)).to.deep.equal([idOf(900)]);
      expect(idsIn(`[{"id":${idOf(1_100)}},{"id":1}]`, true)).to.deep.equal(['null', '1']);
    }
  });

  it('comes back as Bitcoin Core prints it, whatever JSON it is, beside any other members', () => {
    const call = fc
      .record({ id: fc.option(spaced(value), { nil: undefined }), name: spaced(idName.map(same)), others: fc.array(other), at: fc.nat() })
      .map(({ id, name, others, at }) => {
        const members = [...others];
        if (id !== undefined) members.splice(at % (others.length + 1), 0, `${name.written}:${id.written}`);
        return { text: `{${members.join(',')}}`, id: id?.printed };
      });
    fc.assert(
      fc.property(fc.array(call, { minLength: 1 }), space, (calls, before) => {
        for (const { text } of calls) JSON.parse(text);
        const [first] = calls as [(typeof calls)[0]];
        expect(idsIn(before + first.text, false)).to.deep.equal([first.id]);
        const batch = `${before}[${calls.map(({ text }) => text).join(',')}]`;
        expect(idsIn(batch, true)).to.deep.equal(calls.map(({ id }) => id));
      })
    );
  });

  it('is any number as the client wrote it, over JSON-RPC and over the Electrum protocol', () => {
    fc.assert(
      fc.property(
        fc.oneof(number, fc.constantFrom('-0', '0.0', '1.0', '1e3', '1E400', '18446744073709551615').map(same)),
        ({ written }) => {
          const body = Buffer.from(`{"jsonrpc":"2.0","id":${written},"method":"m"}`);
          expect(parseCalls(body).calls[0]?.form.id).to.equal(written);
          expect(readMessage(body).requests[0]?.id).to.equal(written);
        }
      )
    );
  });

  it('is found beside a parameter of many megabytes', () => {
    const long = '00'.repeat(10_000_000);
    for (const id of ['1', '1.5', '12345678901234567890', '["\\u0061", 1.50]']) {
      const [call] = parseCalls(Buffer.from(`{"id":${id},"method":"m","params":["${long}","\\"${'\\n'.repeat(1_000_000)}"]}`)).calls;
      expect(call).to.have.nested.property('form.id', id === '["\\u0061", 1.50]' ? '["a",1.50]' : id);
      expect(call).to.have.nested.property('params[0].length', long.length);
    }
  });

  it('may itself be many megabytes long', () => {
    const long = `["${'00'.repeat(5_000_000)}",{"a":"${'\\n'.repeat(1_000_000)}"}]`;
    expect(idsIn(`{"id":${long}}`, false)).to.deep.equal([long]);
  });

  it('with half a surrogate pair stays escaped', () => {
    expect(idsIn('{"id":"a\\ud800"}', false)).to.deep.equal(['"a\\ud800"']);
  });
});

describe('JSON that is nested deeper than Bitcoin Core reads', () => {
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const first = (text: string): unknown => parseCalls(Buffer.from(text)).calls[0];

  it('is a parse error, in parameters as in ids', () => {
    for (const name of ['id', 'params']) {
      expect(first(`{"method":"m","${name}":${nested(511)}}`)).to.have.property('method', 'm');
      for (const depth of [512, 100_000])
        expect(first(`{"method":"m","${name}":${nested(depth)}}`)).to.have.nested.property('error.message', 'Parse error');
    }
    expect(first(`[{"method":"m","params":${nested(510)}}]`)).to.have.property('method', 'm');
    expect(first(`[{"method":"m","params":${nested(511)}}]`)).to.have.nested.property('error.message', 'Parse error');
  });
});

describe('the members of a call', () => {
  it('are as many as JSON.parse finds, unless one comes twice', () => {
    const twice = (name: Json): string => `{${name.written}:[{"a":1}],${name.written}:[{"a":1}]}`;
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), string, (values, name) => {
        const text = JSON.stringify(values);
        expect(callTextsIn(text, true).calls.map(({ members }) => members)).to.deep.equal(values.map(membersIn));
        const [{ members }] = callTextsIn(twice(name), false).calls as [CallText];
        expect({ members, found: membersIn(JSON.parse(twice(name))) }).to.deep.equal({ members: 4, found: 2 });
      })
    );
  });

  it('may not come twice: what JSON.parse drops may be an output', () => {
    const bodyOf = (params: string): Buffer => Buffer.from(`{"id":1,"method":"createrawtransaction","params":${params}}`);
    for (const params of ['[[],{"a":1,"a":2}]', '[[],[{"a":1}],{"b":[{"c":0,"\\u0063":0}]}]', '{"inputs":[],"outputs":{},"inputs":[]}']) {
      const [call] = parseCalls(bodyOf(params)).calls;
      expect(call, params).to.have.nested.property('error.code', -8);
      expect(call, params).to.have.nested.property('form.id', '1');
    }
    const batch = Buffer.from('[{"id":1,"method":"m"},{"id":2,"method":"m","method":"n"},{"id":3,"method":"m","params":[{},{}]}]');
    expect(parseCalls(batch).calls.map((call) => 'error' in call)).to.deep.equal([false, true, false]);
  });
});
