// A node's transaction pool. Amounts are satoshis, hashes 32-byte Buffers in wire order, times Unix seconds.

import type { Observable } from 'rxjs';
import type { RefusalWords } from '../errors';
import type { BlockMove } from './chain';

/** An output that a transaction of the pool makes or spends. */
export interface PoolCoin {
  readonly value: number;
  readonly script: Buffer;
}

/** A transaction in the pool. */
export interface PoolEntry {
  readonly txid: Buffer;
  readonly wtxid: Buffer;
  /** Virtual bytes, of the adjusted weight. */
  readonly size: number;
  /** As in a block (BIP141). */
  readonly weight: number;
  /** The weight by which the pool judges the transaction: more than `weight` if it has many signature operations. */
  readonly adjustedWeight: number;
  readonly fee: number;
  /** The fee plus the amounts that `prioritisetransaction` added. */
  readonly modifiedFee: number;
  readonly time: number;
  /** Height of the chain when the transaction entered; if a reorganization put it back, the height after the reorganization. */
  readonly height: number;
  /** For each input, the txid that it spends from, confirmed or not. */
  readonly spends: readonly Buffer[];
  /** Whether it signals that it may be replaced (BIP125). */
  readonly signalsReplacement: boolean;
  /** True for a transaction that was given to this node, until a peer asks for it or sends it. */
  readonly isUnbroadcast: boolean;
}

export interface PoolInfo {
  readonly size: number;
  /** Sum of the entries' sizes. */
  readonly bytes: number;
  /** Sum of the entries' unmodified fees. */
  readonly totalFee: number;
  /** Entries that are unbroadcast. */
  readonly unbroadcast: number;
  /** Bytes of the longest script with data (`OP_RETURN`) that the pool accepts. */
  readonly mostDataCarrierBytes: number;
  /** Memory in bytes, as the node counts it. */
  readonly usage: number;
  readonly maxUsage: number;
  /** What the pool asks for now, not less than what it always asks for. Satoshis per 1,000 virtual bytes, as the next one. */
  readonly minFeeRate: number;
  readonly minRelayFeeRate: number;
  /** Whether a better transaction takes the place of those that it conflicts with. */
  readonly replaces: boolean;
}

/** Whether the pool would accept a transaction. */
export type TrialResult =
  | { readonly type: 'taken'; readonly fee: number; /** Sigop-adjusted virtual bytes. */ readonly size: number }
  /** `reason`: the node's reason. `words`: Bitcoin Core's, if the node has them. */
  | { readonly type: 'refused'; readonly reason: string; readonly words?: RefusalWords }
  /** It spends outputs that do not exist, or are spent. */
  | { readonly type: 'missing' };

/** Whether the pool would accept several transactions. */
export interface Trials {
  /** In the order of the transactions; undefined: another one was refused before this one was judged. */
  readonly results: readonly (TrialResult | undefined)[];
  /** Why they cannot enter together, in Bitcoin Core's words. */
  readonly fault?: string;
}

/** What became of a transaction of a package that was submitted. Sizes: virtual bytes, of the adjusted weight; weights as in a block. */
export type PackageMember =
  | {
      readonly type: 'entered';
      readonly fee: number;
      readonly size: number;
      readonly weight: number;
      /** The transactions that were judged by their fees and sizes together. */
      readonly effective: { readonly fee: number; readonly size: number; readonly wtxids: readonly Buffer[] };
    }
  /** It was there before. */
  | { readonly type: 'pooled'; readonly fee: number; readonly size: number; readonly weight: number }
  | { readonly type: 'pooled with another witness'; readonly wtxid: Buffer }
  /** In Bitcoin Core's words. */
  | { readonly type: 'refused'; readonly reason: string; readonly details: string };

export interface SubmittedPackage {
  /** Bitcoin Core's words for the package as a whole. */
  readonly message: string;
  /** In the order of the transactions. */
  readonly members: readonly PackageMember[];
  /** The txids of what has left the pool for them, sorted. */
  readonly replaced: readonly Buffer[];
}

/** A transaction of the pool and the coins that it spends. These are read when asked for, even after the transaction left the pool. */
export interface PoolTransaction {
  readonly txid: Buffer;
  /** Serialized, witness included: the node's bytes, not a copy. */
  readonly raw: Buffer;
  /** The coins that it spends, in the order of its inputs. The scripts may be views of larger buffers. */
  readonly coins: readonly PoolCoin[];
}

export interface PoolAddition extends PoolTransaction {
  readonly type: 'add';
}

/** A change of the pool. */
export type PoolEvent = PoolAddition | PoolRemoval | PoolClearing;

/** All transactions have left. `txids`: which ones, if the source knows them. */
export interface PoolClearing {
  readonly type: 'clear';
  readonly txids?: readonly Buffer[];
}

/**
 * `replacement`: the txid of the transaction that takes its place, or that of one that it descends from. That one enters afterwards, unless it is
 * one of the block that the node is connecting.
 */
export interface PoolRemoval {
  readonly type: 'remove';
  readonly txid: Buffer;
  readonly replacement?: Buffer;
  /** True when the block that the node is connecting has the transaction, if the source knows. */
  readonly isConfirmed?: boolean;
}

/** A block that the node is connecting or disconnecting. */
export interface FollowedMove extends Pick<BlockMove, 'type'> {
  readonly height: number;
}

/** The node's transaction pool. All calls except `withCoins` answer from memory. */
export interface PoolSource {
  /** A number that differs after every change of the pool. A result computed at one revision is right for that revision. */
  readonly revision: number;
  /** The number of the next change, from 1: each transaction that enters or leaves has one. While an event is delivered it is counted already. */
  readonly sequence: number;
  /** What the node is doing with a block while the pool changes because of it. A reader of a fleet does not know. */
  readonly following: FollowedMove | undefined;
  /** Changes of the pool as they happen. */
  readonly events$: Observable<PoolEvent>;
  /**
   * A fingerprint of 32 bits of all modified fees. Prioritising a transaction changes its modified fee without an event: a result
   * that shows modified fees is right for one revision and one fingerprint.
   */
  feeFingerprint(): number;
  /** The serialized transaction, witness included. */
  transaction(txid: Buffer): Buffer | undefined;
  /** An output that no transaction of the pool spends. */
  coin(txid: Buffer, index: number): PoolCoin | undefined;
  isSpent(txid: Buffer, index: number): boolean;
  /** The transaction of the pool that spends an output, and by which of its inputs. */
  spender(txid: Buffer, index: number): { readonly txid: Buffer; readonly input: number } | undefined;
  /** All txids, in the order in which the transactions entered. */
  txids(): Buffer[];
  /**
   * A transaction with its coins, even if it entered before anybody listened. Waits until no block is being connected or disconnected,
   * so a listener to the chain must not wait for it. undefined: the pool lacks the transaction, or its coins are gone.
   */
  withCoins(txid: Buffer): Promise<PoolTransaction | undefined>;
  info(): PoolInfo;
  /** In the order in which they entered. An entry stays the same object as long as nothing but its modified fee changes. */
  entries(): PoolEntry[];
  /** The entry of a transaction. */
  entry(txid: Buffer): PoolEntry | undefined;
}
