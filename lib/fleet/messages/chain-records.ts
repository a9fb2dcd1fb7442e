// Records of blocks and of the chain's moves, as the fields of proto/fleet.proto and back.

import { HEADER_LENGTH } from '../../bitcoin/header';
import { MalformedMessageError, NewerMessageError } from './errors';
import { exactly, toHash, toNumber, type Codec, type Wide } from './schema';
import { DEPLOYMENT_INFO, DEPLOYMENTS } from './state-codec';
import type { BlockPart, ChainPoint, Connect, Disconnect, Reset, ResetReason } from './records';

const REASONS: readonly ResetReason[] = ['start', 'gap', 'rewind'];

/** A number of 256 bits. */
const MOST_WORK_BYTES = 32;

interface BlockFields {
  readonly hash: Buffer;
  readonly part: number;
  readonly parts: number;
  readonly bytes: Buffer;
}

export const BLOCK: Codec<BlockPart> = {
  toFields: (block) => block,
  fromFields: (fields) => {
    const { hash, part, parts, bytes } = fields as BlockFields;
    if (part >= parts) throw new MalformedMessageError(`Block: a part below ${parts} expected, ${part} came`);
    return { type: 'block', hash: toHash('Block.hash', hash), part, parts, bytes };
  }
};

interface PointFields {
  readonly height: number;
  readonly hash: Buffer;
  readonly header: Buffer;
  readonly chainwork: Buffer;
  readonly medianTime: number;
  readonly deployments?: object | null;
  readonly deploymentInfo?: object | null;
}

interface ConnectFields extends PointFields {
  readonly blockBytes: number;
  readonly undoBytes: number;
  readonly blockSequence: Wide;
}

export const CONNECT: Codec<Connect> = {
  toFields: (connect) => ({ ...connect, ...pointFields(connect) }),
  fromFields: (fields) => {
    const { blockBytes, undoBytes, blockSequence } = fields as ConnectFields;
    return {
      type: 'connect',
      ...pointOf('Connect', fields as ConnectFields),
      blockBytes,
      undoBytes,
      blockSequence: toNumber('blockSequence', blockSequence)
    };
  }
};

interface DisconnectFields {
  readonly height: number;
  readonly hash: Buffer;
  readonly chainwork: Buffer;
  readonly previous: Buffer;
}

export const DISCONNECT: Codec<Disconnect> = {
  toFields: (disconnect) => ({ ...disconnect, chainwork: fromWork(disconnect.chainwork) }),
  fromFields: (fields) => {
    const { height, hash, chainwork, previous } = fields as DisconnectFields;
    return {
      type: 'disconnect',
      height,
      hash: toHash('Disconnect.hash', hash),
      chainwork: toWork(chainwork),
      previous: toHash('Disconnect.previous', previous)
    };
  }
};

export const RESET: Codec<Reset> = {
  toFields: (reset) => ({ ...reset, ...pointFields(reset), reason: REASONS.indexOf(reset.reason) }),
  fromFields: (fields) => {
    const { reason: number } = fields as { readonly reason: number };
    const reason = REASONS[number];
    if (reason === undefined) throw new NewerMessageError(`Reset: a reason that is not known (${number})`);
    return { type: 'reset', ...pointOf('Reset', fields as PointFields), reason };
  }
};

function pointFields({ chainwork, deployments, deploymentInfo }: ChainPoint): object {
  return {
    chainwork: fromWork(chainwork),
    deployments: DEPLOYMENTS.toFields(deployments),
    deploymentInfo: DEPLOYMENT_INFO.toFields(deploymentInfo)
  };
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

function fromWork(work: bigint): Buffer {
  const hex = work.toString(16);
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
}

function toWork(bytes: Buffer): bigint {
  if (bytes.length > MOST_WORK_BYTES)
    throw new MalformedMessageError(`chainwork: at most ${MOST_WORK_BYTES} bytes expected, ${bytes.length} came`);
  return bytes.length === 0 ? 0n : BigInt(`0x${bytes.toString('hex')}`);
}
