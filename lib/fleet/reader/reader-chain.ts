// The chain that a reader follows: first that of its index, then that of the log. Each move is emitted as an event, and the next one waits
// until it is acknowledged. Where the log does not say how a block is reached, nodes send the headers.

import { LRUCache } from 'lru-cache';
import { keyOf, toDisplayHex } from '../../bitcoin/hash';
import { HEADER_LENGTH } from '../../bitcoin/header';
import { MOST_HEADERS } from '../messages/questions';
import { ownCopy } from '../../system/own-copy';
import { ChainEvents } from './chain-events';
import { ChainView, type OwnHeaders, type ViewEntry } from './chain-view';
import { NoNodeError, UnreadableBlockError } from '../../node/errors';
import { UntrueRecordError } from './errors';
import type { Observable } from 'rxjs';
import type { ChainPoint, Connect, Disconnect } from '../messages/records';
import type { BlockPoint, ChainEvent } from '../../node/types/chain';
import type { ReaderNetwork } from './networks';
import type { Nodes } from './nodes';

/** Blocks whose soft forks are remembered. */
const MOST_FORKS = 256;
type SoftForks = Pick<ChainPoint, 'deployments' | 'deploymentInfo'>;

/** How many headers may lie between two turns of the event loop. */
const HEADERS_PER_TURN = 200;

export interface ReaderChainParts {
  readonly network: ReaderNetwork;
  readonly nodes: Nodes;
  /** Reads the headers of the process' own index; undefined: it has none. */
  readonly readOwn: <T>(use: (own: OwnHeaders) => T) => T | undefined;
}

export class ReaderChain {
  readonly events$: Observable<ChainEvent>;
  readonly #parts: ReaderChainParts;
  readonly #events: ChainEvents;
  readonly #forks = new LRUCache<string, SoftForks>({ max: MOST_FORKS });
  #view: ChainView;
  /** Settles when the chain is known, or nobody follows it any more. */
  #known: Promise<void> = Promise.resolve();
  #learn: () => void = () => undefined;
  #isKnown = false;

  /** `followed`: called when somebody begins to follow the chain. */
  constructor(parts: ReaderChainParts, followed: () => void) {
    this.#parts = parts;
    this.#view = ChainView.ofGenesis(parts.network);
    this.#events = new ChainEvents(
      followed,
      // The index waits for the chain when it is closed.
      () => {
        this.#learn();
      }
    );
    this.events$ = this.#events.events$;
    this.#wait();
  }

  /** Whether the chain is that of the log. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  get tip(): ViewEntry {
    return this.#view.tip;
  }

  /** Of the chain of the log: waits until it is known. */
  async activeHash(height: number): Promise<Buffer | undefined> {
    await this.#known;
    return this.#view.hashAt(height);
  }

  /** A block that was in the chain lately, and may be still. */
  entry(hash: Buffer): ViewEntry | undefined {
    return this.#view.entry(hash);
  }

  /** What the log said of the soft forks at a block lately. */
  softForks(hash: Buffer): SoftForks | undefined {
    return this.#forks.get(keyOf(hash));
  }

  noteSoftForks({ hash, deployments, deploymentInfo }: ChainPoint): void {
    this.#forks.set(keyOf(hash), { deployments, deploymentInfo: { ...deploymentInfo, hash: ownCopy(hash) } });
  }

  /** From now on the chain counts as unknown: nothing is answered until `goTo` has been successful. */
  doubt(): void {
    if (!this.#isKnown) return;
    this.#isKnown = false;
    this.#wait();
  }

  /**
   * Makes the chain end with a block, wherever it was before. `isReset`: those who follow are told of a reset.
   * @throws NoNodeError, UntrueRecordError
   */
  async goTo(target: BlockPoint, isReset = false): Promise<void> {
    const before = this.#view.tip;
    if (!this.#isKnown && before.height === 0) this.#startFromOwn();
    this.#view = await this.#viewOf(target);
    const wasKnown = this.#isKnown;
    this.#isKnown = true;
    this.#learn();
    if (wasKnown && before.hash.equals(target.hash)) return;
    await this.#events.deliver({ type: isReset ? 'reset' : 'settled' });
  }

  /** @throws UntrueRecordError if the block does not follow the tip */
  async connect(connect: Connect, raw: Buffer): Promise<void> {
    const { header, hash, height } = connect;
    const entry = this.#view.push(header);
    if (!entry.hash.equals(hash) || entry.height !== height)
      throw new UntrueRecordError(`expected block ${toDisplayHex(hash)} at height ${height}`);
    this.noteSoftForks(connect);
    await this.#events.deliver({ type: 'connect', block: { hash, height }, rawBlock: () => raw });
  }

  /** @throws UntrueRecordError if the block is not the tip */
  async disconnect({ hash, height }: Disconnect): Promise<void> {
    if (!this.#view.has({ hash, height }) || this.#view.tip.height !== height)
      throw new UntrueRecordError(`expected the tip to be disconnected, not block ${toDisplayHex(hash)} at height ${height}`);
    if (!this.#view.cutTo(height - 1)) throw new UntrueRecordError(`too many blocks were disconnected, down to height ${height}`);
    const rawBlock = (): never => {
      throw new UnreadableBlockError(hash, 'it was disconnected');
    };
    await this.#events.deliver({ type: 'disconnect', block: { hash, height }, rawBlock });
  }

  /** Tells those who follow that the chain stays where it is for now. */
  async settle(): Promise<void> {
    await this.#events.deliver({ type: 'settled' });
  }

  #wait(): void {
    this.#known = new Promise((resolve) => (this.#learn = resolve));
  }

  #startFromOwn(): void {
    const { network, readOwn } = this.#parts;
    this.#view = readOwn((own) => ChainView.ofIndex(network, own)) ?? this.#view;
  }

  /** A view that ends with the block. */
  async #viewOf(target: BlockPoint): Promise<ChainView> {
    if (this.#view.tip.hash.equals(target.hash)) return this.#view;
    const view = this.#view.copy();
    if (view.has(target) && view.cutTo(target.height)) return view;
    for (;;) {
      // Others may be downloading their chain still.
      const { height, headers } = await this.#parts.nodes.askLeader('headers', { locator: view.locator(), count: MOST_HEADERS });
      if (headers.length === 0)
        throw new UntrueRecordError(`no node has block ${toDisplayHex(target.hash)} at height ${target.height} in its chain`);
      if (!view.cutTo(height - 1)) throw new NoNodeError(`the chain of a node forks too far below, at height ${height}`);
      for (let at = 0; at < headers.length && !view.tip.hash.equals(target.hash); at += HEADER_LENGTH) {
        view.push(headers.subarray(at, at + HEADER_LENGTH));
        if ((at / HEADER_LENGTH) % HEADERS_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      if (view.tip.hash.equals(target.hash)) return view;
      if (view.tip.height > target.height + MOST_HEADERS)
        throw new UntrueRecordError(`no node has block ${toDisplayHex(target.hash)} at height ${target.height} in its chain`);
    }
  }
}
