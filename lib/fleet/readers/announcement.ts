// What a reader tells the fleet about itself: JSON, for other readers, and for `bcoin-rest fleet status`.

import { findDisplayHex, toDisplayHex } from '../../bitcoin/hash';
import { MalformedMessageError } from '../messages/errors';
import type { BlockPoint } from '../../node/types/chain';
import type { LogPosition } from '../messages/records';

export interface ReaderState {
  /** Whether it answers clients. */
  readonly isReady: boolean;
  /** Why it does not; empty otherwise. */
  readonly why: string;
  /** The block that its answers are of; undefined: there is none. */
  readonly tip: BlockPoint | undefined;
  /** The last record that it has taken in, even if no answer shows it yet. */
  readonly applied: LogPosition | undefined;
  /** The version of this package. */
  readonly version: string;
}

/** Bytes of the longest announcement. */
const MOST_BYTES = 2_048;
const MOST_TEXT = 300;

interface Fields {
  readonly ready: boolean;
  readonly why: string;
  readonly height?: number;
  readonly hash?: string;
  readonly incarnation?: string;
  readonly sequence?: number;
  readonly version: string;
}

/** JSON. Of a `why` only the first 300 characters are told. */
export function encodeState({ isReady, why, tip, applied, version }: ReaderState): Buffer {
  const fields: Fields = {
    ready: isReady,
    why: why.slice(0, MOST_TEXT),
    ...(tip !== undefined && { height: tip.height, hash: toDisplayHex(tip.hash) }),
    ...applied,
    version
  };
  return Buffer.from(JSON.stringify(fields));
}

/** @throws MalformedMessageError */
export function decodeState(bytes: Uint8Array): ReaderState {
  if (bytes.length > MOST_BYTES) throw new MalformedMessageError(`a reader's state of ${bytes.length} bytes is too long`);
  const fields = parsed(bytes);
  const { ready, why, height, hash, incarnation, sequence, version } = fields;
  if (typeof ready !== 'boolean' || !isText(why) || !isText(version)) throw new MalformedMessageError("a reader's state lacks fields");
  const tipHash = isText(hash) ? findDisplayHex(Buffer.from(hash)) : undefined;
  return {
    isReady: ready,
    why,
    tip: tipHash !== undefined && isCount(height) ? { height, hash: tipHash } : undefined,
    applied: isText(incarnation) && isCount(sequence) ? { incarnation, sequence } : undefined,
    version
  };
}

function parsed(bytes: Uint8Array): Readonly<Partial<Record<keyof Fields, unknown>>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString());
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Said below.
  }
  throw new MalformedMessageError("a reader's state is no JSON object");
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= MOST_TEXT;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
