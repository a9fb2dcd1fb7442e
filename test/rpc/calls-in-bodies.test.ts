import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { readMessage } from '../../lib/electrum/server/message';
import { parseCalls, type Parsed } from '../../lib/rpc/json-rpc';
import { idTextOf } from '../../lib/server/json-rpc/id-text';
import { namesIn } from '../../lib/server/json-rpc/values';
import { scanJson, type JsonScan } from '../../lib/server/json/scan';
import { runAtOnce } from '../../lib/turns/slices';

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

function scanned(text: string): JsonScan {
  const scan = runAtOnce(scanJson(Buffer.from(text), { items: Infinity, values: Infinity, names: Infinity, allValues: Infinity }));
  if (typeof scan === 'string') throw new Error(`unexpected fault: ${scan}`);
  return scan;
}

const idsIn = (text: string): readonly (string | undefined)[] => scanned(text).items.map((item) => idTextOf(Buffer.from(text), item));

const callsIn = (body: string | Buffer): Parsed['calls'] => runAtOnce(parseCalls(Buffer.from(body))).calls;

describe('the id of a call', () => {
  it('does not come back if it is longer than sixteen kilobytes', () => {
    const longest = `["${'a'.repeat(16_380)}"]`;
    const tooLong = `["${'a'.repeat(16_381)}"]`;
    const texts = `[${Array(5_000).fill('""').join(',')}]`;
    expect(idsIn(`{"id":${longest}}`)).to.deep.equal([longest]);
    expect(idsIn(`[{"id":${texts}},{"id":${tooLong}},{"id":1}]`)).to.deep.equal([texts, 'null', '1']);
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
        expect(idsIn(before + first.text)).to.deep.equal([first.id]);
        const batch = `${before}[${calls.map(({ text }) => text).join(',')}]`;
        expect(idsIn(batch)).to.deep.equal(calls.map(({ id }) => id));
      })
    );
  });

  it('is any number as the client wrote it, over JSON-RPC and over the Electrum protocol', () => {
    fc.assert(
      fc.property(
        fc.oneof(number, fc.constantFrom('-0', '0.0', '1.0', '1e3', '1E400', '18446744073709551615').map(same)),
        ({ written }) => {
          const body = Buffer.from(`{"jsonrpc":"2.0","id":${written},"method":"m"}`);
          expect(callsIn(body)[0]?.form.id).to.equal(written);
          expect(readMessage(body).requests[0]?.id).to.equal(written);
        }
      )
    );
  });

  it('is found in a short message of the Electrum protocol as in a long one, which is scanned', () => {
    const written = fc.constantFrom('1', '1', '1.0', '1e2', '-1', '-0', '9007199254740993', '"1"', '{"id":1}', 'null');
    const names = fc.constantFrom('"id"', '"id"', '"i\\u0064"', '"method"', '"result"', '"x"');
    const member = fc
      .tuple(names, space, fc.constantFrom('', ' ', '  '), written)
      .map(([name, before, behind, id]) => `${name}${before}:${behind}${name === '"method"' ? '"id"' : id}`);
    fc.assert(
      fc.property(fc.array(member, { maxLength: 5 }), fc.constantFrom(',', ' , '), (members, comma) => {
        const text = `{${members.join(comma)}}`;
        expect(readMessage(Buffer.from(text)), text).to.deep.equal(readMessage(Buffer.from(text + ' '.repeat(5_000))));
      }),
      { numRuns: 3_000 }
    );
  });

  it('is found beside a parameter of many megabytes', () => {
    const long = '00'.repeat(4_000_000);
    for (const id of ['1', '1.5', '12345678901234567890', '["\\u0061", 1.50]']) {
      const [call] = callsIn(`{"id":${id},"method":"m","params":["${long}","\\"${'\\n'.repeat(900_000)}"]}`);
      expect(call).to.have.nested.property('form.id', id === '["\\u0061", 1.50]' ? '["a",1.50]' : id);
      expect(call).to.have.nested.property('params[0].length', long.length);
    }
  });

  it('with half a surrogate pair stays escaped', () => {
    expect(idsIn('{"id":"a\\ud800"}')).to.deep.equal(['"a\\ud800"']);
  });
});

describe('JSON that is nested deeper than Bitcoin Core reads', () => {
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const first = (text: string): unknown => callsIn(text)[0];

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

describe('the names of a call', () => {
  it('are as many as JSON.parse finds, unless one comes twice', () => {
    const twice = (name: Json): string => `{${name.written}:[{"a":1}],${name.written}:[{"a":1}]}`;
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), string, (values, name) => {
        const text = JSON.stringify(values);
        expect(scanned(text).items.map(({ names }) => names)).to.deep.equal(values.map(namesIn));
        expect(scanned(twice(name)).items).to.have.nested.property('[0].names', 4);
        expect(namesIn(JSON.parse(twice(name)))).to.equal(2);
      })
    );
  });

  it('may not come twice: what JSON.parse drops may be an output', () => {
    const bodyOf = (params: string): string => `{"id":1,"method":"createrawtransaction","params":${params}}`;
    for (const params of ['[[],{"a":1,"a":2}]', '[[],[{"a":1}],{"b":[{"c":0,"\\u0063":0}]}]', '{"inputs":[],"outputs":{},"inputs":[]}']) {
      const [call] = callsIn(bodyOf(params));
      expect(call, params).to.have.nested.property('error.code', -8);
      expect(call, params).to.have.nested.property('form.id', '1');
    }
    const batch = '[{"id":1,"method":"m"},{"id":2,"method":"m","method":"n"},{"id":3,"method":"m","params":[{},{}]}]';
    expect(callsIn(batch).map((call) => 'error' in call)).to.deep.equal([false, true, false]);
  });
});

describe('the bounds of a body', () => {
  const callOf = (params: string): string => `{"method":"m","params":${params}}`;
  const listOf = (value: string, count: number): string => `[${Array(count).fill(value).join(',')}]`;
  const messageOf = (body: string): unknown => {
    const [call] = callsIn(body);
    return call !== undefined && 'error' in call ? call.error.message : undefined;
  };

  it('hold for each call, and for all of a batch together, before any of them is parsed', () => {
    const most = listOf('0', 149_997);
    const namesOf = (count: number): string => `{${Array.from({ length: count }, (_, i) => `"${i}":0`).join(',')}}`;
    const long = (bytes: number): string => callOf(`["${'a'.repeat(bytes - callOf('[""]').length)}"]`);
    for (const [body, message] of [
      [callOf(most), undefined],
      [callOf(listOf('0', 149_999)), 'Call with more than 150000 values'],
      [`[${callOf('[]')},${callOf(listOf('[]', 75_000))}]`, 'Call with more than 150000 values'],
      [callOf(namesOf(99_998)), undefined],
      [callOf(namesOf(99_999)), 'Call with more than 100000 names'],
      [long(10_000_000), undefined],
      [long(10_000_001), 'Call of more than 10000000 bytes'],
      [`[${long(10_000_000)},${long(10_000_000)}]`, undefined],
      [`[${long(10_000_000)}, ${long(10_000_000)}]`, 'Call of more than 10000000 bytes'],
      [`${' '.repeat(10_000_000)}${callOf('[]')}`, 'Call of more than 10000000 bytes'],
      [`[${Array(9).fill(callOf(most)).join(',')}]`, undefined],
      [`[${Array(11).fill(callOf(most)).join(',')}]`, 'Batch with more than 1500000 values'],
      [listOf('{}', 100_001), 'Batch of more than 100000 calls'],
      // What is no JSON is not parsed to find that out.
      [`[${'{'.repeat(200_000)}`, 'Call with more than 150000 values']
    ] as const)
      expect(messageOf(body), body.slice(0, 60)).to.equal(message);
  });

  it('are looked for in steps, between which others have their turn', () => {
    const stepsFor = (body: string): number => [...parseCalls(Buffer.from(body))].length;
    expect(stepsFor(callOf(`["${'a'.repeat(9_000_000)}"]`))).to.be.above(100);
    expect(stepsFor(`[${Array(1_000).fill(callOf('[]')).join(',')}]`)).to.be.above(1_000);
  });

  it('are far above a batch of many small calls, and a transaction with many inputs', () => {
    const inputs = listOf(`{"txid":"${'00'.repeat(32)}","vout":0,"sequence":1}`, 24_000);
    expect(messageOf(`{"method":"createrawtransaction","params":[${inputs},[]]}`)).to.equal(undefined);
    expect(callsIn(listOf('{"jsonrpc":"2.0","id":1,"method":"getblockhash","params":[1,2]}', 100_000))).to.have.length(100_000);
  });
});

describe('a body', () => {
  it('is read if JSON.parse reads it, and otherwise a parse error', () => {
    const pieces = fc.array(
      fc.constantFrom('[', ']', '{', '}', ',', ':', '"', '\\', '1', ' ', '{}', '[]', '"id"', '"a":1', '"id":2', '{"method":"m"}', '\\"')
    );
    const calls = fc.array(fc.constantFrom('{}', '{"id":[1,{"id":2}]}', '1', '""', '[]'), { maxLength: 4 });
    const lists = fc
      .tuple(calls, space, fc.constantFrom(',', ', ', ' ', ',,'))
      .map(([items, blank, comma]) => `${blank}[${items.join(comma)}${blank}]${blank}`);
    const texts = fc.oneof(
      pieces.map((all) => all.join('')),
      lists,
      fc.tuple(lists, pieces).map(([list, more]) => `${list}${more.join('')}`)
    );
    fc.assert(
      fc.property(texts, (text) => {
        let json: unknown;
        let isJson = true;
        try {
          json = JSON.parse(text);
        } catch {
          isJson = false;
        }
        const calls = callsIn(text);
        const isRefused = calls.some((call) => 'error' in call && call.error.message === 'Parse error');
        expect(isRefused, text).to.equal(!isJson);
        if (isJson) expect(calls.length, text).to.equal(Array.isArray(json) ? json.length : 1);
        const { requests } = readMessage(Buffer.from(text));
        expect(
          requests.some((request) => 'error' in request && request.error.message === 'invalid JSON'),
          text
        ).to.equal(!isJson);
      }),
      { numRuns: 2_000 }
    );
  });

  it('has no half of a surrogate pair in escapes', () => {
    const escape = fc.constantFrom('\\ud83d', '\\uDE00', '\\uDBff', '\\udc00', '\\\\', '\\n', 'ud83d', 'a', '\\u0041', '\\"');
    fc.assert(
      fc.property(fc.array(escape), (escapes) => {
        const text = `"${escapes.join('')}"`;
        expect(scanned(`[[${text}]]`).hasHalfAPair, text).to.equal(/\p{Surrogate}/u.test(JSON.parse(text) as string));
      })
    );
  });
});
