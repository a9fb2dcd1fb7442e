// Finds a block of the node's chain that nodes which know taproot refuse. bcoin takes any spend of a taproot output, so it follows a chain with
// such a block as long as this has the most work. Its operator must know: nothing can be relied on that such a chain confirms.

import { combineLatest, type Subscription } from 'rxjs';
import { toDisplayHex } from '../bitcoin/hash';
import { messageOf } from '../turns/error-text';
import { FaultFinder } from './fault-finder';
import type { IndexLogger } from '../follow/logger';
import type { ChainIndex, IndexedBlock } from '../index/types';
import type { BlockPoint, NodeSource } from '../node/types';

/** Blocks below the tip that are looked at when the node comes up to date: those of a day. */
const LATEST_BLOCKS = 144;

export interface RefusedBlocksParts {
  readonly node: Pick<NodeSource, 'rawBlock' | 'spentOutputs' | 'activeHash' | 'synced$'>;
  readonly index: Pick<ChainIndex, 'state$' | 'blocks$'>;
  readonly logger: IndexLogger;
}

interface RefusedBlock extends BlockPoint {
  readonly text: string;
}

export class RefusedBlocks {
  readonly #node: RefusedBlocksParts['node'];
  readonly #index: RefusedBlocksParts['index'];
  readonly #logger: IndexLogger;
  readonly #finder: FaultFinder;
  /** The lowest one that was found in the active chain. Those on top of it are refused with it, and are not looked at. */
  #refused: RefusedBlock | undefined;
  #warnings: readonly string[] = [];
  /** Up to this height blocks have been looked at. */
  #checked = -1;
  /** The tip while node and index are up to date. */
  #tip: number | undefined;
  #isChecking = false;
  #following: Subscription | undefined;

  constructor({ node, index, logger }: RefusedBlocksParts) {
    this.#node = node;
    this.#index = index;
    this.#logger = logger;
    this.#finder = new FaultFinder(node);
  }

  /** What is wrong with the chain: one text at most. The same list until something changes. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** Looks at the latest blocks once node and index are up to date, and at each block that comes after them. */
  open(): void {
    const { state$, blocks$ } = this.#index;
    this.#following = blocks$.subscribe((change) => {
      this.#onChange(change);
    });
    this.#following.add(
      combineLatest([state$, this.#node.synced$]).subscribe(([state, synced]) => {
        this.#tip = state.phase === 'live' && synced ? state.height : undefined;
        if (!this.#isChecking) void this.#check();
      })
    );
  }

  async close(): Promise<void> {
    this.#following?.unsubscribe();
    this.#tip = undefined;
    await this.#finder.close();
  }

  #onChange({ type, block }: IndexedBlock): void {
    const refused = this.#refused;
    if (type === 'connect') {
      if (refused !== undefined) this.#logger.error(`${refused.text} Block ${block.height} was built on it.`);
      return;
    }
    this.#checked = Math.min(this.#checked, block.height - 1);
    if (refused === undefined || !refused.hash.equals(block.hash)) return;
    this.#logger.warning(`Block ${block.height} (${toDisplayHex(block.hash)}), which other nodes refuse, has left the chain.`);
    this.#set(undefined);
  }

  async #check(): Promise<void> {
    this.#isChecking = true;
    while (this.#tip !== undefined && this.#checked < this.#tip && this.#refused === undefined) {
      const height = Math.max(this.#checked + 1, this.#tip - LATEST_BLOCKS + 1);
      this.#checked = height;
      await this.#checkAt(height);
    }
    this.#isChecking = false;
  }

  async #checkAt(height: number): Promise<void> {
    try {
      const hash = await this.#node.activeHash(height);
      if (hash === undefined) return;
      const fault = await this.#finder.find(hash);
      // It may have left the chain meanwhile.
      if (fault === undefined || this.#checked < height) return;
      const what = `input ${fault.input} of ${toDisplayHex(Buffer.from(fault.txid))}: ${fault.error}`;
      const text = `Block ${height} (${toDisplayHex(hash)}) of this node's chain is refused by other nodes (${what}).`;
      this.#set({ hash, height, text });
      this.#logger.error(`${text} Do not rely on anything that this chain confirms.`);
    } catch (error) {
      this.#logger.warning(`Block ${height} could not be checked for taproot: ${messageOf(error)}.`);
    }
  }

  #set(refused: RefusedBlock | undefined): void {
    this.#refused = refused;
    this.#warnings = refused === undefined ? [] : [refused.text];
  }
}
