// The order in which Bitcoin Core publishes what happened: first all blocks that left the chain, then what this changed in the pool, then the
// blocks that came (ActivateBestChainStep of Bitcoin Core, docs/zmq.md). bcoin changes its pool after each block, Bitcoin Core once.

import { keyOf } from '../bitcoin/hash';
import type { BlockPoint } from '../node/types/chain';
import type { FollowedMove, PoolTransaction } from '../node/types/pool';

/** A transaction that has entered or left the pool. `number`: of the change (`PoolSource.sequence`). */
export type PoolMove =
  | { readonly type: 'enter'; readonly transaction: Pick<PoolTransaction, 'txid' | 'raw'>; readonly number: number }
  | {
      readonly type: 'leave';
      readonly txid: Buffer;
      readonly number: number;
      /** With or because of a block. */ readonly by?: 'block' | 'conflict';
    };

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

/** When Bitcoin Core makes a change: `FIRST`, at the height of a block that was disconnected, or `LAST`. */
const [FIRST, LAST] = [-1, Number.MAX_SAFE_INTEGER];

interface PlacedChange {
  readonly change: PoolMove;
  readonly place: number;
}

/** From the tip of a chain to the next tip: a block, or a reorganization, with what it changed in the pool. */
export class Step {
  readonly #moves: BlockMove[] = [];
  readonly #changes: PlacedChange[] = [];
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

  change(change: PoolMove, { type, height }: FollowedMove): void {
    const isBack = type === 'disconnect';
    const isConflict = change.type === 'leave' && change.by === 'conflict';
    this.#changes.push({ change, place: isBack ? height : isConflict ? FIRST : LAST });
    if (isBack || (change.type === 'leave' && change.by !== 'block')) this.#before = this.#changes.length;
  }

  *inOrder(): Generator<Published, void> {
    const [before, after] = [this.#changes.slice(0, this.#before), this.#changes.slice(this.#before)];
    const passing = passingIn(this.#changes);
    const connect = this.#moves.findIndex(({ type }) => type === 'connect');
    const leading = connect < 0 ? this.#moves.length : connect;
    yield* this.#moves.slice(0, leading);
    yield* settled(before, passing);
    yield* this.#moves.slice(leading);
    const last = this.#moves.at(-1);
    if (last?.type === 'connect') yield { ...last, type: 'tip' };
    yield* settled(after, passing);
  }
}

/** Changes that a later one undoes, and those: what came back to the pool and did not stay. Bitcoin Core never makes them. */
function passingIn(changes: readonly PlacedChange[]): ReadonlySet<PoolMove> {
  const passing = new Set<PoolMove>();
  const entered = new Map<string, PoolMove>();
  for (const { change } of changes) {
    if (change.type === 'enter') entered.set(keyOf(change.transaction.txid), change);
    else {
      const key = keyOf(change.txid);
      const entering = entered.get(key);
      if (entering !== undefined) passing.add(entering).add(change);
      entered.delete(key);
    }
  }
  return passing;
}

/**
 * What is published of changes: as Bitcoin Core makes them once the new branch is connected, conflicts of its blocks first, then the
 * disconnected blocks from the lowest on. The numbers rise, too.
 */
function settled(changes: readonly PlacedChange[], passing: ReadonlySet<PoolMove>): PoolMove[] {
  const shown = changes.filter(({ change }) => !passing.has(change) && !(change.type === 'leave' && change.by === 'block'));
  const numbers = shown.map(({ change }) => change.number);
  return shown.toSorted((one, other) => one.place - other.place).map(({ change }, i) => ({ ...change, number: numbers[i] as number }));
}
