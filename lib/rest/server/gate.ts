// The gate: whether requests are answered yet. Follows node and index, so that a request
// only looks at a boolean.

import { BehaviorSubject, combineLatest, distinctUntilChanged, type Observable, type Subscription } from 'rxjs';
import { unavailable } from '../errors';
import { gateStatus } from './gate-status';
import type { ChainIndex } from '../../index/types';
import type { NodeSource } from '../../node/types';

/** `synced`: node and index are up to date. `indexed`: the index stands at the node's tip. */
export type Warmup = 'synced' | 'indexed';

export class Gate {
  /** The current state to a new subscriber, then every change. A chain reset shows in it once the chain says so. */
  readonly ready$: Observable<boolean>;
  private readonly ready = new BehaviorSubject(false);
  private following: Subscription | undefined;

  constructor(
    private readonly node: Pick<NodeSource, 'progress' | 'resetting' | 'synced$'>,
    private readonly index: Pick<ChainIndex, 'state' | 'state$'>,
    private readonly warmup: Warmup
  ) {
    this.ready$ = this.ready.pipe(distinctUntilChanged());
  }

  /** Starts to follow node and index. Stays closed without. */
  open(): void {
    this.following = combineLatest([this.index.state$, this.node.synced$]).subscribe(([{ phase }, synced]) => {
      this.ready.next(phase === 'live' && (synced || this.warmup === 'indexed'));
    });
  }

  close(): void {
    this.following?.unsubscribe();
    this.ready.next(false);
    this.ready.complete();
  }

  /** Closed also while the chain is being reset: the node is losing blocks that the index still knows. */
  get isOpen(): boolean {
    return this.ready.value && !this.node.resetting;
  }

  /** Asked at every look at the state that an answer is made from: what was open may have closed since. @throws RestError 503, with what is going on */
  requireOpen(): void {
    if (!this.isOpen) throw unavailable(this.status());
  }

  /** Why it is closed. */
  status(): string {
    return gateStatus({ index: this.index.state, node: this.node.progress(), resetting: this.node.resetting });
  }
}
