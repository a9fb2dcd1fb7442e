// The gate: whether requests can be answered yet. It follows node and index, so that a request only looks at a boolean. When it opens for
// the first time, clients wait until the rehearsal is over (lib/rehearsal), whose own requests are answered meanwhile.

import { BehaviorSubject, combineLatest, distinctUntilChanged, type Observable, type Subscription } from 'rxjs';
import { copyingText, indexingText, percent } from '../../index/progress/text';
import { unavailable } from '../errors';
import type { ChainIndex, IndexState } from '../../index/types';
import type { NodeProgress } from '../../node/types/chain';
import type { NodeSource } from '../../node/types/source';

/** When the gate opens. `synced`: node and index are up to date. `indexed`: the index is at the node's tip. */
export type Warmup = 'synced' | 'indexed';

export class Gate {
  /** Whether it is open. Emits the current state to a new subscriber, then every change. A chain reset shows only once it is announced. */
  readonly open$: Observable<boolean>;
  /** Whether clients are answered, likewise. */
  readonly ready$: Observable<boolean>;
  readonly #open = new BehaviorSubject(false);
  readonly #ready = new BehaviorSubject(false);
  readonly #node: Pick<NodeSource, 'progress' | 'resetting' | 'synced$' | 'fleet'>;
  readonly #index: Pick<ChainIndex, 'state' | 'state$'>;
  readonly #warmup: Warmup;
  readonly #rehearsed = new BehaviorSubject(false);
  #following: Subscription | undefined;

  constructor(
    node: Pick<NodeSource, 'progress' | 'resetting' | 'synced$' | 'fleet'>,
    index: Pick<ChainIndex, 'state' | 'state$'>,
    warmup: Warmup
  ) {
    this.#node = node;
    this.#index = index;
    this.#warmup = warmup;
    this.open$ = this.#open.pipe(distinctUntilChanged());
    this.ready$ = this.#ready.pipe(distinctUntilChanged());
  }

  /** Starts to follow node and index. Before that the gate is closed. */
  open(): void {
    this.#following = combineLatest([this.#open, this.#rehearsed]).subscribe(([isOpen, isRehearsed]) => {
      this.#ready.next(isOpen && isRehearsed);
    });
    this.#following.add(
      combineLatest([this.#index.state$, this.#node.synced$]).subscribe(([{ phase }, synced]) => {
        this.#open.next(phase === 'live' && (synced || this.#warmup === 'indexed'));
      })
    );
  }

  close(): void {
    this.#following?.unsubscribe();
    for (const subject of [this.#open, this.#ready]) {
      subject.next(false);
      subject.complete();
    }
  }

  /** False also while the chain is being reset: the node is losing blocks that the index still knows. */
  get isOpen(): boolean {
    return this.#open.value && !this.#node.resetting;
  }

  /** Whether the gate is open, and the rehearsal is not over. */
  get isRehearsing(): boolean {
    return !this.#rehearsed.value && this.isOpen;
  }

  /** Whether clients are answered: the gate is open, and the rehearsal is over. */
  get isReady(): boolean {
    return this.#rehearsed.value && this.isOpen;
  }

  /** From now on clients are answered whenever the gate is open. */
  endRehearsal(): void {
    this.#rehearsed.next(true);
  }

  /** To be called whenever an answer reads the state, since the gate may have closed meanwhile. @throws HttpError 503 */
  requireOpen(): void {
    if (!this.isOpen) throw unavailable(this.status());
  }

  /** @throws HttpError 503 */
  requireReady(): void {
    if (!this.isReady) throw unavailable(this.status());
  }

  /** Why clients are not answered. */
  status(): string {
    if (this.isRehearsing) return 'warming up';
    return this.#node.fleet?.why ?? gateStatus(this.#index.state, this.#node.progress(), this.#node.resetting);
  }
}

/** Why requests are refused: the status in the text of the 503, for people, without a full stop. It is for strangers: paths are in the log. */
export function gateStatus(index: IndexState, { height, verified }: NodeProgress, resetting: boolean): string {
  switch (index.phase) {
    case 'loading':
      return index.work ?? 'loading index';
    case 'closed':
      return 'shutting down';
    case 'failed':
      return 'index failed; the log of the node says why';
    case 'rewinding':
      return `rewinding index, height ${index.height}, down to ${index.target}`;
    case 'copying':
      return `copying coins, ${copyingText(index)}`;
    case 'indexing':
      return `indexing, height ${indexingText(index)}`;
    case 'live':
      return resetting ? 'resetting chain' : `syncing with the network, height ${height} (${percent(verified, 1)})`;
  }
}
