// A node with the plugin and the index by script, as a process of its own, whose event loop can be watched.

import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startBcoin, type ServerProcess } from '../serve/server-process';
import { untilAtRest } from '../serve/process-figures';
import { RUN_FOLDER } from '../serve/serving-chain';
import type { PopularChain } from './popular-chain';

/** Longest turns of the event loop. */
export interface LoopFigures {
  readonly ms: number;
  /** Of the main thread on a processor. */
  readonly cpuMs: number;
}

export interface WatchedServer extends ServerProcess {
  readonly chain: PopularChain;
  /** Of all turns while something runs. */
  watch<T>(run: () => Promise<T>): Promise<{ readonly result: T; readonly loop: LoopFigures }>;
}

/** Blocks that can be taken out again: rows of blocks below share records. */
const GROUPED = 3;
const LOOK_MS = 2;

/** `grouped`: whether rows share records, but for those of the last blocks. `folder`: of a built checkout. */
export async function startWatched(chain: PopularChain, name: string, grouped: boolean, folder = resolve('.')): Promise<WatchedServer> {
  const file = join(RUN_FOLDER, `${name}.loop`);
  const server = await startBcoin(chain, name, {
    folder,
    flags: ['--rest-addresses=true', '--rest-scrub=0', ...(grouped ? [`--rest-undo=${GROUPED}`] : [])],
    readyPath: '/api/blocks/tip/height',
    nodeFlags: ['--import', resolve('bench/scripts/loop-watch.mjs')],
    env: { LOOP_WATCH: file }
  });
  await untilAtRest(server.pid);
  const signal = async (): Promise<LoopFigures> => {
    rmSync(file, { force: true });
    process.kill(server.pid, 'SIGUSR2');
    for (;;) {
      await pause(LOOK_MS);
      try {
        return JSON.parse(readFileSync(file, 'utf8')) as LoopFigures;
      } catch {
        // Not yet.
      }
    }
  };
  const watch: WatchedServer['watch'] = async (run) => {
    await signal();
    const result = await run();
    return { result, loop: await signal() };
  };
  return { ...server, chain, watch };
}
