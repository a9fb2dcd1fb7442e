// The state of the chain as JSON, written once for each state.

import { bitsOf, timeOf } from '../../bitcoin/header';
import { chainInfoJson, softForksJson, type ChainInfo } from '../../views/chain-info';
import type { HeaderRecord, IndexReader, IndexSnapshot } from '../../index/types';
import type { NodeSource } from '../../node/types/source';
import type { Basis } from '../../server/http/reply';
import type { ProfileFields } from '../../views/profile';

/** What a block adds to a blk file besides its own bytes: magic and length. */
const FRAMING_BYTES = 8;

/** The memory of a state. */
const STATE_BYTES = 256;

/** The state of the chain as a reply. */
export interface ChainInfoReply {
  /** The JSON and a line feed. */
  readonly text: Buffer;
  readonly basis: Basis;
}

/** The state for which a reply holds. */
interface ChainState {
  /** Identifies the state: no two states of the index share a tip object. */
  readonly tip: HeaderRecord;
  readonly verified: number;
  readonly synced: boolean;
  /** Lowest height whose block the node still has, when it is pruned. */
  readonly pruneHeight: number | undefined;
  /** What an operator must know. */
  readonly warnings: readonly string[];
}

/** Says what is wrong with the chain. */
export type Warnings = () => readonly string[];

export class ChainInfoText {
  readonly #node: NodeSource;
  readonly #reader: IndexReader;
  readonly #fields: ProfileFields;
  readonly #warnings: Warnings;
  #cached: (ChainInfoReply & { readonly state: ChainState }) | undefined;

  constructor(node: NodeSource, reader: IndexReader, fields: ProfileFields, warnings: Warnings) {
    this.#node = node;
    this.#reader = reader;
    this.#fields = fields;
    this.#warnings = warnings;
  }

  /** @throws HttpError 503 */
  async get(): Promise<ChainInfoReply> {
    const [node, reader] = [this.#node, this.#reader];
    const state = this.#state();
    if (this.#cached !== undefined && isSame(this.#cached.state, state)) return this.#cached;
    // Everything is of the index's tip: the node's tip may differ for a moment.
    const info = reader.read((snapshot) => describe(snapshot, state, node));
    const softForks = this.#fields.softForks ? softForksJson(await node.deployments(info.bestHash)) : undefined;
    const text = chainInfoJson({ ...info, softForks }, this.#fields);
    const basis: Basis = { byteLength: STATE_BYTES, isSame: () => isSame(state, this.#state()) };
    this.#cached = { state, text, basis };
    return this.#cached;
  }

  #state(): ChainState {
    const node = this.#node;
    return {
      tip: this.#reader.read(({ tip }) => tip),
      verified: node.progress().verified,
      synced: node.synced,
      pruneHeight: node.pruned ? node.pruneHeight() : undefined,
      warnings: this.#warnings()
    };
  }
}

function isSame(a: ChainState, b: ChainState): boolean {
  const isSameChain = a.tip === b.tip && a.verified === b.verified && a.synced === b.synced;
  return isSameChain && a.pruneHeight === b.pruneHeight && isSameList(a.warnings, b.warnings);
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i]);
}

function describe(snapshot: IndexSnapshot, { verified, synced, pruneHeight, warnings }: ChainState, node: NodeSource): ChainInfo {
  const { tip } = snapshot;
  return {
    chain: node.network.chain,
    blocks: tip.height,
    // bcoin keeps no headers ahead of its blocks.
    headers: tip.height,
    bestHash: tip.hash,
    bits: bitsOf(tip.header),
    time: timeOf(tip.header),
    medianTime: tip.medianTime,
    verified,
    initialBlockDownload: !synced,
    chainwork: tip.chainwork,
    sizeOnDisk: sizeOnDisk(snapshot, pruneHeight ?? 0),
    ...(pruneHeight !== undefined && { prune: { height: pruneHeight, automatic: true } }),
    warnings
  };
}

/** The size of the blocks from height `lowest` up. */
function sizeOnDisk(snapshot: IndexSnapshot, lowest: number): number {
  const { tip } = snapshot;
  const before = snapshot.headerAt(lowest - 1)?.chainBytes ?? 0;
  return tip.chainBytes - before + (tip.height - lowest + 1) * FRAMING_BYTES;
}
