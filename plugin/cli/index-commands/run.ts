// `bcoin-rest index`: maintains the index of a stopped node.

import { parseArgs } from 'node:util';
import { NETWORKS } from '../../../lib/fleet/reader/networks';
import { IndexError, IndexRefusedError, isDamage } from '../../../lib/follow/errors';
import { UnsupportedNodeError } from '../../../lib/node/errors';
import { FillingError, MissingBlocksError } from '../../../lib/scripts/errors';
import { LayoutVersionError, StoreError } from '../../../lib/store/errors';
import { messageOf } from '../../../lib/system/error-text';
import { OptionError } from '../../options/errors';
import { ProgressDisplay } from '../../progress';
import { rebuild, status, verify, type Command } from './commands';
import { interruptibly, InterruptedError } from '../interruptible';
import { sayFailure, UsageError, type CommandIo } from '../maintenance';
import { ImpossibleError } from './errors';
import { coinsToHash } from './main-index';
import { EXIT, type ExitCode, type Report } from './report';
import { scriptIndex } from './script-index';
import { openStoppedNode, type NodeOptions } from './stopped-node';

const COMMANDS: Readonly<Record<string, Command>> = { status, verify, rebuild };

export const INDEX_COMMANDS = Object.keys(COMMANDS);

const OPTIONS = {
  network: { type: 'string' },
  prefix: { type: 'string' },
  json: { type: 'boolean' },
  scripts: { type: 'string' },
  'utxo-hash': { type: 'boolean' }
} as const;

interface IndexOptions extends NodeOptions {
  /** Set if the index by script is meant: the text after the equals sign. */
  readonly scripts?: string | undefined;
  readonly 'utxo-hash'?: boolean | undefined;
}

const EXPECTED = [
  UsageError,
  OptionError,
  FillingError,
  ImpossibleError,
  InterruptedError,
  IndexError,
  IndexRefusedError,
  LayoutVersionError,
  MissingBlocksError,
  StoreError,
  UnsupportedNodeError
];

export const INDEX_USAGE = `Usage: bcoin-rest index status|verify|rebuild [--scripts[=N%]] [--utxo-hash] [--network NAME]
                        [--prefix DIR] [--json]

Maintains the index of a node that is not running.

  status     shows the state of the index and of the index by script, and changes nothing
  verify     computes the index again from the node's blocks, in a folder beside it, and shows
             the first difference; needs as much time and disk space as building the index
  rebuild    empties the index and builds it again

  --scripts    verify and rebuild: the index by script (--rest-addresses) instead; verify computes
               its rows again and needs no disk space; --scripts=1% verifies that part of the
               blocks, chosen at random
  --utxo-hash  verify: shows the hash of the index's coins instead (MuHash3072), which is that of
               Bitcoin Core's gettxoutsetinfo muhash at the same block

  --network    main (default), testnet, regtest or simnet
  --prefix     the node's folder, like bcoin's own option
  --json       print the result as one line of JSON

bcoin.conf in the node's folder and BCOIN_... in the environment are read as by the node.
BCOIN_PATH names another bcoin than the one installed here.

Exit codes:
  0    fine, or done
  1    a difference or damage was found, the index is not on the node's chain, or other nodes
       refuse a block of that chain
  2    wrong arguments
  3    cannot be done: the node is running, there is no such folder, another network, ...
  130  interrupted; the index is usable, and the node continues from there
`;

/** @param args the arguments after `index`. @returns the exit code. */
export async function runIndexCommand(args: readonly string[], io: CommandIo): Promise<ExitCode> {
  const [name = '', ...rest] = args;
  const isJson = rest.includes('--json');
  try {
    if (!Object.hasOwn(COMMANDS, name)) throw new UsageError(name === '' ? 'a command is missing' : `there is no command '${name}'`);
    const options = parseOptions(rest);
    const { exit, json, text } = await runInterruptibly(commandOf(name, options), options, io.progress ?? process.stderr);
    io.out(`${isJson ? JSON.stringify(json) : text}\n`);
    return exit;
  } catch (error) {
    const isExpected = EXPECTED.some((expected) => error instanceof expected);
    sayFailure(error, { isExpected, isJson, usage: INDEX_USAGE }, io);
    if (error instanceof UsageError || error instanceof OptionError) return EXIT.usage;
    if (error instanceof InterruptedError) return EXIT.interrupted;
    return isDamage(error) ? EXIT.different : EXIT.impossible;
  }
}

/** `name`: an existing command. @throws UsageError if `--scripts` or `--utxo-hash` does not fit the command. */
function commandOf(name: string, { scripts, 'utxo-hash': utxoHash }: IndexOptions): Command {
  const command = COMMANDS[name] as Command; // there is one
  if (utxoHash === true) {
    if (command !== verify || scripts !== undefined) throw new UsageError('--utxo-hash is for verify, without --scripts');
    return (context) => verify(context, coinsToHash);
  }
  if (scripts === undefined) return command;
  if (command === status) throw new UsageError('--scripts is for verify and rebuild; status shows both indexes');
  if (command === rebuild && scripts !== '')
    throw new UsageError(`rebuild always rebuilds the whole index by script: --scripts, not '--scripts=${scripts}'`);
  const index = scriptIndex(command === verify ? percentOf(scripts) : undefined);
  return (context) => command(context, index);
}

/** The number in `1%`; 100 for an empty text. @throws UsageError */
function percentOf(text: string): number {
  if (text === '') return 100;
  const percent = /^\d{1,3}(\.\d{1,6})?%$/.test(text) ? Number(text.slice(0, -1)) : NaN;
  if (!(percent > 0 && percent <= 100))
    throw new UsageError(`--scripts must be a part of the blocks, such as --scripts=1%, or stand alone, not '${text}'`);
  return percent;
}

/** @throws UsageError */
function parseOptions(args: readonly string[]): IndexOptions {
  let options: IndexOptions;
  try {
    options = parseArgs({ args: args.map((arg) => (arg === '--scripts' ? '--scripts=' : arg)), options: OPTIONS }).values;
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error });
  }
  const { network, prefix } = options;
  if (network !== undefined && !Object.hasOwn(NETWORKS, network))
    throw new UsageError(`--network must be one of ${Object.keys(NETWORKS).join(', ')}, not '${network}'`);
  if (prefix === '') throw new UsageError("--prefix must be a folder, not ''");
  return options;
}

function runInterruptibly(command: Command, options: NodeOptions, progress: NodeJS.WriteStream): Promise<Report> {
  return interruptibly(async (signal) => {
    const stopped = await openStoppedNode(options);
    try {
      return await command({ stopped, display: new ProgressDisplay(progress), signal });
    } finally {
      await stopped.close();
    }
  });
}
