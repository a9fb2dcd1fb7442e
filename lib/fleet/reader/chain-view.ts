// The chain as a reader sees it: the hash of each block by height, and for the latest blocks what headers add up to. A view changes block
// by block; a copy is made where another branch is only tried.

import { LRUCache } from 'lru-cache';
import { keyOf } from '../../bitcoin/hash';
import { HEADER_LENGTH, MEDIAN_TIME_SPAN, nextHeader, previousHashOf, timeOf, type HeaderFold } from '../../bitcoin/header';
import { ownCopy } from '../../system/own-copy';
import { checkedHash } from './checks';
import { HashTable } from './hash-table';
import type { HeaderRecord, IndexSnapshot } from '../../index/types';
import type { BlockEntry, BlockPoint } from '../../node/types/chain';
import type { ReaderNetwork } from './networks';

/** Blocks of which more than the hash is kept: two months of the main network, those of other branches included. */
const MOST_ENTRIES = 8_640;

const HEADERS_AT_ONCE = 2_000;

/** Hashes of a locator that follow each other. */
const CONSECUTIVE = 10;

/** The headers of a chain that a process has itself. */
export type OwnHeaders = Pick<IndexSnapshot, 'tip' | 'headerAt' | 'headerRun'>;

/** A block, and what its header and all below it add up to. */
export interface ViewEntry extends BlockEntry, HeaderFold {}

export class ChainView {
  readonly #network: ReaderNetwork;
  readonly #hashes: HashTable;
  readonly #entries = new LRUCache<string, ViewEntry>({ max: MOST_ENTRIES });
  #tip: ViewEntry;

  private constructor(network: ReaderNetwork, hashes: HashTable, tip: ViewEntry) {
    this.#network = network;
    this.#hashes = hashes;
    this.#tip = tip;
    this.#keep(tip);
  }

  /** A chain of the genesis block alone. */
  static ofGenesis(network: ReaderNetwork): ChainView {
    const { genesisHash: hash, genesisHeader: header } = network;
    const hashes = new HashTable();
    hashes.push(hash);
    return new ChainView(network, hashes, { hash, height: 0, header, ...nextHeader(undefined, header) });
  }

  /** The chain of an index, whose headers were checked when they came into it. */
  static ofIndex(network: ReaderNetwork, index: OwnHeaders): ChainView {
    const hashes = new HashTable();
    for (let run = index.headerRun(0, HEADERS_AT_ONCE); run !== undefined; run = index.headerRun(run.height + run.count, HEADERS_AT_ONCE)) {
      for (let i = 1; i < run.count; i++) hashes.push(previousHashOf(run.headers.subarray(i * HEADER_LENGTH)));
      hashes.push(run.lastHash);
    }
    const lowest = Math.max(0, index.tip.height - MOST_ENTRIES / 2);
    let entry = entryOf(index, lowest);
    const view = new ChainView(network, hashes, entry);
    while (entry.height < index.tip.height) {
      const { hash, height, header } = index.headerAt(entry.height + 1) as HeaderRecord; // not above the tip
      entry = { hash, height, header, ...nextHeader(entry, header) };
      view.#keep(entry);
    }
    view.#tip = entry;
    return view;
  }

  get tip(): ViewEntry {
    return this.#tip;
  }

  /** undefined above the tip. */
  hashAt(height: number): Buffer | undefined {
    return this.#hashes.at(height);
  }

  has({ hash, height }: BlockPoint): boolean {
    return this.#hashes.at(height)?.equals(hash) === true;
  }

  /** A block that was in the chain lately, and may be still. */
  entry(hash: Buffer): ViewEntry | undefined {
    return this.#entries.get(keyOf(hash));
  }

  /**
   * Adds the block of a header, which may be a view into a message, on top of the tip.
   * @throws UntrueRecordError if it does not fit, or has no proof of work
   */
  push(header: Buffer): ViewEntry {
    const hash = checkedHash(header, this.#tip.hash, this.#network);
    const entry = { hash: ownCopy(hash), height: this.#tip.height + 1, header: ownCopy(header), ...nextHeader(this.#tip, header) };
    this.#hashes.push(hash);
    this.#keep(entry);
    this.#tip = entry;
    return entry;
  }

  /** Takes blocks off until the one at a height is the tip; false, and nothing is done, if too little is known of that one. */
  cutTo(height: number): boolean {
    const hash = this.#hashes.at(height);
    const entry = hash && this.entry(hash);
    if (entry === undefined) return false;
    this.#hashes.cutTo(height + 1);
    this.#tip = entry;
    return true;
  }

  copy(): ChainView {
    const copy = new ChainView(this.#network, this.#hashes.copy(), this.#tip);
    for (const entry of [...this.#entries.values()].reverse()) copy.#keep(entry);
    return copy;
  }

  /** Hashes by which a node finds the last block that it has in common: the tip's, and further and further down those of others. */
  locator(): Buffer[] {
    const hashes: Buffer[] = [];
    for (let [height, step] = [this.#tip.height, 1]; height > 0; height -= step) {
      hashes.push(this.#hashes.at(height) as Buffer); // up to the tip there are all
      if (hashes.length >= CONSECUTIVE) step *= 2;
    }
    return [...hashes, this.#network.genesisHash];
  }

  #keep(entry: ViewEntry): void {
    this.#entries.set(keyOf(entry.hash), entry);
  }
}

/** A block of an index with the times of those below it. */
function entryOf(index: OwnHeaders, height: number): ViewEntry {
  const times: number[] = [];
  for (let below = Math.max(0, height - MEDIAN_TIME_SPAN + 1); below <= height; below++)
    times.push(timeOf((index.headerAt(below) as HeaderRecord).header)); // not above the tip
  const { hash, header, chainwork, medianTime } = index.headerAt(height) as HeaderRecord;
  return { hash, height, header, chainwork, medianTime, times };
}
