// What interfaces answer from.

import type { IndexReader } from '../index/types';
import type { BlockPoint, NodeSource } from '../node/types';
import type { Profile } from '../views/profile';
import type { JsonStyle } from '../views/script';
import type { AnswerCache } from '../server/cache/answer-cache';
import type { Limits } from '../server/limits';
import type { Gate } from '../server/work/gate';
import type { PoolTexts } from './pool/texts';
import type { RawBlocks } from './blocks/raw-blocks';
import type { SpentOutputs } from './blocks/spent-outputs';
import type { BlockTexts } from './blocks/texts';

/** What endpoints answer from, and the rules they follow. */
export interface EndpointContext {
  readonly node: NodeSource;
  /** The edition of Bitcoin Core's interface that is spoken. */
  readonly profile: Profile;
  /** Answers only while the gate is open. */
  readonly reader: IndexReader;
  /** For code that waits and then reads something other than the index. */
  readonly gate: Pick<Gate, 'requireOpen'>;
  /** Whether bin and hex carry witnesses (`rpcserialversion`). */
  readonly witness: boolean;
  /** Whether blocks have filters. */
  readonly filters: boolean;
  readonly limits: Limits;
  readonly cache: AnswerCache;
  readonly blocks: RawBlocks;
  readonly texts: BlockTexts;
  readonly poolTexts: PoolTexts;
  readonly spent: SpentOutputs;
  readonly txids: TxidSource;
}

/** A source of a block's txids that is cheaper than hashing its transactions. */
export interface TxidSource {
  /** The txids of a block of the active chain, in block order; undefined if they are missing. Not set when no index keeps txids. */
  of: ((block: BlockPoint) => Promise<readonly Buffer[] | undefined>) | undefined;
}

/** How JSON shows addresses and fields on this network and in this edition. */
export function styleOf({ node, profile: { fields } }: Pick<EndpointContext, 'node' | 'profile'>): JsonStyle {
  return { prefixes: node.network.addressPrefixes, fields };
}
