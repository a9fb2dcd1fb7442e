// `bcoin-rest index`: looks after the index of a stopped node.

import { parseArgs } from 'node:util';
import { IndexError, IndexRefusedError, isDamage } from '../../../lib/index/errors';
import { UnsupportedNodeError } from '../../../lib/node/errors';
import { FillingError, MissingBlocksError } from '../../../lib/scripts/errors';
import { LayoutVersionError, StoreError } from '../../../lib/store/errors';
import { OptionError } from '../../options';
import { ProgressDisplay } from '../../progress';
import { EXIT, ImpossibleError, UsageError, type Command, type CommandResult, type ExitCode } from './command';
import { rebuildIndex } from './rebuild';
import { rebuildScripts } from './rebuild-scripts';
import { indexStatus } from './status';
import { openStoppedNode, type NodeOptions } from './stopped-node';
import { verifyIndex } from './verify';
import { verifyScripts } from './verify-scripts';

const COMMANDS: Readonly<Record<string, Command>> = { status: indexStatus, verify: verifyIndex, rebuild: rebuildIndex };

export const INDEX_COMMANDS = Object.keys(COMMANDS);

const OPTIONS = {
  network: { type: 'string' },
  prefix: { type: 'string' },
  json: { type: 'boolean' },
  scripts: { type: 'string' }
} as const;

interface IndexOptions extends NodeOptions {
  /** The index by script is meant; what stands behind the equals sign. */
  readonly scripts?: string | undefined;
}

/** bcoin's names of its networks. */
const NETWORKS = ['main', 'testnet', 'regtest', 'simnet'];

class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
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

export const INDEX_USAGE = `Usage: bcoin-rest index status|verify|rebuild [--scripts[=N%]] [--network NAME] [--prefix DIR] [--json]

Looks after the index of a node that is not running.

  status     says where the index stands, and that by script, and changes nothing
  verify     computes the index again from the node's blocks, in a folder beside it, and says
             the first difference; needs the time and the disk space that building it takes
  rebuild    empties the index and builds it anew

  --scripts  verify and rebuild: the index by script (--rest-addresses) instead; verify computes
             its rows again and needs no disk space, --scripts=1% those of so many blocks,
             chosen at random

  --network  main unless given, testnet, regtest or simnet
  --prefix   the node's folder, as bcoin's own option
  --json     the result as one line of JSON

bcoin.conf in the node's folder and BCOIN_... in the environment count as for the node.
BCOIN_PATH names another bcoin than the one installed here.

Exit codes:
  0    fine, or done
  1    a difference or damage was found, or the index is not on the node's chain
  2    called wrongly
  3    cannot be done: the node is running, there is no such folder, another network, ...
  130  interrupted; the index is usable, and the node goes on from where it stands
`;

export interface CommandIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Where progress is shown; standard error unless given. */
  readonly progress?: NodeJS.WriteStream;
}

/** @param args what follows `index`. @returns the exit code. */
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
    const message = messageOf(error);
    if (isJson) io.out(`${JSON.stringify({ error: message })}\n`);
    else io.err(`${message}${error instanceof UsageError ? `\n\n${INDEX_USAGE}` : '\n'}`);
    if (error instanceof UsageError || error instanceof OptionError) return EXIT.usage;
    if (error instanceof InterruptedError) return EXIT.interrupted;
    return isDamage(error) ? EXIT.different : EXIT.impossible;
  }
}

/** `name`: of a command that there is. @throws UsageError for one that the index by script does not have. */
function commandOf(name: string, { scripts }: IndexOptions): Command {
  const command = COMMANDS[name] as Command; // there is one
  if (scripts === undefined) return command;
  if (command === indexStatus) throw new UsageError('--scripts is for verify and rebuild; status speaks of both indexes');
  if (command === verifyIndex) return verifyScripts(percentOf(scripts));
  if (scripts !== '') throw new UsageError(`rebuild knows no part of the index by script: --scripts, not '--scripts=${scripts}'`);
  return rebuildScripts;
}

/** Of `1%`; all when there is nothing. @throws UsageError */
function percentOf(text: string): number {
  if (text === '') return 100;
  const percent = /^\d{1,3}(\.\d{1,6})?%$/.test(text) ? Number(text.slice(0, -1)) : NaN;
  if (!(percent > 0 && percent <= 100))
    throw new UsageError(`--scripts must be a part of the blocks, as --scripts=1%, or stand alone, not '${text}'`);
  return percent;
}

/** @throws UsageError */
function parseOptions(args: readonly string[]): IndexOptions {
  let options: IndexOptions;
  try {
    options = parseArgs({ args: args.map((arg) => (arg === '--scripts' ? '--scripts=' : arg)), options: OPTIONS }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
  const { network, prefix } = options;
  if (network !== undefined && !NETWORKS.includes(network))
    throw new UsageError(`--network must be one of ${NETWORKS.join(', ')}, not '${network}'`);
  if (prefix === '') throw new UsageError("--prefix must be a folder, not ''");
  return options;
}

async function runInterruptibly(command: Command, options: NodeOptions, progress: NodeJS.WriteStream): Promise<CommandResult> {
  const interrupt = new AbortController();
  const onSignal = (): void => {
    interrupt.abort(new InterruptedError('interrupted'));
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  try {
    const stopped = await openStoppedNode(options);
    try {
      return await command({ stopped, display: new ProgressDisplay(progress), signal: interrupt.signal });
    } finally {
      await stopped.close();
    }
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

/** What nobody expected comes with its stack. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return EXPECTED.some((expected) => error instanceof expected) ? error.message : (error.stack ?? error.message);
}
