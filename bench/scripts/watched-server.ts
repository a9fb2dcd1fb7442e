// A node with the plugin and the index by script in a separate process, whose event loop can be watched.

import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { RUN_FOLDER } from '../measure/run';
import { startBcoin, type PluginStart, type ServerProcess } from '../serve/server-process';
import { untilAtRest } from '../serve/process-figures';
import type { PopularChain } from './popular-chain';

/** Longest turns of the event loop. */
export interface LoopFigures {
  readonly ms: number;
  /** Processor time of the main thread. */
  readonly cpuMs: number;
  /** Turns of more than two milliseconds of processor time. `at`: their start, in milliseconds since 1970. */
  readonly turns: readonly { readonly at: number; readonly ms: number; readonly cpuMs: number }[];
  /** Memory that JavaScript held when the watch began, without garbage if the node has `--expose-gc`. */
  readonly heldBytes: number;
}

/** Of all turns while something runs. */
export type Watch = <T>(run: () => Promise<T>) => Promise<{ readonly result: T; readonly loop: LoopFigures }>;

export interface WatchedServer extends ServerProcess {
  readonly chain: PopularChain;
  readonly watch: Watch;
}

/** Blocks that can be undone: rows of blocks below share records. */
const GROUPED = 3;
const LOOK_MS = 2;

/** `grouped`: whether rows share records, except those of the last blocks. `folder`: of a built checkout. */
export async function startWatched(chain: PopularChain, name: string, grouped: boolean, folder = resolve('.')): Promise<WatchedServer> {
  const preload = loopWatch(name);
  const server = await startBcoin(chain, name, {
    folder,
    flags: ['--rest-addresses=true', '--rest-scrub=0', ...(grouped ? [`--rest-undo=${GROUPED}`] : [])],
    readyPath: '/api/blocks/tip/height',
    nodeFlags: preload.nodeFlags,
    env: preload.env
  });
  await untilAtRest(server.pid);
  return { ...server, chain, watch: preload.watchOf(server) };
}

/** Options that make the event loop of the node with this name watched. */
export function loopWatch(name: string): Required<Pick<PluginStart, 'nodeFlags' | 'env'>> & { watchOf(server: ServerProcess): Watch } {
  const file = join(RUN_FOLDER, `${name}.loop`);
  return {
    nodeFlags: ['--import', resolve('bench/scripts/loop-watch.mjs')],
    env: { LOOP_WATCH: file },
    watchOf: ({ pid }) => {
      const signal = async (): Promise<LoopFigures> => {
        rmSync(file, { force: true });
        process.kill(pid, 'SIGUSR2');
        for (;;) {
          await pause(LOOK_MS);
          try {
            return JSON.parse(readFileSync(file, 'utf8')) as LoopFigures;
          } catch {
            // The report is not written yet.
          }
        }
      };
      return async (run) => {
        const { heldBytes } = await signal();
        const result = await run();
        return { result, loop: { ...(await signal()), heldBytes } };
      };
    }
  };
}
