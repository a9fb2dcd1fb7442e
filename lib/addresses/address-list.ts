// The list of all addresses to which outputs of the chain have ever paid, for searching by how they begin. Addresses are only ever added:
// a reorganization leaves those of undone blocks, which are found although nothing pays to them. So adding a block twice does no harm, and
// the list needs no undo records. It follows the main index a moment later; nothing waits for it.

import { NO_HASH } from '../bitcoin/hash';
import { consecutiveBlocks, type RawBlock } from '../follow/consecutive';
import { DamagedIndexError } from '../follow/errors';
import { damageFoundBy, FAILURE_PAUSE_MS, FollowLoop } from '../follow/follow-loop';
import { scrubAgainAndAgain } from '../follow/scrub';
import { LoggedState } from '../follow/logged-state';
import { IndexUnavailableError } from '../index/errors';
import { MalformedBytesError } from '../bitcoin/reader';
import { ChainMovedError, UnreadableBlockError } from '../node/errors';
import { whyMissing } from '../scripts/scan/node-blocks';
import { StoreError } from '../store/errors';
import { messageOf } from '../system/error-text';
import { runAhead } from '../turns/slices';
import { addPaidAddresses } from './paid-addresses';
import { addressIn, addressKeys, findProgress, keptHeights, putAddress, putProgress, type ListProgress } from './records';
import { addressesText, AddressesUnavailableError, type AddressesState } from './state';
import type { Observable, Subscription } from 'rxjs';
import type { IndexLogger } from '../follow/logger';
import type { ChainIndex } from '../index/types';
import type { BlockPoint } from '../node/types/chain';
import type { NodeSource } from '../node/types/source';
import type { Store, StoreWrite } from '../store/store';

/** With fewer blocks to take in, a live list goes on answering. */
const FEW_BLOCKS = 6;

export interface AddressListParts {
  readonly store: Store;
  readonly index: Pick<ChainIndex, 'latest' | 'state' | 'state$' | 'tip$'>;
  readonly node: Pick<NodeSource, 'rawBlock' | 'activeHash' | 'resetting' | 'network'>;
  readonly logger: IndexLogger;
  /** How long one pass over the files of the open store takes (lib/follow/scrub.ts); 0: no passes. */
  readonly scrubMs: number;
  /** Pause before a list that has failed is tried again; a minute unless given. */
  readonly failurePauseMs?: number;
}

export class AddressList extends FollowLoop {
  /** Replays the current state to a new subscriber. */
  readonly state$: Observable<AddressesState>;
  readonly #parts: AddressListParts;
  readonly #state: LoggedState<AddressesState>;
  #subscription: Subscription | undefined;
  #isOpen = false;
  /** undefined: the list is empty. */
  #progress: ListProgress | undefined;
  #scrubbing: Promise<void> = Promise.resolve();

  constructor(parts: AddressListParts) {
    const state = new LoggedState<AddressesState>({ phase: 'loading' }, addressesText, parts.logger);
    super({ failurePauseMs: FAILURE_PAUSE_MS, ...parts, onState: state.say });
    this.#parts = parts;
    this.#state = state;
    this.state$ = state.state$;
  }

  get state(): AddressesState {
    return this.#state.now;
  }

  /** Starts to follow the main index. Does not wait until the list is full. */
  open(): void {
    const { index, store, logger, scrubMs: passMs } = this.#parts;
    this.#subscription = index.state$.subscribe(this.wake);
    this.#subscription.add(index.tip$.subscribe(this.wake));
    this.run();
    this.#scrubbing = scrubAgainAndAgain({
      store,
      name: 'the list of addresses',
      wasChecked: false,
      logger,
      passMs,
      onDamage: this.reportDamage,
      onPart: () => undefined,
      signal: this.signal
    });
  }

  /** Waits for the current write. To be called before the main index is closed. */
  override async close(): Promise<void> {
    const { store, logger } = this.#parts;
    this.#subscription?.unsubscribe();
    await super.close();
    await this.#scrubbing;
    await store.close().catch((error: unknown) => {
      logger.error(`The list of addresses was not closed cleanly: ${messageOf(error)}.`);
    });
    this.#state.end({ phase: 'closed' });
  }

  /**
   * The first addresses that begin with a text, in the order of their bytes, `most` at most.
   * @throws AddressesUnavailableError
   */
  async search(prefix: string, most: number): Promise<string[]> {
    const { store } = this.#parts;
    if (this.state.phase !== 'live') throw new AddressesUnavailableError(addressesText(this.state));
    try {
      const snapshot = store.snapshot();
      try {
        const { entries } = await snapshot.head(addressKeys(prefix), most);
        return entries.map(([key, value]) => addressIn(key, value));
      } finally {
        snapshot.close();
      }
    } catch (error) {
      if (!(error instanceof StoreError || error instanceof DamagedIndexError)) throw error;
      // The store was closed or emptied meanwhile.
      if (!(error instanceof StoreError && error.reason === 'closed')) this.reportDamage(error);
      throw new AddressesUnavailableError(addressesText(this.state), { cause: error });
    }
  }

  protected nextIn(): number {
    return this.isWoken ? 0 : Infinity;
  }

  protected async approach(): Promise<void> {
    const { store, index } = this.#parts;
    if (!this.#isOpen) await this.#open();
    if (index.state.phase !== 'live') {
      if (this.state.phase !== 'live') this.#state.say({ phase: 'waiting' });
      return;
    }
    let isFilling = this.state.phase !== 'live';
    for (;;) {
      this.signal.throwIfAborted();
      const { height: target } = index.latest.read(({ tip }) => tip);
      const shared = this.#shared();
      const from = shared === undefined ? 0 : shared.height + 1;
      if (from > target) break;
      if (target - from >= FEW_BLOCKS) {
        isFilling = true;
        this.#state.say({ phase: 'filling', height: from, target });
        await store.prepareFor('catching-up');
      }
      await this.#add(await this.#nextBlocks(from, target, shared?.hash), from);
    }
    // Nothing is read meanwhile.
    if (isFilling) await store.prepareFor('following');
    this.recovered();
    this.#state.say({ phase: 'live', height: this.#progress?.height ?? 0 });
  }

  protected suspend(): void {
    if (this.state.phase === 'live') this.#state.say({ phase: 'loading' });
  }

  /** The main index or the chain is busy. */
  protected passesSoon(error: unknown): boolean {
    return error instanceof IndexUnavailableError || error instanceof ChainMovedError;
  }

  protected damageBehind(error: unknown): Promise<Error | undefined> {
    const openAgain = async (): Promise<void> => {
      await this.reopen();
      await this.#open();
    };
    return damageFoundBy(this.#isOpen ? openAgain : undefined, error);
  }

  protected async rebuild(damage: Error): Promise<void> {
    this.#parts.logger.warning(`Filling the list of addresses again: ${damage.message}.`);
    await this.#clear();
  }

  protected async reopen(): Promise<void> {
    this.#isOpen = false;
    await this.#parts.store.close().catch(() => undefined);
  }

  protected stopped(): string {
    return 'The list of addresses stopped';
  }

  async #open(): Promise<void> {
    const { store, node, logger } = this.#parts;
    await store.open();
    const progress = findProgress(store, node.network.addressPrefixes);
    if (progress === 'other') {
      logger.info('Filling the list of addresses again: it has another form than this version gives it.');
      await this.#clear();
      return;
    }
    this.#progress = progress;
    this.#isOpen = true;
  }

  async #clear(): Promise<void> {
    this.#progress = undefined;
    await this.#parts.store.clear();
    this.#isOpen = true;
  }

  /** The last block that list and chain are known to share: at the fork, or not far below; undefined: none, so that all are added. */
  #shared(): BlockPoint | undefined {
    const { hashes = [], height = 0 } = this.#progress ?? {};
    return this.#parts.index.latest.read((main) => {
      const at = keptHeights(height).findIndex((each, i) => main.headerAt(each)?.hash.equals(hashes[i] ?? NO_HASH) === true);
      const hash = hashes[at];
      return hash && { height: keptHeights(height)[at] ?? 0, hash };
    });
  }

  /** Blocks from a height up, a batch of them. @throws ChainMovedError if there are none */
  async #nextBlocks(from: number, target: number, before: Buffer | undefined): Promise<readonly RawBlock[]> {
    const { node, index } = this.#parts;
    const blocks = await consecutiveBlocks(from, target, before, this.signal, async (height) => {
      const hash = index.latest.read((main) => main.headerAt(height)?.hash);
      const raw = hash && (await node.rawBlock(hash));
      if (hash === undefined || raw !== undefined) return hash && raw && { point: { hash, height }, raw };
      throw await whyMissing('block', { hash, height }, node);
    });
    if (blocks.length === 0) throw new ChainMovedError(`the block at height ${from} is not in the chain any more`);
    return blocks;
  }

  /** Adds the addresses of blocks from a height up. @throws ChainMovedError if they are no longer in the main index */
  async #add(blocks: readonly RawBlock[], from: number): Promise<void> {
    const { store, index, node } = this.#parts;
    const { addressPrefixes: prefixes } = node.network;
    const found = new Set<string>();
    for (const {
      point: { hash },
      raw
    } of blocks) {
      this.signal.throwIfAborted();
      await runAhead(addPaidAddresses(raw, prefixes, found)).catch((error: unknown) => {
        throw error instanceof MalformedBytesError ? new UnreadableBlockError(hash, error) : error;
      });
    }
    const height = from + blocks.length - 1;
    const hashes = index.latest.read((main) => keptHeights(height).map((each) => main.headerAt(each)?.hash ?? NO_HASH));
    if (blocks.at(-1)?.point.hash.equals(hashes[0] ?? NO_HASH) !== true)
      throw new ChainMovedError(`the block at height ${height} has left the chain`);
    const progress = { height, hashes };
    await store.batch(writesOf(found, progress), { durable: true });
    this.#progress = progress;

    function* writesOf(addresses: Iterable<string>, reached: ListProgress): Generator<StoreWrite, void> {
      for (const address of addresses) yield putAddress(address);
      yield putProgress(reached, prefixes);
    }
  }
}
