// How fast the index is built from nothing.

import { filter, firstValueFrom, tap } from 'rxjs';
import { cpuMilliseconds, withPeakMemory } from './process-load';
import type { ChainIndex, IndexState } from '../../lib/index/types';

export interface CatchUp {
  readonly seconds: number;
  /** Processor time of all threads. */
  readonly cpuSeconds: number;
  /** Bytes per second over the first and the last tenth of the bytes. */
  readonly firstTenth: number;
  readonly lastTenth: number;
  readonly peakBytes: number;
}

interface Sample {
  readonly bytes: number;
  readonly seconds: number;
}

const SAME_BATCH_SECONDS = 0.001;

export interface OpenableIndex extends ChainIndex {
  open(): Promise<void>;
}

/** Opens the index and waits until it is live. `bytesTo`: bytes of the chain up to each height. */
export async function catchUp(index: OpenableIndex, bytesTo: readonly number[]): Promise<CatchUp> {
  const samples: Sample[] = [{ bytes: 0, seconds: 0 }];
  const started = performance.now();
  const cpuBefore = cpuMilliseconds();
  const watch = index.tip$.subscribe(({ height }) => {
    note(samples, { bytes: bytesTo[height] ?? 0, seconds: (performance.now() - started) / 1_000 });
  });
  const { peakBytes } = await withPeakMemory(async () => {
    await index.open();
    await live(index);
  });
  watch.unsubscribe();
  const total = bytesTo.at(-1) ?? 0;
  return {
    seconds: (performance.now() - started) / 1_000,
    cpuSeconds: (cpuMilliseconds() - cpuBefore) / 1_000,
    firstTenth: speedBetween(samples, 0, total / 10),
    lastTenth: speedBetween(samples, (total * 9) / 10, total),
    peakBytes
  };
}

async function live(index: ChainIndex): Promise<IndexState> {
  return firstValueFrom(
    index.state$.pipe(
      tap((state) => {
        if (state.phase === 'failed') throw new Error(`the index failed: ${state.message}`);
      }),
      filter(({ phase }) => phase === 'live')
    )
  );
}

/** Blocks that were written together are reported together: the last of them counts. */
function note(samples: Sample[], sample: Sample): void {
  const before = samples.at(-1);
  if (before !== undefined && before.bytes > 0 && sample.seconds - before.seconds < SAME_BATCH_SECONDS) samples.pop();
  samples.push(sample);
}

function speedBetween(samples: readonly Sample[], from: number, to: number): number {
  return (to - from) / (secondsAt(samples, to) - secondsAt(samples, from));
}

/** The time at which this many bytes were indexed, interpolated between samples. */
function secondsAt(samples: readonly Sample[], bytes: number): number {
  let before: Sample = { bytes: 0, seconds: 0 };
  for (const sample of samples) {
    if (sample.bytes >= bytes) {
      const part = sample.bytes === before.bytes ? 0 : (bytes - before.bytes) / (sample.bytes - before.bytes);
      return before.seconds + part * (sample.seconds - before.seconds);
    }
    before = sample;
  }
  return before.seconds;
}
