#!/usr/bin/env node
// `npx bcoin-rest`: commands that need no running node.

import { runCommandLine } from './run';

// A promise that nothing keeps would otherwise look like success.
const unfinished = (): void => {
  console.error('The command ended before its work was done.');
  process.exitCode = 1;
};
process.once('beforeExit', unfinished);

runCommandLine(process.argv.slice(2), {
  out: (text) => {
    process.stdout.write(text);
  },
  err: (text) => {
    process.stderr.write(text);
  },
  now: () => new Date()
})
  .then(
    (code) => {
      process.exitCode = code;
    },
    (error: unknown) => {
      console.error(error);
      process.exitCode = 1;
    }
  )
  .finally(() => process.off('beforeExit', unfinished));
