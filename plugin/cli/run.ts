// The commands of `bcoin-rest`, and their help.

import { questionOf, versionText } from './question';
import type { Io } from './io';

interface Topic {
  readonly usage: string;
  readonly commands: readonly string[];
  /** @param args the arguments after the topic. @returns the exit code. */
  readonly run: (args: readonly string[], io: Io) => Promise<number>;
}

/* eslint-disable @typescript-eslint/no-require-imports --
   Each topic is loaded when it is asked for, and import() finds no file of TypeScript. */
const TOPICS: Readonly<Record<string, () => Topic>> = {
  payments: () => {
    const module = require('../../lib/payments/cli') as typeof import('../../lib/payments/cli');
    return { usage: module.PAYMENTS_USAGE, commands: module.PAYMENTS_COMMANDS, run: module.runPaymentsCommand };
  },
  index: () => {
    const module = require('./index-commands/run') as typeof import('./index-commands/run');
    return { usage: module.INDEX_USAGE, commands: module.INDEX_COMMANDS, run: module.runIndexCommand };
  },
  snapshot: () => {
    const module = require('./snapshot-commands/run') as typeof import('./snapshot-commands/run');
    return { usage: module.SNAPSHOT_USAGE, commands: module.SNAPSHOT_COMMANDS, run: module.runSnapshotCommand };
  },
  fleet: () => {
    const module = require('../fleet/command') as typeof import('../fleet/command');
    return { usage: module.FLEET_USAGE, commands: module.FLEET_COMMANDS, run: module.runFleetCommand };
  },
  reader: () => {
    const module = require('../reader/command') as typeof import('../reader/command');
    return { usage: module.READER_USAGE, commands: [], run: module.runReader };
  }
};
/* eslint-enable @typescript-eslint/no-require-imports */

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
  const topic = name !== undefined && Object.hasOwn(TOPICS, name) ? TOPICS[name]?.() : undefined;
  const question = args[0] === 'help' ? 'help' : topic === undefined ? questionOf(args) : questionOf(rest, topic.commands);
  if (question === 'version') io.out(`${versionText()}\n`);
  if (question === 'help') io.out(topic?.usage ?? USAGE);
  if (question !== undefined) return 0;
  if (topic !== undefined) return await topic.run(rest, io);
  io.err(`${name === undefined ? 'a command is missing' : `there is no command '${name}'`}\n\n${USAGE}`);
  return USAGE_EXIT;
}
