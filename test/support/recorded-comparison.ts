// Compares a reply with the recorded answer of Bitcoin Core 0.17: status, content type and
// body, byte for byte. Values that belong to the node itself are masked, each with its reason.

import { createHash } from 'node:crypto';
import { bech32, bech32m, createBase58check } from '@scure/base';
import { isUnder } from '../../lib/server/http/mount';
import { coreRegtestPrefixes, recordedBody, type RecordedAnswer } from './chain-a';
import type { AddressPrefixes } from '../../lib/bitcoin/address';
import type { RawReply } from './http';

/** Values that differ between sound nodes: they must exist, with the same type. */
const VARYING: readonly { readonly endpoint: string; readonly value: RegExp; readonly why: string }[] = [
  { endpoint: 'chaininfo', value: /(?<="size_on_disk":)\d+/g, why: 'bytes of block files: depends on the store' },
  { endpoint: 'chaininfo', value: /(?<="verificationprogress":)[\d.e-]+/g, why: 'an estimate' },
  {
    endpoint: 'chaininfo',
    value: /(?<="initialblockdownload":)(?:true|false)/g,
    why: 'depends on the wall clock against the age of the tip'
  },
  { endpoint: 'chaininfo', value: /(?<="warnings":)"[^"]*"/g, why: 'free text about the software' },
  { endpoint: 'chaininfo', value: /(?<="(?:startTime|timeout)":)-?\d+/g, why: 'deployment parameters of regtest differ between nodes' },
  {
    endpoint: 'chaininfo',
    value: /(?<="segwit":\{[^{}]*"since":)\d+/g,
    why: 'always active on the reference regtest, signalled elsewhere'
  },
  { endpoint: 'mempool-info', value: /(?<="usage":)\d+/g, why: 'memory, depends on the implementation' },
  { endpoint: 'mempool-info', value: /(?<="maxmempool":)\d+/g, why: 'a setting' },
  { endpoint: 'mempool-contents', value: /(?<="time":)\d+/g, why: 'wall clock at acceptance' }
];

/** An entry of the pool: the order of entries differs between processes. */
const POOL_ENTRY = /"[0-9a-f]{64}":\{"fees":\{[^{}]*\}[^{}]*\}/g;

const base58check = createBase58check((bytes: Uint8Array) => createHash('sha256').update(bytes).digest());

/** The difference, or undefined if the reply is as recorded. `prefixes`: those of the node's addresses. */
export function differenceFrom(answer: RecordedAnswer, reply: RawReply, prefixes: AddressPrefixes): string | undefined {
  const { status, contentType, body } = expectedReply(answer);
  // Other paths are the node's own, for which there is another test.
  if (!isUnder('/rest', answer.path)) return status === reply.status ? undefined : `expected ${status}, got ${reply.status}`;
  const got = `${reply.status} ${String(reply.contentType)} ${shown(reply.body)}`;
  const expected = `${status} ${String(contentType)} ${shown(body)}`;
  if (status !== reply.status || contentType !== reply.contentType) return `expected ${expected}, got ${got}`;
  const same =
    contentType === 'application/json' && answer.method !== 'HEAD'
      ? comparable(inAddressesOf(body.toString(), prefixes), answer) === comparable(reply.body.toString(), answer)
      : body.equals(reply.body);
  return same ? undefined : `expected ${expected}, got ${got}`;
}

/** The recorded reply, changed where the service deliberately differs (docs/differences.md). */
function expectedReply(answer: RecordedAnswer): Pick<RawReply, 'status' | 'contentType' | 'body'> {
  const {
    status,
    contentType,
    spec,
    tags: [endpoint, kind],
    method,
    path
  } = answer;
  // Pages of the reference's HTTP library are not part of the service.
  if (contentType === null || contentType.startsWith('text/html')) {
    // NBitcoin reads two bytes from the end of every text, so an unknown path has a text.
    if (status === 404) return { status, contentType: 'text/plain', body: Buffer.from(method === 'HEAD' ? '' : 'Not found\r\n') };
    return { status, contentType: null, body: Buffer.alloc(0) };
  }
  if (endpoint === 'tx' && kind === 'stale' && status === 200) {
    return { status: 404, contentType: 'text/plain', body: Buffer.from(`${/[0-9a-f]{64}/.exec(path)?.[0] ?? ''} not found\r\n`) };
  }
  if (spec === undefined) return { status, contentType, body: recordedBody(answer) };
  const body = spec.bodyBase64 === undefined ? Buffer.from(spec.body ?? '') : Buffer.from(spec.bodyBase64, 'base64');
  return { status: spec.status, contentType: spec.contentType, body };
}

function comparable(text: string, { tags: [endpoint] }: RecordedAnswer): string {
  const masked = VARYING.filter((varying) => varying.endpoint === endpoint).reduce((left, { value }) => left.replace(value, '*'), text);
  if (endpoint !== 'mempool-contents') return masked;
  const entries = (masked.match(POOL_ENTRY) ?? []).sort();
  return `${masked.replace(POOL_ENTRY, '*')}\n${entries.join('\n')}`;
}

/** The recorded text with the node's form of addresses: its prefixes, and bech32m where BIP350 requires it. */
function inAddressesOf(text: string, prefixes: AddressPrefixes): string {
  return text.replace(/(?<="addresses":\[)[^\]]*/g, (list) =>
    list.replace(/[^",]+/g, (address) =>
      address.startsWith(coreRegtestPrefixes.bech32) ? respellSegwit(address, prefixes) : respellBase58(address, prefixes)
    )
  );
}

function respellBase58(address: string, { pubkeyhash, scripthash }: AddressPrefixes): string {
  const bytes = base58check.decode(address);
  bytes[0] = bytes[0] === coreRegtestPrefixes.pubkeyhash ? pubkeyhash : scripthash;
  return base58check.encode(bytes);
}

function respellSegwit(address: string, prefixes: AddressPrefixes): string {
  const { words } = bech32.decode(address as `${string}1${string}`);
  return (words[0] === 0 ? bech32 : bech32m).encode(prefixes.bech32, words);
}

const shown = (body: Buffer): string => JSON.stringify(body.subarray(0, 400).toString('latin1'));
