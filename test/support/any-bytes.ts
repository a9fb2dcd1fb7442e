// Bytes that a stranger may send to an HTTP server: requests, pipelined, whole or incomplete, with
// all features of HTTP, changed bytes and noise; the number of writes; and the end of the connection.

import fc from 'fast-check';

export interface Stranger {
  /** Parts that are written in separate turns. */
  readonly writes: readonly Buffer[];
  /** Whether the client reads the replies. */
  readonly reads: boolean;
  /** Turns of the event loop after the last write until the client closes the connection. */
  readonly stays: number;
  readonly leaves: 'end' | 'destroy' | 'resetAndDestroy';
}

/** Calls that do not stop the node or make it work for long. */
const NODE_CALLS = ['getblockcount', 'getbestblockhash', 'getmempoolinfo', 'nothing'].map((method) =>
  JSON.stringify({ method, params: [] })
);

const method = fc.oneof(
  { weight: 6, arbitrary: fc.constant('GET') },
  { weight: 4, arbitrary: fc.constant('POST') },
  { weight: 2, arbitrary: fc.constantFrom('PUT', 'HEAD', 'DELETE', 'OPTIONS', 'CONNECT', 'PRI', 'get', 'X') }
);

const header = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      'Connection: Upgrade\r\nUpgrade: h2c\r\n',
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==\r\n'
    )
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'Connection: close\r\n',
      'Connection: keep-alive\r\n',
      'Connection: upgrade\r\n',
      'Upgrade: h2c\r\n',
      'Expect: 100-continue\r\n',
      'Expect: it\r\n'
    )
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'Content-Length: 10\r\n',
      'Content-Length: 0\r\n',
      'Content-Length: -1\r\n',
      'Content-Length: 2000000\r\n',
      'Transfer-Encoding: chunked\r\n',
      'Transfer-Encoding: x\r\n'
    )
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'Authorization: Basic eDp4\r\n',
      'Content-Type: application/json\r\n',
      'X: \u00ff\r\n',
      ': x\r\n',
      'X: a\r\n b\r\n',
      `X: ${'x'.repeat(17_000)}\r\n`,
      'a:\r\n'.repeat(1_100)
    )
  }
);

/** A body and the header that announces it, correct or not. */
const framed = fc.oneof(
  { weight: 4, arbitrary: fc.constant('\r\n') },
  {
    weight: 3,
    arbitrary: fc
      .oneof(fc.string({ unit: 'binary-ascii', maxLength: 40 }), fc.constantFrom(...NODE_CALLS))
      .map((body) => `Content-Length: ${body.length}\r\n\r\n${body}`)
  },
  {
    weight: 2,
    arbitrary: fc
      .string({ unit: 'binary-ascii', maxLength: 20 })
      .map((body) => `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`)
  },
  { weight: 1, arbitrary: fc.constantFrom('Transfer-Encoding: chunked\r\n\r\nzz\r\n', 'Content-Length: 30\r\n\r\nabc') }
);

/** Arbitrary clients that know these paths. */
export function strangers(paths: readonly string[]): fc.Arbitrary<Stranger> {
  const path = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...paths) },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...paths), fc.string({ maxLength: 10 })).map((parts) => parts.join('')) }
  );
  const request = fc
    .tuple(
      method,
      path,
      fc.constantFrom('1.1', '1.1', '1.1', '1.1', '1.0', '2.0'),
      fc.constantFrom('Host: x\r\n', 'Host: x\r\n', 'Host: x\r\n', ''),
      fc.array(header, { maxLength: 2 }),
      framed
    )
    .map(([name, target, version, host, headers, rest]) => `${name} ${target} HTTP/${version}\r\n${host}${headers.join('')}${rest}`);
  const piece = fc.oneof({ weight: 12, arbitrary: request }, { weight: 1, arbitrary: fc.string({ unit: 'binary-ascii', maxLength: 60 }) });
  return fc
    .record({
      text: fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join('')),
      /** A byte that is changed or left out, at a place given as a share of the length. */
      damage: fc.option(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom('', '\0', '\r', '\n', ' ', 'x')), { freq: 8 }),
      cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 2 }),
      reads: fc.integer({ min: 0, max: 5 }).map((roll) => roll > 0),
      stays: fc.constantFrom(0, 1, 3, 10, 30),
      leaves: fc.constantFrom('end' as const, 'destroy' as const, 'resetAndDestroy' as const)
    })
    .map(({ text, damage, cuts, ...rest }) => {
      const at = damage === null ? 0 : Math.floor(damage[0] * text.length);
      const bytes = Buffer.from(damage === null ? text : `${text.slice(0, at)}${damage[1]}${text.slice(at + 1)}`, 'latin1');
      const places = [0, ...cuts.map((share) => Math.floor(share * bytes.length)).sort((a, b) => a - b), bytes.length];
      return { ...rest, writes: places.slice(1).map((end, i) => bytes.subarray(places[i], end)) };
    });
}
