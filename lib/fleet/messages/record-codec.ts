// Records as bytes, and back.

import { HASH_LENGTH } from '../../bitcoin/hash';
import { HEADER_LENGTH } from '../../bitcoin/header';
import { MalformedMessageError, NewerMessageError } from './errors';
import { exactly, messageBytes, messageType, readMessage, toHash, toNumber, type Wide } from './schema';
import { BEAT, DEPLOYMENT_INFO, DEPLOYMENTS } from './state-codec';
import type { Beat, ChainPoint, LogRecord, RecordBody, ResetReason } from './records';

/** The version of the layout that this package writes, and the newest that it reads. */
export const RECORD_VERSION = 1;

/** No server takes longer messages than this, and no record is longer. */
export const MOST_RECORD_BYTES = 0x0080_0000;

const RECORD = messageType('Record');

const REASONS: readonly ResetReason[] = ['start', 'gap', 'rewind'];

/** Bytes of a term's id. */
export const TERM_ID_LENGTH = 8;

/** A number of 256 bits. */
const MOST_WORK_BYTES = 32;

/** @throws RangeError for a record that is too long */
export function encodeRecord({ body, ...record }: LogRecord): Buffer {
  const bytes = messageBytes(RECORD, { version: RECORD_VERSION, ...record, ...fieldsOf(body) });
  if (bytes.length > MOST_RECORD_BYTES)
    throw new RangeError(`expected a record of at most ${MOST_RECORD_BYTES} bytes, got ${bytes.length}`);
  return bytes;
}

/**
 * Byte fields are views into `bytes`.
 * @throws NewerMessageError for a record of a newer version or of a kind that is not known; MalformedMessageError for any other bytes
 */
export function decodeRecord(bytes: Uint8Array): LogRecord {
  const fields = readMessage(RECORD, bytes, MOST_RECORD_BYTES) as Fields;
  const { version, term, termId, termStart, node, at } = fields;
  if (version === 0) throw new MalformedMessageError('Record: the bytes are no record');
  if (version > RECORD_VERSION) {
    throw new NewerMessageError(`Record: version ${version}, but this release of bcoin-rest reads up to ${RECORD_VERSION}`);
  }
  if (termId.length > 0) exactly('termId', TERM_ID_LENGTH, termId);
  return {
    term: toNumber('term', term),
    termId,
    termStart: toNumber('termStart', termStart),
    node,
    at: toNumber('at', at),
    body: bodyOf(fields)
  };
}

interface Fields {
  readonly version: number;
  readonly term: Wide;
  readonly termId: Buffer;
  readonly termStart: Wide;
  readonly node: string;
  readonly at: Wide;
  readonly block?: { readonly hash: Buffer; readonly part: number; readonly parts: number; readonly bytes: Buffer };
  readonly connect?: PointFields & { readonly blockBytes: number; readonly undoBytes: number; readonly blockSequence: Wide };
  readonly disconnect?: { readonly height: number; readonly hash: Buffer; readonly chainwork: Buffer; readonly previous: Buffer };
  readonly reset?: PointFields & { readonly reason: number };
  readonly poolAdd?: {
    readonly raw: Buffer;
    readonly coins: readonly { readonly value: Wide; readonly script: Buffer }[];
    readonly size: number;
    readonly adjustedWeight: number;
    readonly time: Wide;
    readonly height: number;
    readonly fee: Wide;
    readonly modifiedFee: Wide;
    readonly unbroadcast: boolean;
  };
  readonly poolRemove?: { readonly txid: Buffer; readonly replacement: Buffer };
  readonly poolChange?: { readonly txid: Buffer; readonly modifiedFee: Wide; readonly height: number; readonly unbroadcast: boolean };
  readonly poolClear?: { readonly kept: Buffer; readonly part: number; readonly more: boolean };
  readonly beat?: object;
}

interface PointFields {
  readonly height: number;
  readonly hash: Buffer;
  readonly header: Buffer;
  readonly chainwork: Buffer;
  readonly medianTime: number;
  readonly deployments?: object | null;
  readonly deploymentInfo?: object | null;
}

function fieldsOf(body: RecordBody): Readonly<Record<string, object>> {
  switch (body.type) {
    case 'block':
      return { block: body };
    case 'connect':
      return { connect: { ...body, ...pointFields(body) } };
    case 'disconnect':
      return { disconnect: { ...body, chainwork: fromWork(body.chainwork) } };
    case 'reset':
      return { reset: { ...body, ...pointFields(body), reason: REASONS.indexOf(body.reason) } };
    case 'add':
      return { poolAdd: { ...body, unbroadcast: body.isUnbroadcast } };
    case 'remove':
      return { poolRemove: { txid: body.txid, replacement: body.replacement } };
    case 'change':
      return { poolChange: { ...body, unbroadcast: body.isUnbroadcast } };
    case 'clear':
      return { poolClear: { kept: Buffer.concat(body.kept), part: body.part, more: body.hasMore } };
    case 'beat':
      return { beat: BEAT.toFields(body) };
  }
}

function pointFields({ chainwork, deployments, deploymentInfo }: ChainPoint): object {
  return {
    chainwork: fromWork(chainwork),
    deployments: DEPLOYMENTS.toFields(deployments),
    deploymentInfo: DEPLOYMENT_INFO.toFields(deploymentInfo)
  };
}

function bodyOf(fields: Fields): RecordBody {
  const { block, connect, disconnect, reset, poolAdd, poolRemove, poolChange, poolClear, beat } = fields;
  if (block) {
    const { part, parts, bytes } = block;
    if (part >= parts) throw new MalformedMessageError(`Block: a part below ${parts} expected, ${part} came`);
    return { type: 'block', hash: toHash('Block.hash', block.hash), part, parts, bytes };
  }
  if (connect) {
    const { blockBytes, undoBytes } = connect;
    return {
      type: 'connect',
      ...pointOf('Connect', connect),
      blockBytes,
      undoBytes,
      blockSequence: toNumber('blockSequence', connect.blockSequence)
    };
  }
  if (disconnect) {
    const { height, hash, chainwork, previous } = disconnect;
    return {
      type: 'disconnect',
      height,
      hash: toHash('Disconnect.hash', hash),
      chainwork: toWork(chainwork),
      previous: toHash('Disconnect.previous', previous)
    };
  }
  if (reset) {
    const reason = REASONS[reset.reason];
    if (reason === undefined) throw new NewerMessageError(`Reset: a reason that is not known (${reset.reason})`);
    return { type: 'reset', ...pointOf('Reset', reset), reason };
  }
  if (poolAdd) {
    return {
      type: 'add',
      raw: poolAdd.raw,
      coins: poolAdd.coins.map(({ value, script }) => ({ value: toNumber('Coin.value', value), script })),
      size: poolAdd.size,
      adjustedWeight: poolAdd.adjustedWeight,
      time: toNumber('PoolAdd.time', poolAdd.time),
      height: poolAdd.height,
      fee: toNumber('PoolAdd.fee', poolAdd.fee),
      modifiedFee: toNumber('PoolAdd.modifiedFee', poolAdd.modifiedFee),
      isUnbroadcast: poolAdd.unbroadcast
    };
  }
  if (poolRemove) {
    const { replacement } = poolRemove;
    return {
      type: 'remove',
      txid: toHash('PoolRemove.txid', poolRemove.txid),
      ...(replacement.length > 0 && { replacement: toHash('PoolRemove.replacement', replacement) })
    };
  }
  if (poolChange) {
    const { modifiedFee, height, unbroadcast } = poolChange;
    return {
      type: 'change',
      txid: toHash('PoolChange.txid', poolChange.txid),
      modifiedFee: toNumber('PoolChange.modifiedFee', modifiedFee),
      height,
      isUnbroadcast: unbroadcast
    };
  }
  if (poolClear) return { type: 'clear', kept: hashesOf(poolClear.kept), part: poolClear.part, hasMore: poolClear.more };
  if (beat) return beatOf(beat);
  throw new NewerMessageError('Record: of a kind that this release of bcoin-rest does not know');
}

function beatOf(fields: object): Beat {
  return BEAT.fromFields(fields);
}

function pointOf(name: string, { height, hash, header, chainwork, medianTime, deployments, deploymentInfo }: PointFields): ChainPoint {
  if (!deployments || !deploymentInfo) throw new MalformedMessageError(`${name}: the state of the soft forks expected`);
  toHash(`${name}.hash`, hash);
  return {
    height,
    hash,
    header: exactly(`${name}.header`, HEADER_LENGTH, header),
    chainwork: toWork(chainwork),
    medianTime,
    deployments: DEPLOYMENTS.fromFields(deployments),
    deploymentInfo: { height, hash, ...DEPLOYMENT_INFO.fromFields(deploymentInfo) }
  };
}

function hashesOf(bytes: Buffer): Buffer[] {
  if (bytes.length % HASH_LENGTH !== 0)
    throw new MalformedMessageError(`PoolClear.kept: whole hashes expected, ${bytes.length} bytes came`);
  return Array.from({ length: bytes.length / HASH_LENGTH }, (_, i) => bytes.subarray(i * HASH_LENGTH, (i + 1) * HASH_LENGTH));
}

function fromWork(work: bigint): Buffer {
  const hex = work.toString(16);
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
}

function toWork(bytes: Buffer): bigint {
  if (bytes.length > MOST_WORK_BYTES)
    throw new MalformedMessageError(`chainwork: at most ${MOST_WORK_BYTES} bytes expected, ${bytes.length} came`);
  return bytes.length === 0 ? 0n : BigInt(`0x${bytes.toString('hex')}`);
}
