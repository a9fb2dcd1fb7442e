// `npx bcoin-rest fleet`: a look at a fleet, and the two steps of an operator that no process takes by itself.

import { findDisplayHex } from '../../lib/bitcoin/hash';
import { connectToNats } from '../../lib/fleet/log/connection';
import { LogGoneError } from '../../lib/fleet/log/errors';
import { natsError } from '../../lib/fleet/log/stream';
import { subjectsOf } from '../../lib/fleet/log/subjects';
import { decodeReply, encodeQuestion } from '../../lib/fleet/messages/questions';
import { messageOf } from '../../lib/system/error-text';
import { OptionError } from '../options/errors';
import { readRestNats } from '../options/fleet';
import { flagOf } from '../options/names';
import { ReaderConfig, requireKnown } from '../reader/config';
import { readNetwork } from '../reader/network';
import { describeFleet, type FleetAccess } from './status';
import type { Io } from '../cli/io';

export const FLEET_COMMANDS = ['status', 'rewind', 'reset-log'];

export const FLEET_USAGE = `Usage: bcoin-rest fleet status|rewind|reset-log --rest-nats=URLS [OPTION]...

  status             which node leads, the log's last record, and each reader's block, lag and version; exit code 1 if none leads or a
                     reader does not answer
  rewind --to HASH   has the log go to the block HASH, also if that has less work. A feeding node must have been reset to the block, and
                     no other node may lead
  reset-log --yes    deletes the log. The node that leads begins a new one; readers compare their blocks with it and go on. Needed when
                     the log is of a newer version, or was written by others

  --network NAME     main, testnet, regtest or simnet
  --rest-nats URLS   of the servers of NATS that have the log: nats://a,b,c
  --rest-nats-creds FILE
                     with the credentials for NATS
`;

const FAILURE_EXIT = 1;
const USAGE_EXIT = 2;

/** How long the node at the block has to bring the log there. */
const REWIND_MS = 20_000;

type Command = (access: FleetAccess, config: ReaderConfig, io: Io) => Promise<number>;

interface CommandDefinition {
  readonly run: Command;
  /** Beside those of all commands. */
  readonly options?: readonly string[];
  readonly check?: (config: ReaderConfig) => void;
}

/** Of all commands. */
const OPTIONS = ['network', 'rest-nats', 'rest-nats-creds'];

const COMMANDS: Readonly<Record<string, CommandDefinition>> = {
  status: {
    run: async (access, _, { out }) => {
      const { text, isWell } = await describeFleet(access);
      out(text);
      return isWell ? 0 : FAILURE_EXIT;
    }
  },
  rewind: { run: rewind, options: ['to'], check: hashToGoTo },
  'reset-log': { run: resetLog, options: ['yes'], check: requireYes }
};

/** @param args the arguments after `fleet`. @returns the exit code. */
export async function runFleetCommand(args: readonly string[], io: Io): Promise<number> {
  const [name, ...rest] = args;
  const command = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    io.err(`${name === undefined ? 'a command is missing' : `there is no command '${name}'`}\n\n${FLEET_USAGE}`);
    return USAGE_EXIT;
  }
  try {
    const config = new ReaderConfig(rest, process.env);
    const names = [...OPTIONS, ...(command.options ?? [])];
    requireKnown(config, names, `is not an option here; known are ${names.map(flagOf).join(', ')}`);
    command.check?.(config);
    const network = readNetwork(config);
    const bus = await connectToNats(readRestNats(config), 'bcoin-rest fleet');
    try {
      return await command.run({ bus, subjects: subjectsOf(network.chain), network }, config, io);
    } finally {
      await bus.connection.close();
    }
  } catch (error) {
    io.err(`${messageOf(error)}\n`);
    return error instanceof OptionError ? USAGE_EXIT : FAILURE_EXIT;
  }
}

/** @throws OptionError */
function hashToGoTo(config: ReaderConfig): Buffer {
  const hash = findDisplayHex(Buffer.from(String(config.get('to') ?? '')));
  if (hash === undefined) throw new OptionError('rewind needs --to: the hash of the block to go to, 64 hex digits');
  return hash;
}

async function rewind({ bus, subjects }: FleetAccess, config: ReaderConfig, { out, err }: Io): Promise<number> {
  const hash = hashToGoTo(config);
  try {
    const { data } = await bus.connection.request(subjects.leader('rewind'), encodeQuestion('rewind', { hash }), { timeout: REWIND_MS });
    out(`The log is at the block since record ${decodeReply('rewind', data).sequence}.\n`);
    return 0;
  } catch (error) {
    err(`The log was not rewound: ${messageOf(error)}. A node that feeds must be at the block, and no other one may lead.\n`);
    return FAILURE_EXIT;
  }
}

/** @throws OptionError */
function requireYes(config: ReaderConfig): void {
  if (config.bool('yes') !== true) throw new OptionError('reset-log deletes the log: say --yes if that is meant');
}

async function resetLog({ bus, subjects: { stream } }: FleetAccess, _: ReaderConfig, { out }: Io): Promise<number> {
  try {
    await bus.manager.streams.delete(stream);
    out(`The log ${stream} is deleted.\n`);
  } catch (error) {
    const known = await natsError('the log cannot be deleted', error);
    if (!(known instanceof LogGoneError)) throw known;
    out(`There was no log ${stream}.\n`);
  }
  return 0;
}
