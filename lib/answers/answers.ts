// What interfaces answer from, each made once.

import { GatedReader } from '../server/work/gated-reader';
import { BlockForms } from './blocks/block-forms';
import { ExtendedBlocks } from './blocks/extended-blocks';
import { BlockFilters } from './blocks/filters';
import { HeaderTree } from './blocks/header-tree';
import { RawBlocks } from './blocks/raw-blocks';
import { BlockSizes } from './blocks/sizes';
import { SpentBytes } from './blocks/spent-bytes';
import { SpentCounts } from './blocks/spent-counts';
import { SpentOutputs } from './blocks/spent-outputs';
import { BlockTexts } from './blocks/texts';
import { BlockTrees } from './blocks/trees';
import { Headers } from './chain/headers';
import { CoinStats } from './chain/coin-stats';
import { ChainInfoText, type Warnings } from './chain/info';
import { OutpointStatuses } from './outpoints/outpoint-status';
import { PoolFees } from './pool/fees';
import { PoolInflow } from './pool/inflow';
import { PoolProjections } from './pool/projections';
import { PoolTexts } from './pool/texts';
import { Bases } from './scripts/bases';
import { ChainCoins } from './scripts/coins';
import { ScriptsGate, type ScriptsStatus } from './scripts/gate';
import { PooledScripts } from './scripts/pooled-script';
import { ChainTotals } from './scripts/totals';
import { ScriptHistories } from './status/history';
import { Sending } from './transactions/sending';
import { Spends } from './transactions/spends';
import { Transactions } from './transactions/transactions';
import { ShownTip } from '../server/consistency/shown-tip';
import type { IndexReader } from '../index/types';
import type { NodeSource } from '../node/types/source';
import type { ScriptPool } from '../pool/by-script/script-pool';
import type { ScriptReader } from '../scripts/types';
import type { AnswerCache } from '../server/cache/answer-cache';
import type { Limits } from '../server/limits';
import type { ServingOptions } from '../server/serving';
import type { Gate } from '../server/work/gate';
import type { Profile } from '../views/profile';
import type { JsonStyle } from '../views/script';
import type { TxidsOf } from './scripts/txids';

/** What every interface answers from, and the rules that it follows. */
export interface Answers {
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
  readonly warnings: Warnings;
  /** Blocks, and transactions in them, as the node's bytes. */
  readonly blocks: RawBlocks;
  /** Blocks in each form of Bitcoin Core's interface: bytes, hex, JSON. */
  readonly blockForms: BlockForms;
  readonly blockFilters: BlockFilters;
  /** The outputs that blocks spend. */
  readonly spent: SpentOutputs;
  /** The same, as bytes. */
  readonly spentBytes: SpentBytes;
  /** How many of them each transaction of a block spends. */
  readonly spentCounts: SpentCounts;
  /** Memory for long texts: blocks as JSON or hex, many headers as JSON. */
  readonly texts: BlockTexts;
  readonly chainInfo: ChainInfoText;
  /** Headers of the active chain from a block upwards. */
  readonly headers: Headers;
  /** The contents of the pool as JSON. */
  readonly poolTexts: PoolTexts;
  /** Gives transactions to the pool, or tests them. */
  readonly sending: Sending;
  /** What all coins add up to. */
  readonly coinStats: CoinStats;
  /** Undefined when no index has txids. */
  readonly txidsOf: TxidsOf | undefined;
}

/** What interfaces answer from that need the index by script. */
export interface ScriptAnswers extends Answers {
  /** Answers only while the gate is open. Snapshot and pool belong together if both are read in one turn of the event loop. */
  readonly scripts: ScriptReader;
  /** The gate of these interfaces. */
  readonly scriptsGate: ScriptsGate;
  /** The tip of both indexes, as these interfaces show it. */
  readonly scriptsShown: ShownTip;
  /** The pool by script. */
  readonly pool: ScriptPool;
  /** Each script's part of it, as it belongs to a snapshot. */
  readonly pooled: PooledScripts;
  /** What answers depend on, for keeping them. */
  readonly bases: Bases;
  /** Fee estimates, and what the pool pays. */
  readonly fees: PoolFees;
  /** What the chain pays to scripts and spends from them. */
  readonly totals: ChainTotals;
  /** The coins of scripts in the chain. */
  readonly coins: ChainCoins;
  /** Histories from index and pool. */
  readonly histories: ScriptHistories;
  /** Merkle trees of blocks over their txids. */
  readonly trees: BlockTrees;
  /** The Merkle tree over the hashes of all headers. */
  readonly headerTree: HeaderTree;
  /** Sizes and weights of blocks. */
  readonly sizes: BlockSizes;
  /** Blocks with what they pay, as mempool shows them. */
  readonly extended: ExtendedBlocks;
  /** The next blocks as the pool has them. */
  readonly projections: PoolProjections;
  /** How much enters the pool. */
  readonly inflow: PoolInflow;
  /** Transactions as Esplora shows them. */
  readonly transactions: Transactions;
  /** Which transactions spend outputs. */
  readonly spends: Spends;
  /** Which transactions create and spend an output. */
  readonly outpoints: OutpointStatuses;
}

export interface AnswersOptions {
  readonly profile: Profile;
  readonly witness: boolean;
  readonly filters: boolean;
}

/** Parts that only some nodes have. */
export interface OptionalParts {
  /** Undefined when no index has txids. */
  readonly txidsOf?: TxidsOf | undefined;
  /** Undefined when nobody watches the chain. */
  readonly warnings?: Warnings | undefined;
}

const NO_WARNINGS: readonly string[] = [];

/** What serves the interfaces, as far as answers are made with it. */
export interface AnswersParts extends Pick<Answers, 'node' | 'reader' | 'gate' | 'cache'> {
  readonly options: Pick<ServingOptions, 'limits' | 'answerCacheBytes'>;
}

/** Makes what all interfaces of a process answer from. To be called once. */
export function answersOf(
  serving: AnswersParts,
  { profile, witness, filters }: AnswersOptions,
  { txidsOf, warnings = () => NO_WARNINGS }: OptionalParts = {}
): Answers {
  const { node, gate, reader, cache, options } = serving;
  const { limits, answerCacheBytes } = options;
  const blocks = new RawBlocks(node, cache);
  const spentCounts = new SpentCounts(blocks, cache);
  const texts = new BlockTexts(answerCacheBytes);
  const spent = new SpentOutputs(node);
  return {
    node,
    profile,
    reader,
    gate,
    witness,
    filters,
    limits,
    cache,
    warnings,
    blocks,
    texts,
    spent,
    spentCounts,
    spentBytes: new SpentBytes(node, blocks, spentCounts, cache),
    blockForms: new BlockForms({ node, profile, witness, blocks, texts, spent, txidsOf }),
    blockFilters: new BlockFilters(node, reader),
    chainInfo: new ChainInfoText(node, reader, profile.fields, warnings),
    headers: new Headers(profile.fields, texts, cache),
    poolTexts: new PoolTexts(node, profile.fields, gate),
    sending: new Sending({ node, reader }),
    coinStats: new CoinStats(reader, txidsOf),
    txidsOf
  };
}

/** What the answers need of the index by script. */
export interface AnsweringScripts extends ScriptsStatus {
  readonly reader: ScriptReader;
}

/** `gate`: the gate of the main index. */
export function scriptAnswersOf(answers: Answers, gate: Gate, scripts: AnsweringScripts, pool: ScriptPool): ScriptAnswers {
  const { node, blocks, cache } = answers;
  const scriptsGate = new ScriptsGate(gate, scripts);
  const reader = new GatedReader(scripts.reader, scriptsGate);
  const pooled = new PooledScripts(pool);
  const bases = new Bases({ scripts: reader, pool });
  const totals = new ChainTotals(cache);
  const transactions = new Transactions(answers);
  const spends = new Spends({ scripts: reader, pool, transactions, bases, cache });
  return {
    ...answers,
    scripts: reader,
    scriptsGate,
    scriptsShown: new ShownTip(() => reader.read(({ index }) => index.tip)),
    pool,
    pooled,
    bases,
    fees: new PoolFees(node, pool),
    totals,
    coins: new ChainCoins(blocks, totals, cache),
    histories: new ScriptHistories(pooled, totals),
    trees: new BlockTrees(cache),
    headerTree: new HeaderTree(cache),
    sizes: new BlockSizes(blocks),
    extended: new ExtendedBlocks({ node, blocks, spent: answers.spent, cache }),
    projections: new PoolProjections(node.pool, pool),
    inflow: new PoolInflow(pool.changes$),
    transactions,
    spends,
    outpoints: new OutpointStatuses({ pool, transactions, spends })
  };
}

/** How JSON shows addresses and fields on this network and in this edition. */
export function styleOf({ node, profile: { fields } }: Pick<Answers, 'node' | 'profile'>): JsonStyle {
  return { prefixes: node.network.addressPrefixes, fields };
}
