// What mempool's backend said of chain A and its pool, and in what this interface differs.

import { join } from 'node:path';
import { scriptOfAddress } from '../../lib/bitcoin/address';
import { bcoin } from '../support/bcoin/bcoin';
import { coreRegtestPrefixes, jsonIn } from '../support/chain/chain-a';

export type Json = Readonly<Record<string, unknown>>;

export interface RecordedBlock extends Json {
  readonly id: string;
  readonly height: number;
  readonly extras: Json;
}

export interface Relative {
  readonly txid: string;
}

export interface RecordedTransaction {
  readonly txid: string;
  readonly fee: number;
  readonly weight: number;
  readonly effectiveFeePerVsize: number;
  readonly flags: number;
  readonly ancestors: readonly Relative[];
  readonly descendants: readonly Relative[];
}

const BCOIN_PREFIXES = bcoin.Network.get('regtest').addressPrefix;

const recorded = <T>(name: string): T[] => jsonIn<T>(join(__dirname, `../vectors/mempool/${name}.jsonl.gz`));

/** Without coinbases that came a second time (before BIP30), which the backend could not find by their txids. */
export const recordedBlocks = (): RecordedBlock[] => recorded<RecordedBlock>('blocks').filter(({ height }) => height !== 18);

export const recordedPool = (): RecordedTransaction[] => recorded('pool');

/** Fields of blocks that differ, with the reason. */
export const DIFFERENT = {
  medianFee: 'of chunks, where an indexed block has whole rates of single transactions',
  feeRange: 'the same',
  orphans: 'blocks off the active chain are not shown',
  stale: 'the same',
  pool: 'it has the id of the unknown pool, too',
  previousblockhash: 'null in the genesis block, where it is left out',
  coinbaseAddress: 'null in the genesis block, where it is empty'
};

/** Flags that are guesses are never set. */
export const GUESSED_FLAGS = (1n << 5n) | (1n << 18n) | (1n << 25n) | (1n << 26n) | (1n << 27n) | (1n << 32n) | (0b11111n << 40n);

/** The flags of those with whom a transaction is mined. */
export const PACKAGE_FLAGS = 0b11n << 16n;

/** The names of the fields in which two objects differ, `extras` looked into. */
export function differing(ours: Json, theirs: Json): string[] {
  return [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].flatMap((name) => {
    if (name === 'extras') return differing(ours[name] as Json, theirs[name] as Json);
    return JSON.stringify(comparable(ours[name])) === JSON.stringify(comparable(theirs[name])) ? [] : [name];
  });
}

/** Addresses of both networks as scripts, and numbers as far as both have the same steps. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value === 'number') return Number(value.toPrecision(12));
  const script = typeof value === 'string' ? scriptOfAddress(value, [coreRegtestPrefixes, BCOIN_PREFIXES]) : undefined;
  return Buffer.isBuffer(script) ? script.toString('hex') : value;
}
