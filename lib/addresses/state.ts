// What the list of addresses is doing, and the same in words.

import { grouped, reached } from '../follow/state-text';

export type AddressesState =
  | { readonly phase: 'loading' }
  /** Waits until the main index is live. */
  | { readonly phase: 'waiting' }
  /** Takes in the outputs of blocks up to the one at `target`. */
  | { readonly phase: 'filling'; readonly height: number; readonly target: number }
  /** Has all blocks of the main index, or all but those that have just come. */
  | { readonly phase: 'live'; readonly height: number }
  | { readonly phase: 'failed'; readonly message: string }
  | { readonly phase: 'closed' };

/** There is nothing to read. The message is the state in words. */
export class AddressesUnavailableError extends Error {
  override readonly name = 'AddressesUnavailableError';
}

/** For people, strangers among them, without a full stop. */
export function addressesText(state: AddressesState): string {
  switch (state.phase) {
    case 'loading':
      return 'loading the list of addresses';
    case 'waiting':
      return 'the list of addresses waits for the index of the chain';
    case 'filling':
      return `filling the list of addresses, block ${reached(state)}`;
    case 'live':
      return `the list of addresses is at block ${grouped(state.height)}`;
    case 'failed':
      return 'the list of addresses failed; the log of the node says why';
    case 'closed':
      return 'shutting down';
  }
}
