// Finds a block of the node's chain that nodes which know taproot refuse. bcoin takes any spend of a taproot output, so it follows a chain with
// such a block as long as this has the most work. Its operator must know: nothing can be relied on that such a chain confirms.

import { combineLatest, type Subscription } from 'rxjs';
import { toDisplayHex } from '../bitcoin/hash';
import { messageOf } from '../system/error-text';
import { FaultFinder } from './fault-finder';
import { refusedText, type RefusedBlock, type RefusedBlockFile } from './refused-block';
import type { IndexLogger } from '../follow/logger';
import type { ChainIndex, IndexedBlock } from '../index/types';
import type { NodeSource } from '../node/types/source';

/** Blocks below the tip that are looked at when the node comes up to date: those of a day. */
const LATEST_BLOCKS = 144;

export interface RefusedBlocksParts {
  readonly node: Pick<NodeSource, 'rawBlock' | 'spentOutputs' | 'activeHash' | 'synced$'>;
  readonly index: Pick<ChainIndex, 'state$' | 'blocks$'>;
  readonly logger: IndexLogger;
  /** Undefined for a node in memory. */
  readonly file: RefusedBlockFile | undefined;
}

export class RefusedBlocks {
  readonly #node: RefusedBlocksParts['node'];
  readonly #index: RefusedBlocksParts['index'];
  readonly #logger: IndexLogger;
  readonly #file: RefusedBlockFile | undefined;
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
  /** The file is written by one at a time. */
  #writing: Promise<void> = Promise.resolve();

  constructor({ node, index, logger, file }: RefusedBlocksParts) {
    this.#node = node;
    this.#index = index;
    this.#logger = logger;
    this.#file = file;
    this.#finder = new FaultFinder(node);
  }

  /** What is wrong with the chain: one text at most. The same list until something changes. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /**
   * Says at once what was found before the last stop. Looks at the latest blocks once node and index are up to date, and at each block that
   * comes after them.
   */
  async open(): Promise<void> {
    await this.#remember();
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
    await this.#writing;
  }

  async #remember(): Promise<void> {
    try {
      const refused = await this.#file?.read();
      if (refused === undefined) return;
      if (await this.#isActive(refused)) this.#say(refused);
      else this.#keep(undefined);
    } catch (error) {
      // The file stays, so that each start says so: the block may be older than those that are looked at again.
      this.#logger.warning(
        `Whether a block was refused by other nodes before is not known: ${messageOf(error)}. Delete the file once you know.`
      );
    }
  }

  async #isActive({ height, hash }: RefusedBlock): Promise<boolean> {
    return (await this.#node.activeHash(height))?.equals(hash) === true;
  }

  #onChange({ type, block }: IndexedBlock): void {
    const refused = this.#refused;
    if (type === 'connect') {
      if (refused !== undefined && block.height > refused.height)
        this.#logger.error(`${refusedText(refused)} Block ${block.height} was built on it.`);
      return;
    }
    this.#checked = Math.min(this.#checked, block.height - 1);
    if (refused?.hash.equals(block.hash) === true) this.#forget(refused);
  }

  async #check(): Promise<void> {
    this.#isChecking = true;
    await this.#forgetUnlessActive();
    while (this.#tip !== undefined && this.#checked < this.#tip && this.#refused === undefined) {
      const height = Math.max(this.#checked + 1, this.#tip - LATEST_BLOCKS + 1);
      this.#checked = height;
      await this.#checkAt(height);
    }
    this.#isChecking = false;
  }

  /** It may have left the chain while the index was below it. */
  async #forgetUnlessActive(): Promise<void> {
    const refused = this.#refused;
    try {
      if (refused !== undefined && !(await this.#isActive(refused)) && this.#refused === refused) this.#forget(refused);
    } catch (error) {
      this.#logger.warning(`Whether the block that other nodes refuse is still there is not known: ${messageOf(error)}.`);
    }
  }

  async #checkAt(height: number): Promise<void> {
    try {
      const hash = await this.#node.activeHash(height);
      if (hash === undefined) return;
      const fault = await this.#finder.find(hash);
      // It may have left the chain meanwhile.
      if (fault === undefined || this.#checked < height) return;
      const { txid, input, error } = fault;
      const refused = { hash, height, fault: `input ${input} of ${toDisplayHex(Buffer.from(txid))}: ${error}` };
      this.#say(refused);
      this.#keep(refused);
    } catch (error) {
      this.#logger.warning(`Block ${height} could not be checked for taproot: ${messageOf(error)}.`);
    }
  }

  #say(refused: RefusedBlock): void {
    const text = refusedText(refused);
    this.#refused = refused;
    this.#warnings = [text];
    this.#logger.error(`${text} Do not rely on anything that this chain confirms.`);
  }

  #forget({ height, hash }: RefusedBlock): void {
    this.#refused = undefined;
    this.#warnings = [];
    this.#logger.warning(`Block ${height} (${toDisplayHex(hash)}), which other nodes refuse, has left the chain.`);
    this.#keep(undefined);
  }

  #keep(refused: RefusedBlock | undefined): void {
    this.#writing = this.#writing
      .then(() => this.#file?.write(refused))
      .catch((error: unknown) => {
        this.#logger.warning(`That a block is refused by other nodes could not be kept for the next start: ${messageOf(error)}.`);
      });
  }
}
