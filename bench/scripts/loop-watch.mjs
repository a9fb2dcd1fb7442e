// Loaded before a server under measurement: how long a turn of its event loop takes, from one signal (SIGUSR2) to the next. What it saw it writes
// to the file that LOOP_WATCH names.
//
// When it begins, it collects garbage if it may (--expose-gc), and says how much memory is held: `heldBytes`.
//
// It looks once in a turn, every millisecond at most. Time on a processor is that of the main thread alone: on a machine with other work it is
// what can be compared.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { clearInterval, setInterval } from 'node:timers';

const LOOK_MS = 1;
const file = process.env['LOOP_WATCH'];
/** Turns of the last watch that took more than this of a processor, in milliseconds, are told one by one. */
const LONG_MS = 2;

let timer;
let last = { time: 0, cpu: 0 };
let longest = { ms: 0, cpuMs: 0 };
let turns = [];

/** Milliseconds of the main thread on a processor. */
const cpu = () => Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ', 1)[0]) / 1e6;

function look() {
  const now = { time: performance.now(), cpu: cpu() };
  const turn = { at: performance.timeOrigin + last.time, ms: now.time - last.time, cpuMs: now.cpu - last.cpu };
  longest = { ms: Math.max(longest.ms, turn.ms), cpuMs: Math.max(longest.cpuMs, turn.cpuMs) };
  if (turn.cpuMs > LONG_MS) turns.push(turn);
  last = now;
}

process.on('SIGUSR2', () => {
  let heldBytes;
  if (timer === undefined) {
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    heldBytes = heapUsed + external;
    turns = [];
    last = { time: performance.now(), cpu: cpu() };
    longest = { ms: 0, cpuMs: 0 };
    timer = setInterval(look, LOOK_MS);
  } else {
    look();
    clearInterval(timer);
    timer = undefined;
  }
  writeFileSync(`${file}.new`, JSON.stringify({ ...longest, turns, heldBytes }));
  renameSync(`${file}.new`, file);
});
