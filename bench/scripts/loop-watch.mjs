// Loaded before a server under measurement: measures the turns of its event loop from one signal (SIGUSR2) to the next, and writes the
// result to the file that LOOP_WATCH names.
//
// When a watch begins, it collects garbage if possible (--expose-gc) and reports how much memory is held: `heldBytes`.
//
// It looks once in a turn, at most every millisecond. Processor time is that of the main thread alone, which can be compared even on a
// machine with other work.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { clearInterval, setInterval } from 'node:timers';

const LOOK_MS = 1;
const file = process.env['LOOP_WATCH'];
/** Turns of the last watch with more processor time than this, in milliseconds, are reported one by one. */
const LONG_MS = 2;

let timer;
let last = { time: 0, cpu: 0 };
let longest = { ms: 0, cpuMs: 0 };
let turns = [];

/** Processor time of the main thread, in milliseconds. */
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
