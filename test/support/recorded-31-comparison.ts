// Compares a reply with what Bitcoin Core 31 was recorded to answer: status, Content-Type, Cache-Control, Content-Length and body, byte
// for byte. The node spells addresses as the recorded one does (coreRegtestPrefixes): nothing is respelled, and checksums count. What
// belongs to the node itself is masked, each with its reason; where we decided otherwise (docs/differences.md) the decision is expected.

import { METHODS } from 'node:http';
import { isUnder } from '../../lib/rest/server/mount';
import { chainABlocks, recordedBody, type RecordedAnswer } from './chain-a';
import type { RawReply } from './http';

/** Values that differ between sound nodes: they must be there, with the same type. */
const VARYING: readonly { readonly endpoint: string; readonly value: RegExp; readonly why: string }[] = [
  { endpoint: 'chaininfo', value: /(?<="size_on_disk":)\d+/g, why: 'bytes of block files: depends on the store' },
  { endpoint: 'chaininfo', value: /(?<="verificationprogress":)[\d.e-]+/g, why: 'an estimate' },
  { endpoint: 'chaininfo', value: /(?<="initialblockdownload":)(?:true|false)/g, why: 'the wall clock against the age of the tip' },
  { endpoint: 'chaininfo', value: /(?<="warnings":\[)[^\]]*/g, why: 'free texts about the software' },
  { endpoint: 'mempool-info', value: /(?<="usage":)\d+/g, why: 'memory, depends on the implementation' },
  { endpoint: 'mempool-info', value: /(?<="maxmempool":)\d+/g, why: 'a setting' },
  { endpoint: 'mempool-contents', value: /(?<="time":)\d+/g, why: 'wall clock at acceptance' },
  { endpoint: 'mempool-contents', value: /(?<="mempool_sequence":)\d+/g, why: 'a counter of the process' }
];

/** Headers that have an order among them. */
const ORDERED = ['cache-control', 'content-type', 'date', 'content-length'];

/** Other paths are the node's own; and Node.js refuses unknown methods and bytes in a target that are no ASCII before the service sees them. */
export function isForService({ method, path, tags }: RecordedAnswer): boolean {
  // Odd framing of HTTP itself is left to the HTTP server.
  const isWellFormed = method !== 'CONNECT' && METHODS.includes(method) && /^[!-~]*$/.test(path) && !tags.includes('transport');
  return isWellFormed && isUnder('/rest', path);
}

interface ExpectedReply {
  readonly status: number;
  readonly contentType: string | null;
  readonly cacheControl: string | undefined;
  readonly body: Buffer;
}

/**
 * What differs, or undefined when the reply is what was recorded. `forgetsSpent`: the node forgets what a block spent when it takes the
 * block off its chain, as bcoin 1.x does.
 */
export function differenceFrom31(answer: RecordedAnswer, reply: RawReply, forgetsSpent: boolean): string | undefined {
  const expected = expectedReply(answer, forgetsSpent);
  const got = { ...reply, cacheControl: reply.headers['cache-control'] };
  const isSame =
    expected.status === got.status &&
    expected.contentType === got.contentType &&
    expected.cacheControl === got.cacheControl &&
    isOfItsLength(answer, expected, reply) &&
    isInOrder(reply) &&
    (expected.contentType === 'application/json'
      ? masked(expected.body.toString(), answer) === masked(got.body.toString(), answer)
      : expected.body.equals(got.body));
  return isSame ? undefined : `expected ${shown(expected)}, got ${shown(got)} ${reply.headers['content-length'] ?? 'without length'}`;
}

/** The recorded reply, with our decisions where we depart from it. */
function expectedReply(answer: RecordedAnswer, forgetsSpent: boolean): ExpectedReply {
  const { status, contentType, spec, method, path, cacheControl } = answer;
  const [endpoint, kind] = answer.tags;
  const failure = (contentType: string | null, message: string): ExpectedReply => {
    const body = Buffer.from(method === 'HEAD' ? '' : message);
    return { status: contentType === null ? status : 404, contentType, cacheControl: 'no-store', body };
  };
  // The reference's dispatcher sends empty pages. NBitcoin reads two bytes from the end of every text: a path that nobody knows has one.
  if (contentType === null || contentType.startsWith('text/html')) {
    return status === 404 ? failure('text/plain', 'Not found\r\n') : failure(null, '');
  }
  const [hash = ''] = /[0-9a-fA-F]{64}/.exec(path) ?? [];
  if (endpoint === 'tx' && kind === 'stale' && status === 200) return failure('text/plain', `${hash} not found\r\n`);
  // Immutable is what is on the active chain.
  const isStale = chainABlocks().some((block) => block.stale && block.hash === hash.toLowerCase());
  const expected = { status, contentType, cacheControl: isStale ? 'no-store' : cacheControl, body: recordedBody(answer) };
  if (spec !== undefined) {
    const body = spec.bodyBase64 === undefined ? Buffer.from(spec.body ?? '') : Buffer.from(spec.bodyBase64, 'base64');
    return { ...expected, ...spec, body };
  }
  if (forgetsSpent && endpoint === 'block' && isStale && contentType === 'application/json') {
    return { ...expected, body: Buffer.from(withoutSpent(expected.body.toString())) };
  }
  return expected;
}

function withoutSpent(text: string): string {
  return text.replace(/"prevout":\{[^{}]*\{[^{}]*\}\},/g, '').replace(/"fee":[\d.]+,/g, '');
}

/** For HEAD the length is that of the body of a GET, which masked values may change. */
function isOfItsLength(
  { method, tags: [endpoint], contentLength }: RecordedAnswer,
  { status, contentType }: ExpectedReply,
  reply: RawReply
): boolean {
  const length = reply.headers['content-length'];
  if (method !== 'HEAD') return length === String(reply.body.length);
  if (status !== 200) return length !== undefined;
  const varies = contentType === 'application/json' && VARYING.some((varying) => varying.endpoint === endpoint);
  return varies ? Number(length) > 0 : length === contentLength;
}

function isInOrder({ headers }: RawReply): boolean {
  const places = Object.keys(headers)
    .map((name) => ORDERED.indexOf(name))
    .filter((place) => place >= 0);
  return places.every((place, i) => i === 0 || place > (places[i - 1] ?? 0));
}

function masked(text: string, { tags: [endpoint] }: RecordedAnswer): string {
  return VARYING.filter((varying) => varying.endpoint === endpoint).reduce((left, { value }) => left.replace(value, '*'), text);
}

const shown = ({ status, contentType, cacheControl, body }: ExpectedReply): string =>
  `${status} ${String(contentType)} ${String(cacheControl)} ${JSON.stringify(body.subarray(0, 400).toString('latin1'))}`;
