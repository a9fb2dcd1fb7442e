// A process that makes buffers as a reader that catches up does. Prints how often V8 collects its whole heap by itself and for such a reader, and
// whether the reader's blocks are still listened to when it answers.

import { constants, PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { BehaviorSubject, Subject } from 'rxjs';
import { collectSeldom } from '../../../plugin/reader/collections';

const BUFFERS = 200;
const BUFFER_BYTES = 2_000_000;
/** V8 collects more often for a program that allocates slowly. */
const PAUSE_MS = 5;
const BUFFERS_PER_BATCH = 50;
/** They live so long that it takes a collection of the whole heap to free them. */
const KEPT_BUFFERS = 10;
/** As many objects as a reader has. */
const OBJECTS = 150_000;

let collections = 0;
new PerformanceObserver((list) => {
  collections += list.getEntries().filter(isOfWholeHeap).length;
}).observe({ entryTypes: ['gc'] });

const objects = Array.from({ length: OBJECTS }, (_, i) => ({ i, list: [i] }));
const kept: Buffer[] = [];
const moved$ = new Subject<void>();
const ready$ = new BehaviorSubject(false);

async function main(): Promise<void> {
  await collectionsMeanwhile();
  const before = await collectionsMeanwhile();
  collectSeldom(moved$, ready$);
  const meanwhile = await collectionsMeanwhile();
  ready$.next(true);
  console.log(JSON.stringify({ before, meanwhile, isListening: moved$.observed, objects: objects.length }));
}

async function collectionsMeanwhile(): Promise<number> {
  const before = collections;
  for (let i = 0; i < BUFFERS; i++) {
    kept[i % KEPT_BUFFERS] = Buffer.allocUnsafeSlow(BUFFER_BYTES);
    if (i % BUFFERS_PER_BATCH === 0) moved$.next();
    await setTimeout(PAUSE_MS);
  }
  return collections - before;
}

/** Node.js' entries of this type have the kind of the collection with them. */
function isOfWholeHeap(entry: PerformanceEntry): boolean {
  const { detail } = entry as PerformanceEntry & { readonly detail: { readonly kind: number } };
  return detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}

void main();
