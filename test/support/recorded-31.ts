// Compares a reply with what Bitcoin Core 31 was recorded to answer: status, the names and the order of its headers, Content-Type,
// Cache-Control, Content-Length and body, byte for byte. The node spells addresses as the recorded one does (coreRegtestPrefixes): nothing
// is respelled, and checksums count. What belongs to the node itself is masked, each with its reason; where we decided otherwise
// (docs/differences.md) the decision is expected.

import { METHODS } from 'node:http';
import { scanBlock } from '../../lib/bitcoin/block';
import { isUnder } from '../../lib/rest/server/mount';
import { bcoin } from './bcoin';
import { chainABlocks, recordedBody, type RecordedAnswer } from './chain-a';
import type { ProfileReplies } from '../../lib/profile/profile';
import type { RawReply } from './http';

/** Values that differ between sound nodes: they must be there, with the same type. */
const VARYING: readonly { readonly endpoint: string; readonly value: RegExp; readonly why: string }[] = [
  { endpoint: 'chaininfo', value: /(?<="size_on_disk":)\d+/g, why: 'bytes of block files: depends on the store' },
  { endpoint: 'chaininfo', value: /(?<="verificationprogress":)[\d.e-]+/g, why: 'an estimate' },
  { endpoint: 'chaininfo', value: /(?<="initialblockdownload":)(?:true|false)/g, why: 'the wall clock against the age of the tip' },
  { endpoint: 'chaininfo', value: /(?<="warnings":)(?:"[^"]*"|\[[^\]]*)/g, why: 'free texts about the software' },
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

/** bcoin 1.x forgets what a block spent when it takes the block off its chain. */
const forgetsSpent = /^v?1\./.test(bcoin.pkg.version);

/** Of bcoin's regtest. Where 0, segwit does not wait for signals. */
const HEIGHTS = { csv: 432, segwit: forgetsSpent ? 432 : 0 } as const;

/** The rules of blocks on bcoin's regtest, and the first block that each holds for; it does not know TAPROOT. */
const RULES: readonly (readonly [name: string, height: number])[] = [
  ['CHECKSEQUENCEVERIFY', HEIGHTS.csv],
  ['NULLDUMMY', HEIGHTS.segwit],
  ['P2SH', 0],
  ['WITNESS', HEIGHTS.segwit]
];

/** Buried on bcoin's regtest at heights of its own. None of the recorded blocks is that high. */
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
  /** Of the body, also where it is not sent; undefined: it depends on the node. */
  readonly length: number | undefined;
}

/** Other paths are the node's own; and Node.js refuses unknown methods and bytes in a target that are no ASCII before the service sees them. */
export function isForService({ method, path, tags }: RecordedAnswer): boolean {
  // Odd framing of HTTP itself is left to the HTTP server.
  const isWellFormed = method !== 'CONNECT' && METHODS.includes(method) && /^[!-~]*$/.test(path) && !tags.includes('transport');
  return isWellFormed && isUnder('/rest', path);
}

/** What differs, or undefined when the reply is what was recorded. `replies`: how the node's edition replies. */
export function differenceFrom31(
  answer: RecordedAnswer,
  reply: RawReply,
  { cacheControl }: Pick<ProfileReplies, 'cacheControl'>
): string | undefined {
  const recorded = expectedReply(answer);
  // 0.17 says of no reply whether it may be cached.
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
      ? masked(expected.body.toString(), answer) === masked(got.body.toString(), answer)
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

/** In their order. Node.js closes the list with its own; where the edition has no order of its own, Date is one of them. */
function headerNames({ headers }: RawReply, withDate: boolean): string {
  const ofNode = withDate ? ['connection'] : ['connection', 'date'];
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

/** The recorded reply, with our decisions where we depart from it. */
function expectedReply(answer: RecordedAnswer): ExpectedReply {
  const { status, contentType, spec, method, path, tags } = answer;
  const [endpoint, kind] = tags;
  const isHead = method === 'HEAD';
  const reply = (code: number, type: string | null, body: Buffer): ExpectedReply => {
    return { status: code, contentType: type, cacheControl: 'no-store', body: isHead ? Buffer.alloc(0) : body, length: body.length };
  };
  const notFound = (message: string): ExpectedReply => reply(404, 'text/plain', Buffer.from(`${message}\r\n`));
  // The reference's dispatcher sends empty pages. NBitcoin reads two bytes from the end of every text: a path that nobody knows has one.
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
    // Never connected. It spends nothing, so that nobody needs to have been told what.
    if (path.endsWith('.bin') && !spends) return reply(200, 'application/octet-stream', Buffer.from([1, 0]));
    if (path.endsWith('.hex') && !spends) return reply(200, 'text/plain', Buffer.from('0100\n'));
    if (path.endsWith('.json') && !spends) return reply(200, 'application/json', Buffer.from('[[]]\n'));
  }
  // Of a block that spends nothing nobody knows whether it was ever in the chain.
  if (block !== undefined && endpoint === 'blockfilter' && status === 200 && (forgetsSpent || !spends))
    return notFound('Filter not found. Block was not connected to active chain.');
  // Off the active chain nothing is immutable, nor is what the next version of the node may tell in another way.
  const mayChange = block !== undefined || endpoint === 'deploymentinfo';
  const varies = contentType === 'application/json' && VARYING.some((varying) => varying.endpoint === endpoint);
  const body = decidedBody(answer, block !== undefined);
  const cacheControl = mayChange ? 'no-store' : answer.cacheControl;
  return { status, contentType, cacheControl, body, length: varies ? undefined : isHead ? Number(answer.contentLength) : body.length };
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
  // The genesis block is under no rules.
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

function masked(text: string, { tags: [endpoint] }: RecordedAnswer): string {
  return VARYING.filter((varying) => varying.endpoint === endpoint).reduce((left, { value }) => left.replace(value, '*'), text);
}

const shown = ({ status, contentType, cacheControl, body, length }: ExpectedReply): string =>
  `${status} ${String(contentType)} ${String(cacheControl)} ${String(length)} ${JSON.stringify(body.subarray(0, 400).toString('latin1'))}`;
