// Loaded before a server under measurement: how long a turn of its event loop takes, from one signal (SIGUSR2) to the next. What it saw it writes
// to the file that LOOP_WATCH names.
//
// It looks once in a turn, every millisecond at most. Time on a processor is that of the main thread alone: on a machine with other work it is
// what can be compared.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { clearInterval, setInterval } from 'node:timers';

const LOOK_MS = 1;
const file = process.env['LOOP_WATCH'];

let timer;
let last = { time: 0, cpu: 0 };
let longest = { ms: 0, cpuMs: 0 };

/** Milliseconds of the main thread on a processor. */
const cpu = () => Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ', 1)[0]) / 1e6;

function look() {
  const now = { time: performance.now(), cpu: cpu() };
  longest = { ms: Math.max(longest.ms, now.time - last.time), cpuMs: Math.max(longest.cpuMs, now.cpu - last.cpu) };
  last = now;
}

process.on('SIGUSR2', () => {
  if (timer === undefined) {
    last = { time: performance.now(), cpu: cpu() };
    longest = { ms: 0, cpuMs: 0 };
    timer = setInterval(look, LOOK_MS);
  } else {
    look();
    clearInterval(timer);
    timer = undefined;
  }
  writeFileSync(`${file}.new`, JSON.stringify(longest));
  renameSync(`${file}.new`, file);
});
