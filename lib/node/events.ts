// The chain's events as RxJS streams. bcoin awaits its listeners: each event has a function to acknowledge it, and the chain
// waits until this is called. Without a subscriber, the chain does not wait.

import { distinctUntilChanged, fromEventPattern, map, merge, Observable, startWith, type Subscription } from 'rxjs';
import { canonicalBlock } from '../bitcoin/block';
import { MoveDeliveries } from './move-deliveries';
import { UnreadableBlockError } from './errors';
import { fromHost, type HostBlock, type HostChain, type HostEmitter, type HostEntry } from './host';
import type { BlockMove, ChainEvent, ChainMove } from './types/chain';

/** The values that a bcoin object emits as events of this name. */
export function occurrences<Value>(emitter: HostEmitter, event: string): Observable<Value> {
  return fromEventPattern(
    (listener) => emitter.on(event, listener),
    (listener) => emitter.removeListener(event, listener)
  );
}

/**
 * Calls a listener with each value. What it throws goes to `failed`, and the next value comes all the same: RxJS would throw it where
 * nobody can catch it, which ends the process.
 */
export function listen<Value>(
  values$: Observable<Value>,
  listener: (value: Value) => void,
  failed: (error: unknown) => void
): Subscription {
  return values$.subscribe((value) => {
    try {
      listener(value);
    } catch (error) {
      failed(error);
    }
  });
}

/**
 * Connect, disconnect, reset and reorganize; and settled, when the chain has moved and sent no other event. When a subscriber
 * leaves with events unacknowledged, the chain continues.
 */
export function chainEvents(chain: HostChain): Observable<ChainEvent> {
  return new Observable<ChainEvent>((subscriber) => {
    const deliveries = new MoveDeliveries(subscriber);
    /** The tip when an event was last delivered. */
    let deliveredTip = chain.tip;
    const deliver = (move: ChainMove): Promise<void> => {
      deliveredTip = chain.tip;
      return deliveries.deliver(move);
    };

    // A replay resets the chain without an event. So after each new tip, once the chain is at rest, the tip is compared.
    let isWaiting = false;
    const onTip = (): void => {
      if (isWaiting) return;
      isWaiting = true;
      chain.locker.lock().then(
        (unlock) => {
          isWaiting = false;
          unlock();
          if (chain.tip !== deliveredTip) void deliver({ type: 'settled' });
        },
        () => undefined // the chain was closed
      );
    };

    const listeners = {
      connect: (entry: HostEntry, block: HostBlock) => deliver(blockMove('connect', entry, block)),
      disconnect: (entry: HostEntry, block: HostBlock) => deliver(blockMove('disconnect', entry, block)),
      reset: () => deliver({ type: 'reset' }),
      reorganize: () => deliver({ type: 'reorganize' }),
      tip: onTip
    };
    // First at a connect, last at a disconnect: before the pool drops a block's transactions, and after it took them back. A
    // transaction must always be in the index or the pool.
    chain.prependListener('connect', listeners.connect);
    chain.on('disconnect', listeners.disconnect);
    // First: on 1.0.2 the pool's listener throws before the node is connected, and later listeners are not called.
    chain.prependListener('reset', listeners.reset);
    chain.on('reorganize', listeners.reorganize);
    chain.on('tip', listeners.tip);

    return () => {
      for (const [event, listener] of Object.entries(listeners)) chain.removeListener(event, listener);
      deliveries.end();
    };
  });
}

function blockMove(type: BlockMove['type'], entry: HostEntry, block: HostBlock): BlockMove {
  const hash = fromHost(entry.hash);
  const rawBlock = (): Buffer => {
    try {
      return canonicalBlock(block.toRaw());
    } catch (error) {
      throw new UnreadableBlockError(hash, error);
    }
  };
  return { type, block: { hash, height: entry.height }, rawBlock };
}

/** Whether the node considers itself synced: now, and at every change. */
export function syncedChanges(chain: HostChain): Observable<boolean> {
  return merge(occurrences(chain, 'full'), occurrences(chain, 'tip')).pipe(
    startWith(undefined),
    map(() => chain.synced),
    distinctUntilChanged()
  );
}
