// Compares replies of the endpoints that 0.17 does not have, and of the pool, with what Bitcoin Core 31 was recorded to answer.

import { bcoin } from './bcoin';
import { chainAManifest, recordedBody, type RecordedAnswer } from './chain-a';
import type { RawReply } from './http';

const IMMUTABLE = 'public, immutable, max-age=86400';

const VARYING: readonly { readonly value: RegExp; readonly why: string }[] = [
  { value: /(?<="usage":)\d+/g, why: 'memory, depends on the implementation' },
  { value: /(?<="maxmempool":)\d+/g, why: 'a setting' },
  { value: /(?<="time":)\d+/g, why: 'wall clock at acceptance' },
  { value: /(?<="mempool_sequence":)\d+/g, why: 'a counter of the process' }
];

/** What of an output's JSON is here compared: all of it is compared where its form is the subject. */
interface ShownOutput {
  readonly value: number;
  readonly scriptPubKey: { readonly hex: string };
}

interface ShownDeployments {
  readonly hash: string;
  readonly height: number;
  readonly deployments: { readonly testdummy: { readonly bip9: Readonly<Record<string, unknown>> } };
}

/** Blocks that were active once, and spend something. bcoin 1.x deletes what they spent. */
const UNDONE = ['reorg-old-1', 'reorg-old-2'];

const isGone = /\d+/.exec(bcoin.pkg.version)?.[0] === '1';

/** What differs, or undefined. `withCacheControl`: whether replies say if they may be cached. */
export function differenceFrom31(answer: RecordedAnswer, reply: RawReply, withCacheControl: boolean): string | undefined {
  const expected = expectedReply(answer);
  const cacheControl = withCacheControl ? expected.cacheControl : undefined;
  const got = { status: reply.status, contentType: reply.contentType, cacheControl: reply.headers['cache-control'] };
  const wanted = { status: expected.status, contentType: expected.contentType, cacheControl };
  const length = answer.method === 'HEAD' ? Number(reply.headers['content-length']) : reply.body.length;
  const isSameHead = JSON.stringify(got) === JSON.stringify(wanted);
  if (isSameHead && (answer.method === 'HEAD' ? [undefined, length].includes(expected.length) : isSame(answer, expected.body, reply.body)))
    return undefined;
  const shown = (body: Buffer): string => JSON.stringify(body.subarray(0, 200).toString('latin1'));
  return `expected ${JSON.stringify(wanted)} ${shown(expected.body)}, got ${JSON.stringify(got)} ${shown(reply.body)}`;
}

interface ExpectedReply {
  readonly status: number;
  readonly contentType: string | null;
  readonly cacheControl: string | undefined;
  readonly body: Buffer;
  /** Of the body, also where it is not sent; undefined: it depends on the node. */
  readonly length: number | undefined;
}

/** The recorded reply, with our decisions where we depart from it (docs/differences.md). */
function expectedReply(answer: RecordedAnswer): ExpectedReply {
  const { status, contentType, method, path, cacheControl, contentLength } = answer;
  const hash = /[0-9a-f]{64}/i.exec(path)?.[0] ?? '';
  const text = (code: number, line: string): ExpectedReply => {
    const body = Buffer.from(line);
    return { status: code, contentType: line === '' ? null : 'text/plain', cacheControl: 'no-store', body, length: body.length };
  };
  if (contentType?.startsWith('text/html') === true) return text(status, status === 404 && method !== 'HEAD' ? 'Not found\r\n' : '');
  const isOfNode = status === 200 && path.startsWith('/rest/deploymentinfo');
  const recorded = { status, contentType, body: recordedBody(answer), length: isOfNode ? undefined : Number(contentLength) };
  const { blocks } = chainAManifest();
  const name = Object.keys(blocks).find((one) => blocks[one]?.hash === hash) ?? '';
  const isStale = blocks[name]?.active === false;
  if (path.startsWith('/rest/spenttxouts/')) {
    if (isGone && UNDONE.includes(name)) return text(404, `${hash} undo not available\r\n`);
    // It spends nothing, so that nobody needs to have been told what.
    if (name === 'stale-2' && /\.(bin|hex|json)$/.test(path)) {
      const body = path.endsWith('.bin') ? Buffer.from([1, 0]) : Buffer.from(path.endsWith('.hex') ? '0100\n' : '[[]]\n');
      const type = path.endsWith('.bin') ? 'application/octet-stream' : path.endsWith('.hex') ? 'text/plain' : 'application/json';
      return { status: 200, contentType: type, cacheControl: 'no-store', body, length: body.length };
    }
  }
  const mayChange = isStale || path.startsWith('/rest/deploymentinfo');
  return { ...recorded, cacheControl: cacheControl === IMMUTABLE && mayChange ? 'no-store' : cacheControl };
}

function isSame({ path, contentType }: RecordedAnswer, expected: Buffer, got: Buffer): boolean {
  if (expected.equals(got)) return true;
  if (contentType !== 'application/json') return false;
  return JSON.stringify(comparable(path, expected)) === JSON.stringify(comparable(path, got));
}

function comparable(path: string, body: Buffer): unknown {
  const text = body.toString();
  if (!text.endsWith('\n')) return text;
  if (path.startsWith('/rest/mempool/')) return VARYING.reduce((left, { value }) => left.replace(value, '0'), text);
  if (path.startsWith('/rest/spenttxouts/'))
    return (JSON.parse(text) as ShownOutput[][]).map((list) => list.map(({ value, scriptPubKey: { hex } }) => ({ value, hex })));
  if (!path.startsWith('/rest/deploymentinfo')) return text;
  // bcoin has its own heights on regtest, and signals for csv and segwit.
  const { hash, height, deployments, ...rest } = JSON.parse(text) as ShownDeployments;
  return { hash, height, fields: Object.keys(rest), forks: Object.keys(deployments), testdummy: shownSignals(deployments.testdummy) };
}

/** With bcoin's end of the time to signal. */
function shownSignals(fork: { readonly bip9: Readonly<Record<string, unknown>> }): unknown {
  return { ...fork, bip9: { ...fork.bip9, timeout: 0xffff_ffff } };
}
