// The commands of `bcoin-rest`, and their help.

import { PAYMENTS_COMMANDS, PAYMENTS_USAGE, runPaymentsCommand } from '../../lib/payments/cli';
import { INDEX_COMMANDS, INDEX_USAGE, runIndexCommand } from './index-commands/run';
import { questionOf, versionText } from './question';

export interface Io {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly now: () => Date;
}

interface Topic {
  readonly usage: string;
  readonly commands: readonly string[];
  /** @param args the arguments after the topic. @returns the exit code. */
  readonly run: (args: readonly string[], io: Io) => Promise<number>;
}

const TOPICS: Readonly<Record<string, Topic>> = {
  payments: { usage: PAYMENTS_USAGE, commands: PAYMENTS_COMMANDS, run: runPaymentsCommand },
  index: { usage: INDEX_USAGE, commands: INDEX_COMMANDS, run: runIndexCommand }
};

const USAGE = `Usage: bcoin-rest payments|index <command>

  payments   reads, checks, makes and signs payment messages (BIP70)
  index      looks after the index of a stopped node

bcoin-rest payments --help and bcoin-rest index --help say more, --version says which version this is.
`;

const USAGE_EXIT = 2;

/** @param args the arguments after `bcoin-rest`. @returns the exit code. */
export async function runCommandLine(args: readonly string[], io: Io): Promise<number> {
  const [name, ...rest] = args[0] === 'help' ? args.slice(1) : args;
  const topic = name !== undefined && Object.hasOwn(TOPICS, name) ? TOPICS[name] : undefined;
  const question = args[0] === 'help' ? 'help' : topic === undefined ? questionOf(args) : questionOf(rest, topic.commands);
  if (question === 'version') io.out(`${versionText()}\n`);
  if (question === 'help') io.out(topic?.usage ?? USAGE);
  if (question !== undefined) return 0;
  if (topic !== undefined) return await topic.run(rest, io);
  io.err(`${name === undefined ? 'a command is missing' : `there is no command '${name}'`}\n\n${USAGE}`);
  return USAGE_EXIT;
}
