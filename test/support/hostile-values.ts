// What a hostile client writes where a protocol expects a value.

/** Below the limits of all interfaces: what is longer is refused without being looked at. */
const LONG = 900_000;

/** For messages of which there are hundreds. */
const SHORTER = 120_000;

/** `bytes`: of long values. */
function hostileJson(bytes: number): Readonly<Record<string, string>> {
  const depth = bytes / 9;
  return {
    null: 'null',
    'a flag': 'true',
    'a negative number': '-1',
    'a negative zero': '-0',
    'a number beyond 2^53': '9007199254740993',
    'a huge number': '1e308',
    'a fraction': '0.5',
    'an empty text': '""',
    'a zero byte': '"\\u0000"',
    'half of a surrogate pair': '"\\ud800"',
    'a name of JavaScript': '"__proto__"',
    'a long text': `"${'x'.repeat(bytes)}"`,
    'long hex': `"${digits(bytes)}"`,
    'text in escapes': `"${'\\u0061'.repeat(bytes / 6)}"`,
    'deep arrays': `${'['.repeat(depth)}${']'.repeat(depth)}`,
    'deep objects': `${'{"a":'.repeat(depth)}0${'}'.repeat(depth)}`,
    'a long array': `[${'0,'.repeat(bytes / 2)}0]`,
    'an array of empty arrays': `[${'[],'.repeat(bytes / 3)}[]]`,
    'an object with many names': `{${Array.from({ length: bytes / 12 }, (_, i) => `"${i}":0`).join(',')}}`,
    'an object with a name of JavaScript': '{"__proto__":{"length":1e9},"constructor":1,"toString":2}'
  };
}

const digits = (count: number): string => '0123456789abcdef'.repeat(count / 16);

/** Whole messages as JSON text. */
export const HOSTILE_MESSAGES: readonly string[] = Object.values(hostileJson(LONG));

/** Parts of messages as JSON text. */
export const HOSTILE_JSON: readonly string[] = Object.values(hostileJson(SHORTER));

/** Values in a path or query of HTTP, whose length Node.js bounds. */
export const HOSTILE_PATHS: Readonly<Record<string, string>> = {
  nothing: '',
  'a negative number': '-1',
  'a number beyond 2^53': '9007199254740993',
  'a huge number': '9'.repeat(4_000),
  'a fraction': '0.5',
  'long hex': digits(8_000),
  'a broken escape': '%',
  'a zero byte': '%00',
  'a way up': '..%2f..%2f..%2fetc/passwd',
  'many slashes': '/'.repeat(8_000),
  'many dots': '.'.repeat(8_000),
  'many escapes': '%2e'.repeat(2_500),
  'a hash of zeros': '0'.repeat(64),
  'a hash of ones': 'f'.repeat(64),
  'many commas': ','.repeat(8_000),
  'many parameters': `?${'a=1&'.repeat(2_000)}`,
  'many outpoints': `${'0'.repeat(64)}-0/`.repeat(100)
};
