// Processor time of this process, of programs that it runs, and of the servers of NATS, in milliseconds; and lists of figures as they are printed.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cpuMilliseconds, untilAtRest } from '../measure/process-load';
import { wholeCpuMicroseconds } from '../serve/process-figures';
import { PROGRAM } from './bench-reader';
import type { Nats } from '../../test/support/fleet/nats';

const CLOCK_TICKS_MS = 10;

/** Only a node that feeds a fleet has the same index as a reader: one with hashes over the coins that blocks spend. */
const FEEDING = { BCOIN_REST_FEED: 'nats://127.0.0.1' };

export async function cpuOf(run: () => Promise<unknown>): Promise<number> {
  await untilAtRest();
  const before = cpuMilliseconds();
  await run();
  return cpuMilliseconds() - before;
}

/** CPU of a process of its own, as a reader is one. */
export async function cpuOfProgram(args: readonly string[]): Promise<number> {
  const before = endedCpu();
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: 'ignore', env: { ...process.env, ...FEEDING } });
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
  return endedCpu() - before;
}

/** Of this process' children that have ended, in milliseconds. */
function endedCpu(): number {
  const fields = readFileSync('/proc/self/stat', 'latin1').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) * CLOCK_TICKS_MS;
}

export const serverCpu = ({ servers }: Nats): number => servers.reduce((sum, { pid }) => sum + wholeCpuMicroseconds(pid ?? 0), 0) / 1_000;

/** In ascending order. */
export const shown = (list: readonly number[], digits = 2): string =>
  [...list]
    .sort((a, b) => a - b)
    .map((each) => each.toFixed(digits))
    .join(' / ');
