// The command line of the payments library: `payments decode|verify|create|sign`. Knows
// files and text; whoever mounts it gives arguments, outputs and a clock.

import type { Command, CommandIo } from './commands/command';
import { createRequest } from './commands/create';
import { decodeFile } from './commands/decode';
import { signFile } from './commands/sign';
import { verifyFile } from './commands/verify';
import { UsageError } from './commands/usage';
import { PaymentError } from './error';

const COMMANDS: Readonly<Record<string, Command>> = {
  decode: decodeFile,
  verify: verifyFile,
  create: createRequest,
  sign: signFile
};

export const PAYMENTS_COMMANDS = Object.keys(COMMANDS);

export const PAYMENTS_USAGE = `Usage: bcoin-rest payments decode|verify|create|sign ...

Reads, checks, makes and signs payment messages (BIP70).

  payments decode FILE [--type TYPE] [--json]
      TYPE: request (unless given), details, output, certificates, payment, ack
  payments verify FILE [--roots PEM] [--pin SHA256]... [--allow-sha1] [--time UNIX] [--json]
  payments create --output SCRIPT:SATOSHIS... --out FILE [--network main|test] [--memo TEXT]
      [--expires UNIX] [--payment-url URL] [--merchant-data HEX] [--json]
  payments sign FILE --key PEM --certificates PEM --out FILE [--json]

Exit codes:
  0  done; for verify: the signer is trusted
  1  no: the signer is not trusted, or the message is not one, or breaks a rule
  2  called wrongly
  3  a file cannot be read or written
`;

/**
 * @param args what follows `payments`.
 * @returns the exit code: 0 done, 1 no (with the reason on `err`, or not trusted), 2 wrong usage, 3 a file that cannot be read or written.
 */
export async function runPaymentsCommand(args: readonly string[], io: CommandIo): Promise<number> {
  const [name = '', ...rest] = args;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  try {
    if (!command) throw new UsageError(name === '' ? 'A command is missing.' : `There is no command '${name}'.`);
    return await command(rest, io);
  } catch (error) {
    if (error instanceof UsageError) {
      io.err(`${error.message}\n\n${PAYMENTS_USAGE}`);
      return 2;
    }
    if (error instanceof PaymentError || isFileError(error)) {
      io.err(`${error.message}\n`);
      return error instanceof PaymentError ? 1 : 3;
    }
    throw error;
  }
}

function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}
