#!/usr/bin/env node
// `npx bcoin-rest`: commands that need no running node.

import { runCommandLine } from './run';

runCommandLine(process.argv.slice(2), {
  out: (text) => {
    process.stdout.write(text);
  },
  err: (text) => {
    process.stderr.write(text);
  },
  now: () => new Date()
}).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  }
);
