// What the pages show, whatever interface it came from. Hashes are reversed hex, times Unix seconds, amounts satoshis.

import type { Sats } from '../../parts/amounts';

export interface Block {
  readonly hash: string;
  readonly height: number;
  readonly time: number;
  readonly medianTime: number;
  readonly version: number;
  readonly merkleRoot: string;
  readonly previous: string | undefined;
  readonly nonce: number;
  readonly bits: number;
  readonly difficulty: number;
  readonly transactions: number;
  /** Undefined where finding out would mean reading the block. */
  readonly size: number | undefined;
  readonly weight: number | undefined;
}

/** Whether a block is in the active chain, and the block above it. */
export interface Place {
  readonly isInChain: boolean;
  readonly next: string | undefined;
}

export interface Output {
  readonly value: Sats;
  /** Hex. */
  readonly script: string;
  readonly asm: string;
  /** As in `KINDS`. */
  readonly kind: string;
  readonly address: string | undefined;
}

export interface Input {
  readonly txid: string;
  readonly vout: number;
  /** Undefined for a coinbase, or if it is not known. */
  readonly spent: Output | undefined;
  readonly isCoinbase: boolean;
  readonly script: string;
  readonly asm: string;
  readonly witness: readonly string[];
  readonly sequence: number;
  /** Scripts that are in the data of the input. */
  readonly redeemScript: string | undefined;
  readonly witnessScript: string | undefined;
}

/** The block of a confirmed transaction. */
export interface Confirmation {
  readonly height: number;
  readonly hash: string;
  readonly time: number;
}

export interface Transaction {
  readonly txid: string;
  readonly version: number;
  readonly locktime: number;
  readonly size: number;
  readonly weight: number;
  /** Undefined if the amounts of its inputs are not known. */
  readonly fee: Sats | undefined;
  readonly inputs: readonly Input[];
  readonly outputs: readonly Output[];
  readonly confirmation: Confirmation | undefined;
}

/** What spends an output. */
export interface Spend {
  readonly txid: string;
  readonly input: number;
  readonly isConfirmed: boolean;
}

export interface Sums {
  readonly transactions: number;
  readonly funded: { readonly count: number; readonly value: Sats };
  readonly spent: { readonly count: number; readonly value: Sats };
}

/** An address, or a script by its hash. */
export interface Subject {
  readonly kind: 'address' | 'scripthash';
  readonly text: string;
}

export interface SubjectStats {
  readonly chain: Sums;
  readonly pool: Sums;
}

export interface Coin {
  readonly txid: string;
  readonly vout: number;
  readonly value: Sats;
  readonly confirmation: Confirmation | undefined;
}

/** How many virtual bytes wait at a fee rate (sat/vB) and above, up to the next rate of the list, which is higher. */
export interface RateBand {
  readonly rate: number;
  readonly vsize: number;
}

export interface Pool {
  readonly count: number;
  readonly vsize: number;
  readonly fees: Sats | undefined;
  /** From the highest rate down; undefined if it is not known. */
  readonly bands: readonly RateBand[] | undefined;
}

export interface PoolTransaction {
  readonly txid: string;
  readonly fee: Sats;
  readonly vsize: number;
}

export interface RecentTransaction extends PoolTransaction {
  readonly value: Sats;
}

/** Where a transaction of the pool stands among the others. */
export interface PoolPlace {
  /** sat/vB, of all with which a miner takes it. */
  readonly rate: number;
  /** The others of these. */
  readonly others: readonly PoolTransaction[];
  /** Blocks before the one that would have it; undefined: not known. */
  readonly blocksBefore: number | undefined;
}

/** What the transactions of a block pay. */
export interface BlockFees {
  readonly fees: Sats;
  /** With the new coins. */
  readonly reward: Sats;
  /** sat/vB. */
  readonly lowest: number;
  readonly highest: number;
}

/** sat/vB. */
export interface Fees {
  readonly fastestFee: number;
  readonly halfHourFee: number;
  readonly hourFee: number;
  readonly economyFee: number;
  readonly minimumFee: number;
}

export interface Tip {
  readonly height: number;
  readonly hash: string;
}

/** Virtual bytes of a weight. */
export const vsizeOf = (weight: number): number => Math.ceil(weight / 4);
