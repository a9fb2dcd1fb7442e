#!/usr/bin/env node
// `npx bcoin-rest`: what can be done without a running node.

import { runPaymentsCommand } from '../../lib/payments/cli';
import { runIndexCommand } from './index-commands/run';

const USAGE = `Usage: bcoin-rest payments|index <command>

  payments   reads, checks, makes and signs payment messages (BIP70)
  index      looks after the index of a stopped node

bcoin-rest payments --help and bcoin-rest index --help say more.
`;

async function main([topic, ...args]: readonly string[]): Promise<number> {
  const io = {
    out: (text: string) => { process.stdout.write(text); },
    err: (text: string) => { process.stderr.write(text); },
    now: () => new Date()
  };
  if (topic === 'payments') return runPaymentsCommand(args, io);
  if (topic === 'index') return runIndexCommand(args, io);
  const asked = topic === '--help';
  (asked ? io.out : io.err)(USAGE);
  return asked ? 0 : 2;
}

main(process.argv.slice(2)).then(
  (code) => { process.exitCode = code; },
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  }
);
