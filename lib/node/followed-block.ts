// The block that bcoin is connecting or disconnecting: its pool changes because of it before the chain goes on.

import { keyOf } from '../bitcoin/hash';
import type { HostBlock, HostChain, HostEntry, HostTransaction } from './host';
import type { BlockMove } from './types/chain';

export class FollowedBlock {
  #type: BlockMove['type'] | undefined;
  #block: HostBlock | undefined;
  /** Of the block that is being connected, once they were asked for. */
  #txids: Set<string> | undefined;

  /** To be made when the pool follows the chain already, and nobody else does. */
  constructor(chain: HostChain) {
    for (const type of ['connect', 'disconnect'] as const) {
      // bcoin calls its listeners one after the other and waits for each: the pool's is between these two.
      chain.prependListener(type, (_: HostEntry, block: HostBlock) => {
        this.#set(type, block);
      });
      chain.on(type, () => {
        this.#set(undefined, undefined);
      });
    }
  }

  get type(): BlockMove['type'] | undefined {
    return this.#type;
  }

  /** Whether the block that is being connected has the transaction. */
  confirms(transaction: HostTransaction): boolean {
    if (this.#type !== 'connect' || this.#block === undefined) return false;
    this.#txids ??= new Set(this.#block.txs.map((tx) => keyOf(tx.hash())));
    return this.#txids.has(keyOf(transaction.hash()));
  }

  #set(type: BlockMove['type'] | undefined, block: HostBlock | undefined): void {
    this.#type = type;
    this.#block = block;
    this.#txids = undefined;
  }
}
