// The order in which Bitcoin Core publishes what happened: first all blocks that left the chain, then what this changed in the pool, then the
// blocks that came (ActivateBestChainStep of Bitcoin Core, docs/zmq.md). bcoin changes its pool after each block.

import { keyOf } from '../bitcoin/hash';
import type { BlockPoint } from '../node/types/chain';
import type { PoolTransaction } from '../node/types/pool';

/** A transaction that has entered or left the pool. `number`: of the change (`PoolSource.sequence`). */
export type PoolMove =
  | { readonly type: 'enter'; readonly transaction: Pick<PoolTransaction, 'txid' | 'raw'>; readonly number: number }
  | { readonly type: 'leave'; readonly txid: Buffer; readonly number: number; /** With a block. */ readonly isConfirmed: boolean };

/** A block that has entered or left the chain. */
export interface BlockMove {
  readonly type: 'connect' | 'disconnect';
  readonly block: BlockPoint;
  /** Whether its transactions are left out, and the message that it is the tip while others follow. */
  readonly isBrief: boolean;
}

/** What is published, one after the other; `tip` ends a step that has connected blocks. */
export type Published = PoolMove | BlockMove | Tip;

export interface Tip extends Pick<BlockMove, 'block' | 'isBrief'> {
  readonly type: 'tip';
}

/** From the tip of a chain to the next tip: a block, or a reorganization, with what it changed in the pool. */
export class Step {
  readonly #moves: BlockMove[] = [];
  readonly #changes: PoolMove[] = [];
  /** How many of the changes come before the blocks that were connected. */
  #before = 0;

  /** Whether the chain is longer than before, so that whatever comes next is another step. */
  get isComplete(): boolean {
    const [first] = this.#moves;
    const last = this.#moves.at(-1);
    if (first === undefined || last?.type !== 'connect') return false;
    return first.type === 'connect' || last.block.height > first.block.height;
  }

  move(move: BlockMove): void {
    this.#moves.push(move);
  }

  /** `isBack`: it comes back to the pool with a block that was disconnected. */
  change(change: PoolMove, isBack: boolean): void {
    this.#changes.push(change);
    if (isBack || (change.type === 'leave' && !change.isConfirmed)) this.#before = this.#changes.length;
  }

  /**
   * Numbers of the pool rise. What came back to the pool and was confirmed again is not published as entering, and neither as leaving.
   */
  *inOrder(): Generator<Published, void> {
    const confirmed = new Set(
      this.#changes.flatMap((change) => (change.type === 'leave' && change.isConfirmed ? [keyOf(change.txid)] : []))
    );
    const isPublished = (change: PoolMove): boolean =>
      change.type === 'enter' ? !confirmed.has(keyOf(change.transaction.txid)) : !change.isConfirmed;
    const connect = this.#moves.findIndex(({ type }) => type === 'connect');
    const leading = connect < 0 ? this.#moves.length : connect;
    yield* this.#moves.slice(0, leading);
    yield* this.#changes.slice(0, this.#before).filter(isPublished);
    yield* this.#moves.slice(leading);
    const last = this.#moves.at(-1);
    if (last?.type === 'connect') yield { ...last, type: 'tip' };
    yield* this.#changes.slice(this.#before).filter(isPublished);
  }
}
