// The records of the log (proto/fleet.proto) as the code sees them. Hashes are 32-byte Buffers in wire order.

import type { BlockPoint } from '../../node/types/chain';
import type { PoolCoin, PoolInfo } from '../../node/types/pool';
import type { DeploymentInfo, Deployments } from '../../node/types/soft-forks';
import type { FeeEstimate, NetworkStatus } from '../../node/types/source';

/** A place in a log. */
export interface LogPosition {
  /** Differs for each log: when its stream was made, as the server writes it. */
  readonly incarnation: string;
  /** Of the last record, from 1; 0: before the first. */
  readonly sequence: number;
}

export interface LogRecord {
  /** Greater for each new leader. */
  readonly term: number;
  /** Differs for each term, whatever the servers have lost: 8 random bytes. */
  readonly termId: Buffer;
  /** Sequence of the term's first record. The others follow it without a gap. */
  readonly termStart: number;
  /** Name of the node that wrote it. */
  readonly node: string;
  /** When it was written by that node's clock, in Unix milliseconds. */
  readonly at: number;
  readonly body: RecordBody;
}

export type RecordBody = ChainRecord | BlockPart | PoolRecord | Beat;

/** A record of the chain's moves. The last one of a log says where the chain is. */
export type ChainRecord = Connect | Disconnect | Reset;

export type PoolRecord = PoolAdd | PoolRemove | PoolChange | PoolClear;

/** Of a block's bytes and, behind them, the node's undo record. The parts follow each other, and come before the Connect. */
export interface BlockPart {
  readonly type: 'block';
  readonly hash: Buffer;
  /** From 0. */
  readonly part: number;
  readonly parts: number;
  readonly bytes: Buffer;
}

/** A block and what is known of it. */
export interface ChainPoint extends BlockPoint {
  /** 80 bytes. */
  readonly header: Buffer;
  /** Work of the chain up to and including this block. */
  readonly chainwork: bigint;
  /** Median time past of this block (BIP113). */
  readonly medianTime: number;
  /** As the block after this one sees them. */
  readonly deployments: Deployments;
  /** As it sees them itself. */
  readonly deploymentInfo: DeploymentInfo;
}

export interface Connect extends ChainPoint {
  readonly type: 'connect';
  readonly blockBytes: number;
  /** Length of the undo record; 0: it is not in the log, or there is none. */
  readonly undoBytes: number;
  /** Sequence of the block's first part; 0: the block is not in the log. */
  readonly blockSequence: number;
}

export interface Disconnect extends BlockPoint {
  readonly type: 'disconnect';
  /** Work of the chain that is left. */
  readonly chainwork: bigint;
  /** Hash of the block that is the tip now. */
  readonly previous: Buffer;
}

/** The chain is at this block, wherever it was before; its blocks are not in the log, but nodes have them. */
export interface Reset extends ChainPoint {
  readonly type: 'reset';
  /** `start`: the first record of a log. `gap`: too many blocks for the log. `rewind`: the operator wants less work. */
  readonly reason: ResetReason;
}

export type ResetReason = 'start' | 'gap' | 'rewind';

/** The transaction is in the pool. One that was there already has changed and keeps its place. */
export interface PoolAdd {
  readonly type: 'add';
  /** Serialized, witness included. */
  readonly raw: Buffer;
  /** That it spends, in the order of its inputs. */
  readonly coins: readonly PoolCoin[];
  readonly size: number;
  readonly adjustedWeight: number;
  readonly time: number;
  readonly height: number;
  readonly fee: number;
  readonly modifiedFee: number;
  readonly isUnbroadcast: boolean;
}

export interface PoolRemove {
  readonly type: 'remove';
  readonly txid: Buffer;
  /** Of the transaction that takes its place. */
  readonly replacement?: Buffer;
}

/** What has changed of an entry without an event. */
export interface PoolChange {
  readonly type: 'change';
  readonly txid: Buffer;
  readonly modifiedFee: number;
  readonly height: number;
  readonly isUnbroadcast: boolean;
}

/** All transactions have left the pool but those that are kept, by this record and those before it that belong to it. */
export interface PoolClear {
  readonly type: 'clear';
  /** Txids. Not all of them need to be in the reader's pool: those that it lacks are added by later records. */
  readonly kept: readonly Buffer[];
  /** From 0. */
  readonly part: number;
  /** Whether the next record has further ones; until the last one nothing has left. */
  readonly hasMore: boolean;
}

/** Nothing is kept. */
export const WHOLE_CLEAR: PoolClear = { type: 'clear', kept: [], part: 0, hasMore: false };

/** What the leading node says of itself, once a second and after changes. */
export interface Beat {
  readonly type: 'beat';
  /** Where the log says that the chain is. */
  readonly tip: BlockPoint;
  readonly synced: boolean;
  /** Estimated part of the chain that is verified, 0 to 1. */
  readonly verified: number;
  readonly pool: BeatPool;
  readonly network: NetworkStatus;
  /** What `estimateFee` answers: `blocks` is the lowest number within which this rate leads to a confirmation, ascending. */
  readonly fees: readonly FeeEstimate[];
  readonly mostFeeBlocks: number;
  /** What is wrong with the node's chain. */
  readonly warnings: readonly string[];
  /** Version of this package on the node. */
  readonly release: string;
  readonly pruned: boolean;
}

/** What a replica of the pool cannot know by itself, and for comparison what it can. */
export type BeatPool = Omit<PoolInfo, 'totalFee' | 'unbroadcast'>;
