// Records of the pool's changes, as the fields of proto/fleet.proto and back.

import { HASH_LENGTH } from '../../bitcoin/hash';
import { MalformedMessageError } from './errors';
import { toHash, toNumber, type Codec, type Wide } from './schema';
import type { PoolAdd, PoolChange, PoolClear, PoolRemove } from './records';

interface AddFields {
  readonly raw: Buffer;
  readonly coins: readonly { readonly value: Wide; readonly script: Buffer }[];
  readonly size: number;
  readonly adjustedWeight: number;
  readonly time: Wide;
  readonly height: number;
  readonly fee: Wide;
  readonly modifiedFee: Wide;
  readonly unbroadcast: boolean;
}

export const POOL_ADD: Codec<PoolAdd> = {
  toFields: (added) => ({ ...added, unbroadcast: added.isUnbroadcast }),
  fromFields: (fields) => {
    const { raw, coins, size, adjustedWeight, time, height, fee, modifiedFee, unbroadcast } = fields as AddFields;
    return {
      type: 'add',
      raw,
      coins: coins.map(({ value, script }) => ({ value: toNumber('Coin.value', value), script })),
      size,
      adjustedWeight,
      time: toNumber('PoolAdd.time', time),
      height,
      fee: toNumber('PoolAdd.fee', fee),
      modifiedFee: toNumber('PoolAdd.modifiedFee', modifiedFee),
      isUnbroadcast: unbroadcast
    };
  }
};

export const POOL_REMOVE: Codec<PoolRemove> = {
  toFields: ({ txid, replacement }) => ({ txid, replacement }),
  fromFields: (fields) => {
    const { txid, replacement } = fields as { readonly txid: Buffer; readonly replacement: Buffer };
    return {
      type: 'remove',
      txid: toHash('PoolRemove.txid', txid),
      ...(replacement.length > 0 && { replacement: toHash('PoolRemove.replacement', replacement) })
    };
  }
};

interface ChangeFields {
  readonly txid: Buffer;
  readonly modifiedFee: Wide;
  readonly height: number;
  readonly unbroadcast: boolean;
}

export const POOL_CHANGE: Codec<PoolChange> = {
  toFields: (change) => ({ ...change, unbroadcast: change.isUnbroadcast }),
  fromFields: (fields) => {
    const { txid, modifiedFee, height, unbroadcast } = fields as ChangeFields;
    return {
      type: 'change',
      txid: toHash('PoolChange.txid', txid),
      modifiedFee: toNumber('PoolChange.modifiedFee', modifiedFee),
      height,
      isUnbroadcast: unbroadcast
    };
  }
};

export const POOL_CLEAR: Codec<PoolClear> = {
  toFields: ({ kept, part, hasMore }) => ({ kept: Buffer.concat(kept), part, more: hasMore }),
  fromFields: (fields) => {
    const { kept, part, more } = fields as { readonly kept: Buffer; readonly part: number; readonly more: boolean };
    return { type: 'clear', kept: hashesOf(kept), part, hasMore: more };
  }
};

function hashesOf(bytes: Buffer): Buffer[] {
  if (bytes.length % HASH_LENGTH !== 0)
    throw new MalformedMessageError(`PoolClear.kept: whole hashes expected, ${bytes.length} bytes came`);
  return Array.from({ length: bytes.length / HASH_LENGTH }, (_, i) => bytes.subarray(i * HASH_LENGTH, (i + 1) * HASH_LENGTH));
}
