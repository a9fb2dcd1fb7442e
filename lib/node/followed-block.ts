// The block that bcoin is connecting or disconnecting: its pool changes because of it before the chain goes on.

import { keyOf } from '../bitcoin/hash';
import type { HostBlock, HostChain, HostEntry, HostTransaction } from './host';
import type { FollowedMove } from './types/pool';

export class FollowedBlock {
  #move: FollowedMove | undefined;
  #block: HostBlock | undefined;
  /** Of the block that is being connected, once they were asked for. */
  #txids: Set<string> | undefined;

  /** To be made when the pool follows the chain already, and nobody else does. */
  constructor(chain: HostChain) {
    for (const type of ['connect', 'disconnect'] as const) {
      // bcoin calls its listeners one after the other and waits for each: the pool's is between these two.
      chain.prependListener(type, ({ height }: HostEntry, block: HostBlock) => {
        this.#set({ type, height }, block);
      });
      chain.on(type, () => {
        this.#set(undefined, undefined);
      });
    }
  }

  get move(): FollowedMove | undefined {
    return this.#move;
  }

  /** Whether the block that is being connected has the transaction. */
  confirms(transaction: HostTransaction): boolean {
    if (this.#move?.type !== 'connect' || this.#block === undefined) return false;
    this.#txids ??= new Set(this.#block.txs.map((tx) => keyOf(tx.hash())));
    return this.#txids.has(keyOf(transaction.hash()));
  }

  #set(move: FollowedMove | undefined, block: HostBlock | undefined): void {
    this.#move = move;
    this.#block = block;
    this.#txids = undefined;
  }
}
