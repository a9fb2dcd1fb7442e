#!/usr/bin/env node
// `npx bcoin-rest`: what can be done without a running node.

import { runPaymentsCommand } from '../../lib/payments/cli';

const USAGE = `Usage: bcoin-rest payments <command>

  payments   reads, checks, makes and signs payment messages (BIP70)
`;

async function main([topic, ...args]: readonly string[]): Promise<number> {
  const io = {
    out: (text: string) => { process.stdout.write(text); },
    err: (text: string) => { process.stderr.write(text); },
    now: () => new Date()
  };
  if (topic === 'payments') return runPaymentsCommand(args, io);
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
