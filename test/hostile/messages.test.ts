// Every public message type of every interface with hostile values, beside an honest client: its answers stay right, no message holds the
// event loop, and no memory is kept.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { WebSocket } from 'ws';
import { esploraRoutes } from '../../lib/esplora/routes';
import { restRoutes } from '../../lib/rest/routes';
import { CALLS } from '../../lib/rpc/call-table';
import { requestBytes, untilClosed } from '../support/client/http';
import { MethodCaller } from '../support/node/method-caller';
import { basic } from '../support/client/rpc';
import { ServedNode } from '../support/node/served-node';
import { Trial, type Attack } from './trial';
import type { MeteredFacts } from '../support/programs/metered-node';

// What a hostile client writes where a protocol expects a value.

/** Below the limits of all interfaces: what is longer is refused without being looked at. */
const LONG = 900_000;

/** For messages of which there are hundreds. */
const SHORTER = 48_000;

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
const HOSTILE_MESSAGES: readonly string[] = [
  ...Object.values(hostileJson(LONG)),
  // Ids come back as they were written.
  `{"id":[${'"",'.repeat(LONG / 3)}0],"method":"x"}`,
  `{"id":{${Array.from({ length: LONG / 12 }, (_, i) => `"${i}":""`).join(',')}},"method":"x"}`
];

/** Parts of messages as JSON text. */
const HOSTILE_JSON: readonly string[] = Object.values(hostileJson(SHORTER));

/** Values in a path or query of HTTP, whose length Node.js bounds. */
const HOSTILE_PATHS: Readonly<Record<string, string>> = {
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

/** In a body of JSON-RPC, which may be as long as Bitcoin Core's. */
const MANY_VALUES = 4_000_000;

const ACCOUNT = 'hostile:user';

const KINDS_TOGETHER = 12;

const REQUESTS_TOGETHER = 8;

/** Hostile clients come from another address than the honest one. */
const FROM = '127.0.0.2';

/** What asks for something: its name, and requests of this kind with a hostile value at each place where a value stands. */
interface Kind {
  readonly name: string;
  readonly requests: readonly Buffer[];
}

describe('hostile values in every message are answered, and harm nothing', function () {
  this.timeout(300_000);
  let plain: ServedNode;
  let trial: Trial;

  before(async () => {
    plain = await ServedNode.open();
    trial = await Trial.open({ 'rest-core': 'modern', 'rest-filters': true, 'rest-rpc-user': ACCOUNT, 'api-key': 'a key' });
  });
  after(async () => {
    await trial.close();
    await plain.node.close();
  });

  /** Sends the requests of all kinds, and judges some kinds together: looking at the memory takes as long as sending those of one. */
  async function judge(kinds: readonly Kind[], send: (requests: readonly Buffer[]) => Promise<void>): Promise<void> {
    for (const { name, requests } of kinds) expect(requests, name).to.have.length.above(0);
    const attacks: Attack[] = [];
    for (let from = 0; from < kinds.length; from += KINDS_TOGETHER) {
      const some = kinds.slice(from, from + KINDS_TOGETHER);
      attacks.push({
        name: some.map(({ name }) => name).join(', '),
        begin: async () => {
          for (const { requests } of some) await send(requests);
          return undefined;
        }
      });
    }
    await trial.judge(attacks);
  }

  it('over REST, in paths, queries and bodies', async () => {
    const { facts } = trial;
    const prefixes = restRoutes(plain.answers).map(({ prefix }) => prefix);
    const inPaths = prefixes.map((prefix) => ({
      name: prefix,
      requests: Object.values(HOSTILE_PATHS).flatMap((hostile) =>
        [`${prefix}${hostile}.json`, `${prefix}${facts.blockHash}.bin?count=${hostile}`, `${prefix}${hostile}/${facts.txid}`].map((path) =>
          requestBytes({ path }, false)
        )
      )
    }));
    await judge(inPaths, (requests) => overHttpTogether(facts, requests));
    const inBodies = prefixes.map((prefix) => ({
      name: prefix,
      requests: HOSTILE_JSON.map((hostile) => requestBytes({ method: 'POST', path: `${prefix}.bin`, body: Buffer.from(hostile) }, true))
    }));
    await judge(inBodies, (requests) => overHttp(facts, requests));
  });

  it('over JSON-RPC, in parameters by position and by name, and batches', async () => {
    const { facts } = trial;
    const headers = basic(ACCOUNT);
    const post = (body: string): Buffer => requestBytes({ method: 'POST', path: '/', headers, body: Buffer.from(body) }, false);
    const kinds = [...CALLS].map(([name, { parameters }]) => ({
      name,
      requests: [
        ...hostileParameters(
          parameters.map((parameter) => parameter.name.split('|')[0] ?? ''),
          facts
        ).map((params) => post(`{"id":1,"method":"${name}","params":${params}}`)),
        post(batchOf(`{"id":1,"method":"${name}"}`))
      ]
    }));
    const frames = HOSTILE_MESSAGES.flatMap((hostile) => [
      post(hostile),
      post(`{"id":${hostile},"method":"getblockcount"}`),
      post(`{"id":1,"method":${hostile}}`),
      post(`{"id":1,"method":"getblockcount","params":${hostile}}`)
    ]);
    // Texts with a character beyond 16 bits in escapes are looked through for halves of one.
    const manyValues = post(`{"id":1,"method":"getblockcount","params":["\\ud83d\\ude00"${',0'.repeat(MANY_VALUES)}]}`);
    await judge(
      [{ name: 'the frame of a call', requests: [...frames, manyValues] }, ...kinds.filter(({ name }) => name !== 'waitfornewblock')],
      (requests) => overHttpTogether(facts, requests)
    );
  });

  it('over Esplora’s API, in paths, queries and bodies', async () => {
    const { facts } = trial;
    const routes = esploraRoutes({ ...plain.answers, broadcast: true, mining: false, list: undefined, maxUnspent: 500, version: '1.0.0' });
    const known = (path: string): string => `/api${path.replaceAll(/:\w+/g, (name) => legitimateSegment(name, facts))}`;
    const inPaths = routes
      .filter(({ method }) => method === 'GET')
      .map(({ path }) => {
        const paths = Object.values(HOSTILE_PATHS).flatMap((hostile) => [
          `/api${path.replaceAll(/:\w+/g, hostile)}`,
          `${known(path)}?txids=${hostile}&tx=${hostile}`,
          `${known(path)}/${hostile}`
        ]);
        // A path without parameters is the same with all of them.
        return { name: path, requests: [...new Set(paths)].map((one) => requestBytes({ path: one }, false)) };
      });
    await judge(inPaths, (requests) => overHttpTogether(facts, requests));
    const bodies = [...HOSTILE_JSON, facts.raw, `["${facts.raw}"${`,"${facts.raw}"`.repeat(10)}]`];
    const inBodies = routes
      .filter(({ method }) => method !== 'GET')
      .map(({ method, path }) => ({
        name: `${method} ${path}`,
        requests: bodies.map((hostile) => requestBytes({ method, path: known(path), body: Buffer.from(hostile) }, true))
      }));
    await judge(inBodies, (requests) => overHttp(facts, requests));
  });

  it('over the Electrum protocol, in parameters by position and by name, and batches', async () => {
    const { facts } = trial;
    const methods = { ...new MethodCaller(plain).table, 'server.version': { parameters: ['client_name', 'protocol_version'] } };
    const frames = HOSTILE_MESSAGES.flatMap((hostile) => [
      hostile,
      `{"id":${hostile},"method":"server.ping"}`,
      `{"id":1,"method":${hostile}}`,
      `{"id":1,"method":"server.ping","params":${hostile}}`,
      batchOf(`{"id":1,"method":"server.ping","params":${hostile.length < 100 ? hostile : '[]'}}`)
    ]);
    const kinds = Object.entries(methods).map(([name, method]) => ({
      name,
      requests: [
        ...hostileParameters(method.parameters, facts).map((params) => `{"id":1,"method":"${name}","params":${params}}`),
        batchOf(`{"id":1,"method":"${name}","params":[${method.parameters.map((one) => legitimate(one, facts)).join(',')}]}`)
      ].map((text) => Buffer.from(text))
    }));
    const all = [{ name: 'the frame of a request', requests: frames.map((text) => Buffer.from(text)) }, ...kinds];
    await judge(all, (requests) => overLines(facts, requests));
    await judge(all.slice(0, 1), (requests) =>
      overFrames(`ws://127.0.0.1:${facts.http}/electrum`, requests, '{"id":"end","method":"server.ping"}', '"end"')
    );
  });

  it('over mempool’s WebSocket, in every field', async () => {
    const { facts } = trial;
    const fields = ['action', 'data', 'track-tx', 'track-address', 'track-addresses', 'track-scriptpubkeys'];
    const spelled = Array.from({ length: 10_000 }, (_, i) =>
      Array.from(facts.script, (digit, at) => ((i >> (at % 14)) & 1 ? digit.toUpperCase() : digit)).join('')
    );
    const many = Array.from({ length: 10_000 }, (_, i) => `0014${i.toString(16).padStart(40, '0')}`);
    const values = [...HOSTILE_MESSAGES, JSON.stringify(spelled), JSON.stringify(many), JSON.stringify(many.map(() => facts.address))];
    const kinds = fields.map((field) => ({
      name: field,
      requests: values
        .flatMap((value) => [`{"${field}":${value}}`, `{"action":"want","${field}":${value}}`])
        .map((text) => Buffer.from(text))
    }));
    const frames = { name: 'the frame of a request', requests: values.map((text) => Buffer.from(text)) };
    await judge([frames, ...kinds], (requests) =>
      overFrames(`ws://127.0.0.1:${facts.http}/api/v1/ws`, requests, '{"action":"ping"}', '"pong"')
    );
  });
});

/** JSON texts of parameters with a hostile value at one place, and legitimate ones at the others: each at the first, a third at each other. */
function hostileParameters(names: readonly string[], facts: MeteredFacts): string[] {
  const values = names.map((name) => legitimate(name, facts));
  return HOSTILE_JSON.flatMap((hostile, kind) => [
    hostile,
    `{${names.map((name, i) => `"${name}":${i === 0 ? hostile : values[i]}`).join(',')}}`,
    ...names.flatMap((_, i) =>
      i > 0 && (kind + i) % 3 > 0 ? [] : `[${[...values.slice(0, i), hostile, ...values.slice(i + 1)].join(',')}]`
    )
  ]);
}

/** A value of JSON that makes sense for a parameter of this name. */
function legitimate(name: string, { txid, raw, blockHash, height, electrumHash }: MeteredFacts): string {
  if (/^(txid|tx_hash)$/.test(name)) return `"${txid}"`;
  if (/^(blockhash|current_tip)$/.test(name)) return `"${blockHash}"`;
  if (/^(hexstring|raw_tx)$/.test(name)) return `"${raw}"`;
  if (/^(package|rawtxs|raw_txs)$/.test(name)) return `["${raw}"]`;
  if (/^(height|start_height)$/.test(name)) return String(height);
  if (name === 'scripthash') return `"${electrumHash}"`;
  return /^(count|number|conf_target|verbosity|n|tx_pos|timeout)$/.test(name) ? '1' : 'null';
}

/** A segment of a path that makes sense for a parameter of this name. */
function legitimateSegment(name: string, { txid, blockHash, height, scripthash }: MeteredFacts): string {
  const values: Readonly<Record<string, string>> = { ':txid': txid, ':hash': blockHash, ':height': String(height), ':script': scripthash };
  return values[name] ?? '0';
}

/** As many of a request as fit into what an interface reads. */
const batchOf = (request: string): string =>
  `[${Array<string>(Math.min(1_000, Math.floor(900_000 / request.length)))
    .fill(request)
    .join(',')}]`;

async function connectFrom(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: FROM, noDelay: true });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Each request on a connection of its own, and all of its reply read. One whose body is not read is reset after the reply. */
async function overHttp({ http }: MeteredFacts, requests: readonly Buffer[]): Promise<void> {
  for (const request of requests) {
    const socket = await connectFrom(http);
    socket.write(request);
    await untilClosed(socket);
  }
}

/** Some requests on each connection: they are well-formed, only what they ask for is hostile. */
async function overHttpTogether({ http }: MeteredFacts, requests: readonly Buffer[]): Promise<void> {
  const end = requestBytes({ path: '/rest/chaininfo.json' }, true);
  for (let from = 0; from < requests.length; from += REQUESTS_TOGETHER) {
    const socket = await connectFrom(http);
    const answered = untilSaid(socket, '"bestblockhash"');
    socket.write(Buffer.concat([...requests.slice(from, from + REQUESTS_TOGETHER), end]));
    expect(await answered, 'whether all requests were read').to.equal(true);
    socket.destroy();
  }
}

/** All requests on one connection, and on another one when the server closes it. */
async function overLines({ electrum }: MeteredFacts, requests: readonly Buffer[]): Promise<void> {
  const END = Buffer.from('\n{"id":"end","method":"server.ping"}\n');
  let socket: Socket | undefined;
  for (const request of requests) {
    if (socket === undefined || socket.destroyed) socket = await connectFrom(electrum);
    const answered = untilSaid(socket, '"end"');
    socket.write(request);
    socket.write(END);
    await answered;
  }
  socket?.destroy();
}

/** Resolves when the text has come, or the connection is closed: false. */
function untilSaid(socket: Socket, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    let tail = '';
    const end = (): void => {
      socket.off('data', listen).off('close', end);
      resolve(tail.includes(text));
    };
    const listen = (chunk: Buffer): void => {
      tail = (tail + chunk.toString('latin1')).slice(-text.length - chunk.length);
      if (tail.includes(text)) end();
    };
    socket.on('data', listen).on('close', end);
  });
}

async function overFrames(url: string, requests: readonly Buffer[], ending: string, ended: string): Promise<void> {
  let socket: WebSocket | undefined;
  for (const request of requests) {
    if (socket?.readyState !== WebSocket.OPEN) {
      socket = new WebSocket(url, { localAddress: FROM });
      socket.on('error', () => undefined);
      await once(socket, 'open');
    }
    const current = socket;
    const answered = new Promise<void>((resolve) => {
      const end = (): void => {
        current.off('message', listen).off('close', end);
        resolve();
      };
      const listen = (data: Buffer): void => {
        if (data.includes(ended)) end();
      };
      current.on('message', listen).on('close', end);
    });
    current.send(request, { binary: false });
    current.send(ending);
    await answered;
  }
  socket?.terminate();
}
