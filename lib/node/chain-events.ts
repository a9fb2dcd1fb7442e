// The chain's events as one RxJS stream. bcoin awaits its listeners: each event carries an
// acknowledgement, and the chain stands still until it is given. Without a subscriber,
// nothing is held back.

import { distinctUntilChanged, fromEventPattern, map, merge, Observable, startWith } from 'rxjs';
import { fromHost } from './host-hash';
import { canonicalBytes } from './stored-block';
import type { HostBlock, HostChain, HostEntry } from './host';
import type { ChainEvent, TipEvent } from './types';

/**
 * Connect, disconnect, reset and reorganize; and settled, when the chain has moved without
 * saying so. Whoever unsubscribes with events unacknowledged lets the chain go on.
 */
export function chainEvents(chain: HostChain): Observable<ChainEvent> {
  return new Observable<ChainEvent>((subscriber) => {
    const pending = new Set<() => void>();
    /** The tip when an event was last delivered. */
    let told = chain.tip;

    const deliver = (make: (acknowledge: () => void) => ChainEvent): Promise<void> =>
      new Promise((resolve) => {
        told = chain.tip;
        const acknowledge = (): void => {
          pending.delete(acknowledge);
          resolve();
        };
        pending.add(acknowledge);
        subscriber.next(make(acknowledge));
      });

    const blockListener = (type: 'connect' | 'disconnect') =>
      (entry: HostEntry, block: HostBlock): Promise<void> => deliver((acknowledge) => {
        const hash = fromHost(entry.hash);
        return { type, block: { hash, height: entry.height }, rawBlock: () => canonicalBytes(hash, block), acknowledge };
      });
    const tipListener = (type: TipEvent['type']) =>
      (): Promise<void> => deliver((acknowledge) => ({ type, acknowledge }));
    const onSettled = tipListener('settled');
    // A replay resets silently.
    const onTip = whenIdle(chain, () => { if (chain.tip !== told) void onSettled(); });

    const onConnect = blockListener('connect');
    const onDisconnect = blockListener('disconnect');
    const onReset = tipListener('reset');
    const onReorganize = tipListener('reorganize');

    // Before the pool drops a block's transactions, and after it took them back:
    // a transaction must never be in neither place.
    chain.prependListener('connect', onConnect);
    chain.on('disconnect', onDisconnect);
    // On 1.0.2 the pool's listener throws before the node is connected, and later ones hear nothing.
    chain.prependListener('reset', onReset);
    chain.on('reorganize', onReorganize);
    chain.on('tip', onTip);

    return () => {
      chain.removeListener('connect', onConnect);
      chain.removeListener('disconnect', onDisconnect);
      chain.removeListener('reset', onReset);
      chain.removeListener('reorganize', onReorganize);
      chain.removeListener('tip', onTip);
      for (const acknowledge of [...pending]) acknowledge();
    };
  });
}

/** Runs `use` once after any number of calls, when nothing is under way in the chain. */
function whenIdle(chain: HostChain, use: () => void): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    chain.locker.lock().then((unlock) => {
      waiting = false;
      unlock();
      use();
    }, () => undefined); // The chain was closed.
  };
}

/** Whether the node takes itself for synced: now, and at every change. */
export function syncedChanges(chain: HostChain): Observable<boolean> {
  const occurrences = (event: string): Observable<unknown> => fromEventPattern(
    (listener) => chain.on(event, listener),
    (listener) => chain.removeListener(event, listener)
  );
  return merge(occurrences('full'), occurrences('tip')).pipe(
    startWith(undefined),
    map(() => chain.synced),
    distinctUntilChanged()
  );
}
