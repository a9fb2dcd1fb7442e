// Compares replies with the recorded answers of Bitcoin Core 0.17 and 31 about chain A, byte for byte: status, names and order of headers,
// Content-Type, Content-Length and body; Cache-Control, which only 31 sends. The node has the address prefixes of the recorded one
// (withCoreAddresses), so that checksums count. Values that belong to the node itself are masked, each with its reason; where the service
// deliberately differs (docs/differences.md), its own answer is expected.

import { METHODS } from 'node:http';
import { bech32, bech32m } from '@scure/base';
import { after, before } from 'mocha';
import { scanBlock } from '../../../lib/bitcoin/block';
import { isUnder } from '../../../lib/server/http/mount';
import { filterBinary, filterJson } from '../../../lib/views/filter';
import { bcoin } from '../bcoin/bcoin';
import { chainABlocks, coreRegtestPrefixes, recordedBody, type RecordedAnswer } from '../chain/chain-a';
import { filterFrom } from '../index/filters';
import { askInOneWrite, type RawReply, type RawRequest } from '../client/http';
import { blockHash } from '../chain/made-blocks';
import type { ProfileReplies } from '../../../lib/views/profile';

/** Values that differ between sound nodes: they must exist, with the same type. */
const VARYING: readonly { readonly endpoint: string; readonly value: RegExp; readonly why: string }[] = [
  { endpoint: 'chaininfo', value: /(?<="size_on_disk":)\d+/g, why: 'bytes of block files: depends on the store' },
  { endpoint: 'chaininfo', value: /(?<="verificationprogress":)[\d.e-]+/g, why: 'an estimate' },
  { endpoint: 'chaininfo', value: /(?<="initialblockdownload":)(?:true|false)/g, why: 'the wall clock against the age of the tip' },
  { endpoint: 'chaininfo', value: /(?<="warnings":)(?:"[^"]*"|\[[^\]]*)/g, why: 'free texts about the software' },
  { endpoint: 'chaininfo', value: /(?<="(?:startTime|timeout)":)-?\d+/g, why: 'deployment parameters of regtest differ between nodes' },
  {
    endpoint: 'chaininfo',
    value: /(?<="segwit":\{[^{}]*"since":)\d+/g,
    why: 'always active on the reference regtest, signalled elsewhere'
  },
  { endpoint: 'mempool-info', value: /(?<="usage":)\d+/g, why: 'memory, depends on the implementation' },
  { endpoint: 'mempool-info', value: /(?<="maxmempool":)\d+/g, why: 'a setting' },
  { endpoint: 'mempool-contents', value: /(?<="time":)\d+/g, why: 'wall clock at acceptance' },
  { endpoint: 'mempool-contents', value: /(?<="mempool_sequence":)\d+/g, why: 'a counter of the process' },
  {
    endpoint: 'deploymentinfo',
    value: /(?<="(?:csv|segwit)":)\{"type":"bip9",(?:"height":\d+,)?"active":(?:true|false),"bip9":\{[^{}]*(?:\{[^{}]*\}[^{}]*)?\}\}/g,
    why: 'buried on the recorded regtest, signalled on that of bcoin'
  }
];

/** An entry of the pool: the order in which 0.17 has them differs between processes. */
const POOL_ENTRY = /"[0-9a-f]{64}":\{"fees":\{[^{}]*\}[^{}]*\}/g;

/** bcoin 1.x deletes the undo data of a block when it disconnects the block. */
const forgetsSpent = /^v?1\./.test(bcoin.pkg.version);

/** Heights at which the soft forks are active on bcoin's regtest. If 0, segwit does not wait for signals. */
const HEIGHTS = { csv: 432, segwit: forgetsSpent ? 432 : 0 } as const;

/** The rules of blocks on bcoin's regtest, and the first block for which each holds; bcoin does not know TAPROOT. */
const RULES: readonly (readonly [name: string, height: number])[] = [
  ['CHECKSEQUENCEVERIFY', HEIGHTS.csv],
  ['NULLDUMMY', HEIGHTS.segwit],
  ['P2SH', 0],
  ['WITNESS', HEIGHTS.segwit]
];

/** Soft forks that are buried on bcoin's regtest at its own heights. None of the recorded blocks is that high. */
const BURIED = [
  ['bip34', 100_000_000],
  ['bip66', 1_251],
  ['bip65', 1_351]
] as const;

interface ExpectedReply {
  readonly status: number;
  readonly contentType: string | null;
  /** undefined: no such header. */
  readonly cacheControl: string | undefined;
  readonly body: Buffer;
  /** Length of the body, even if the body is not sent; undefined: it depends on the node. */
  readonly length: number | undefined;
}

/** How the node's edition replies. */
type Replies = Pick<ProfileReplies, 'cacheControl'>;

/** For the tests of a group, nodes on regtest write addresses, and descriptors with their checksums, as Bitcoin Core does. */
export function withCoreAddresses(): void {
  const regtest = bcoin.Network.get('regtest');
  const { addressPrefix } = regtest;
  before(() => {
    regtest.addressPrefix = { ...addressPrefix, ...coreRegtestPrefixes };
  });
  after(() => {
    regtest.addressPrefix = addressPrefix;
  });
}

/**
 * Odd framing of HTTP itself is left to the HTTP server, and Node.js refuses unknown methods and targets beyond ASCII before the service sees
 * them.
 */
export function isForService({ method, path, tags }: RecordedAnswer): boolean {
  return method !== 'CONNECT' && METHODS.includes(method) && /^[!-~]*$/.test(path) && !tags.includes('transport');
}

/** Connections at a time, and requests on each: together fewer than the slots and the queue hold. */
const CLIENTS = 2;
const TOGETHER = 4;

/** Asks for everything again. @returns what differs */
export async function differencesFrom(answers: readonly RecordedAnswer[], port: number, replies: Replies): Promise<string[]> {
  const differences: string[] = [];
  const remaining = inGroups(answers, TOGETHER).values();
  const client = async (): Promise<void> => {
    for (const some of remaining) {
      const got = await askInOneWrite(port, some.map(requestOf));
      for (const [i, answer] of some.entries()) {
        const reply = got[i];
        const difference = reply === undefined ? 'no reply' : differenceFrom(answer, reply, replies);
        if (difference !== undefined) differences.push(`${answer.id}: ${difference}`);
      }
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return differences;
}

const requestOf = ({ method, path, headers = {}, requestBodyHex }: RecordedAnswer): RawRequest => ({
  method,
  path,
  headers,
  body: requestBodyHex === undefined ? undefined : Buffer.from(requestBodyHex, 'hex')
});

const inGroups = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));

/** undefined: the reply is as recorded. */
export function differenceFrom(answer: RecordedAnswer, reply: RawReply, { cacheControl }: Replies): string | undefined {
  const recorded = expectedReply(answer);
  // Other paths are the node's own.
  if (!isUnder('/rest', answer.path))
    return recorded.status === reply.status ? undefined : `expected ${recorded.status}, got ${reply.status}`;
  // 0.17 has no Cache-Control.
  const expected = cacheControl ? recorded : { ...recorded, cacheControl: undefined };
  const got = { ...reply, cacheControl: reply.headers['cache-control'], length: lengthOf(reply) };
  const names = headerNames(reply, cacheControl);
  const isSame =
    expected.status === got.status &&
    expected.contentType === got.contentType &&
    expected.cacheControl === got.cacheControl &&
    names === expectedHeaderNames(expected) &&
    isOfItsLength(answer, expected, reply) &&
    (expected.contentType === 'application/json'
      ? comparable(inBech32m(expected.body.toString()), answer) === comparable(got.body.toString(), answer)
      : expected.body.equals(got.body));
  return isSame ? undefined : `expected ${shown(expected)}, got ${shown(got)} with ${names}`;
}

/** NaN where there is none. */
const lengthOf = ({ headers }: RawReply): number => Number(headers['content-length']);

function isOfItsLength({ method }: RecordedAnswer, expected: ExpectedReply, reply: RawReply): boolean {
  const length = lengthOf(reply);
  if (method !== 'HEAD' && length !== reply.body.length) return false;
  return expected.length === undefined ? length > 0 : length === expected.length;
}

/** Names in their order. Node.js appends its own headers; if the edition has no order of its own, Date is one of these. */
function headerNames({ headers }: RawReply, withDate: boolean): string {
  // Which state it is of is said beside what the reference says.
  const ofNode = ['x-rest-tip', 'etag', 'connection', 'keep-alive', ...(withDate ? [] : ['date'])];
  return Object.keys(headers)
    .filter((name) => !ofNode.includes(name))
    .join(', ');
}

function expectedHeaderNames({ status, contentType, cacheControl }: ExpectedReply): string {
  // RFC 9110 (15.5.6) asks for Allow, which the reference leaves out.
  const allow = status === 405 ? ['allow'] : [];
  const type = contentType === null ? [] : ['content-type'];
  const rest = cacheControl === undefined ? [...type, 'content-length'] : ['cache-control', ...type, 'date', 'content-length'];
  return [...allow, ...rest].join(', ');
}

/** The recorded reply, changed where the service deliberately differs. */
function expectedReply(answer: RecordedAnswer): ExpectedReply {
  const { status, contentType, spec, method, path, tags } = answer;
  const [endpoint, kind] = tags;
  const isHead = method === 'HEAD';
  const reply = (code: number, type: string | null, body: Buffer): ExpectedReply => {
    return { status: code, contentType: type, cacheControl: 'no-store', body: isHead ? Buffer.alloc(0) : body, length: body.length };
  };
  const notFound = (message: string): ExpectedReply => reply(404, 'text/plain', Buffer.from(`${message}\r\n`));
  // The reference's dispatcher sends empty pages. NBitcoin reads two bytes from the end of every text, so an unknown path has a text.
  if (contentType === null || contentType.startsWith('text/html'))
    return status === 404 ? notFound('Not found') : reply(status, null, Buffer.alloc(0));
  if (spec !== undefined)
    return reply(
      spec.status,
      spec.contentType,
      spec.bodyBase64 === undefined ? Buffer.from(spec.body ?? '') : Buffer.from(spec.bodyBase64, 'base64')
    );
  const [hash = ''] = /[0-9a-fA-F]{64}/.exec(path) ?? [];
  // The index is the state of the active chain.
  if (endpoint === 'tx' && kind === 'stale' && status === 200) return notFound(`${hash} not found`);
  const block = chainABlocks().find((one) => one.stale && one.hash === hash.toLowerCase());
  const spends = block !== undefined && scanBlock(block.raw).transactions.length > 1;
  if (block !== undefined && endpoint === 'spenttxouts') {
    if (status === 200 && spends && forgetsSpent) return notFound(`${hash} undo not available`);
    // The block was never connected. It spends nothing, so that its undo data is not needed.
    if (path.endsWith('.bin') && !spends) return reply(200, 'application/octet-stream', Buffer.from([1, 0]));
    if (path.endsWith('.hex') && !spends) return reply(200, 'text/plain', Buffer.from('0100\n'));
    if (path.endsWith('.json') && !spends) return reply(200, 'application/json', Buffer.from('[[]]\n'));
  }
  if (block !== undefined && endpoint === 'blockfilter') {
    if (status === 200 && spends && forgetsSpent) return notFound('Filter not found. Block was not connected to active chain.');
    // The block was never connected. It spends nothing, so that its filter can be made.
    if (status === 404 && !spends) {
      const filter = filterFrom(block.raw, []);
      if (path.endsWith('.json')) return reply(200, 'application/json', filterJson(filter));
      const bytes = filterBinary(blockHash(block.raw), filter);
      if (path.endsWith('.bin')) return reply(200, 'application/octet-stream', bytes);
      if (path.endsWith('.hex')) return reply(200, 'text/plain', Buffer.from(`${bytes.toString('hex')}\n`));
    }
  }
  // Off the active chain nothing is immutable, nor are answers that the next version of the node may give in another form.
  const mayChange = block !== undefined || endpoint === 'deploymentinfo';
  const varies = contentType === 'application/json' && VARYING.some((varying) => varying.endpoint === endpoint);
  const body = decidedBody(answer, block !== undefined);
  const cacheControl = mayChange ? 'no-store' : answer.cacheControl;
  // 0.17 sends no length, and the whole body after the headers.
  const headLength = Number(answer.contentLength ?? answer.bytesAfterHead);
  return { status, contentType, cacheControl, body, length: varies ? undefined : isHead ? headLength : body.length };
}

function decidedBody(answer: RecordedAnswer, isStale: boolean): Buffer {
  const body = recordedBody(answer);
  const [endpoint] = answer.tags;
  if (answer.contentType !== 'application/json') return body;
  if (endpoint === 'deploymentinfo') return Buffer.from(withOwnForks(body.toString()));
  return endpoint === 'block' && isStale && forgetsSpent ? Buffer.from(withoutSpent(body.toString())) : body;
}

/** The soft forks are those of the node's own chain; where bcoin counts signals they vary. */
function withOwnForks(text: string): string {
  const height = Number(/"height":(\d+)/.exec(text)?.[1]);
  // No rules apply to the genesis block.
  const rules = RULES.flatMap(([name, first]) => (height > 0 && height >= first ? [`"${name}"`] : []));
  const buried = BURIED.map(([name, first]) => `"${name}":{"type":"buried","active":false,"height":${first}}`);
  return text
    .replace(/(?<="script_flags":\[)[^\]]*/, rules.join())
    .replace(/"bip34":.*(?=,"csv":)/, buried.join())
    .replace(/(?<="(?:csv|segwit)":)\{[^{}]*\}/g, '*')
    .replace(/(?<="timeout":)9223372036854775807/, '4294967295');
}

function withoutSpent(text: string): string {
  return text.replace(/"prevout":\{[^{}]*\{[^{}]*\}\},/g, '').replace(/"fee":[\d.]+,/g, '');
}

function comparable(text: string, { tags: [endpoint], cacheControl }: RecordedAnswer): string {
  const masked = VARYING.filter((varying) => varying.endpoint === endpoint).reduce((left, { value }) => left.replace(value, '*'), text);
  if (endpoint !== 'mempool-contents' || cacheControl !== undefined) return masked;
  const entries = (masked.match(POOL_ENTRY) ?? []).sort();
  return `${masked.replace(POOL_ENTRY, '*')}\n${entries.join('\n')}`;
}

/**
 * 0.17 writes addresses of witness version 1 and above in bech32; the service writes bech32m, as BIP350 requires. @returns the recorded text
 * with such addresses converted; every other byte stays
 */
export function inBech32m(text: string): string {
  return text.replace(/"((?:bc|tb|bcrt)1[02-9ac-hj-np-z]{6,87})"/g, (whole, address: string) => {
    const decoded = bech32.decodeUnsafe(address);
    return decoded === undefined || decoded.words[0] === 0 ? whole : `"${bech32m.encode(decoded.prefix, decoded.words)}"`;
  });
}

const shown = ({ status, contentType, cacheControl, body, length }: ExpectedReply): string =>
  `${status} ${String(contentType)} ${String(cacheControl)} ${String(length)} ${JSON.stringify(body.subarray(0, 400).toString('latin1'))}`;
