// The commands of `bcoin-rest`, and their help.

import { PAYMENTS_COMMANDS, PAYMENTS_USAGE, runPaymentsCommand } from '../../lib/payments/cli';
import { INDEX_COMMANDS, INDEX_USAGE, runIndexCommand } from './index-commands/run';
import { runSnapshotCommand, SNAPSHOT_COMMANDS, SNAPSHOT_USAGE } from './snapshot-commands/run';
import { READER_USAGE, runReader } from '../reader/command';
import { FLEET_COMMANDS, FLEET_USAGE, runFleetCommand } from '../fleet/command';
import { questionOf, versionText } from './question';
import type { Io } from './io';

interface Topic {
  readonly usage: string;
  readonly commands: readonly string[];
  /** @param args the arguments after the topic. @returns the exit code. */
  readonly run: (args: readonly string[], io: Io) => Promise<number>;
}

const TOPICS: Readonly<Record<string, Topic>> = {
  payments: { usage: PAYMENTS_USAGE, commands: PAYMENTS_COMMANDS, run: runPaymentsCommand },
  index: { usage: INDEX_USAGE, commands: INDEX_COMMANDS, run: runIndexCommand },
  snapshot: { usage: SNAPSHOT_USAGE, commands: SNAPSHOT_COMMANDS, run: runSnapshotCommand },
  fleet: { usage: FLEET_USAGE, commands: FLEET_COMMANDS, run: runFleetCommand },
  reader: { usage: READER_USAGE, commands: [], run: runReader }
};

const USAGE = `Usage: bcoin-rest payments|index|snapshot|fleet <command>
       bcoin-rest reader <option>...

  payments   reads, checks, makes and signs payment messages (BIP70)
  index      looks after the index of a stopped node
  snapshot   copies indexes, so that another node or reader need not build its own
  fleet      looks at a fleet of readers, rewinds or resets its log
  reader     answers as a node does, without one: a process of a fleet

Each has --help; --version says which version this is.
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
