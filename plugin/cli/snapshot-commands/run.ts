// `bcoin-rest snapshot`: copies of indexes, for nodes and readers that need not build their own.

import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isOfSystem } from '../../../lib/system/system-errors';
import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { NETWORKS, type NetworkName } from '../../../lib/fleet/reader/networks';
import { megabytes } from '../../../lib/follow/state-text';
import { SnapshotError } from '../../../lib/snapshot/errors';
import { fetchSnapshot } from '../../../lib/snapshot/fetch';
import { makeSnapshot } from '../../../lib/snapshot/make';
import { isKeyText } from '../../../lib/snapshot/signature';
import { sourceAt } from '../../../lib/snapshot/source';
import { verifySnapshot } from '../../../lib/snapshot/verify';
import { StoreError } from '../../../lib/store/errors';
import { messageOf } from '../../../lib/system/error-text';
import { networkFolder, placesOf, type Places } from '../../places';
import { ProgressDisplay } from '../../progress';
import { foreignOwner } from '../folder-owner';
import { interruptibly, InterruptedError } from '../interruptible';
import { sayFailure, UsageError, type CommandIo } from '../maintenance';
import type { SnapshotManifest } from '../../../lib/snapshot/manifest';
import type { SnapshotNetwork } from '../../../lib/snapshot/network';
import type { SnapshotWork } from '../../../lib/snapshot/work';

export const SNAPSHOT_USAGE = `Usage: bcoin-rest snapshot make DIR      [--network NAME] [--prefix DIR] [--key FILE] [--json]
       bcoin-rest snapshot fetch ADDRESS --trust KEY [--network NAME] [--prefix DIR] [--json]
       bcoin-rest snapshot verify DIR    [--trust KEY] [--json]

A snapshot is a folder with copies of the index and, if there is one, of the index by script.

  make       makes one in DIR, which must be empty or not exist. The node or reader may be running.
             The first time a key to sign with is made as well; the public half is shown
  fetch      fetches one from a folder, or from an http:// or https:// address of such a folder,
             to where a node or reader that is not running, and has no index, will look for it.
             Called again after an interruption it goes on where it was
  verify     reads every file of the one in DIR and compares it with the signed manifest

  --trust    the public half of the key that must have signed it, or a file with this text
  --key      the file of the key to sign with; snapshot-key.pem beside the index unless given
  --network  main (default), testnet, regtest or simnet
  --prefix   the node's or reader's folder; ~/.bcoin unless given
  --json     print the result as one line of JSON

Give snapshots only to people you trust: they contain the secret of the index.

Exit codes:
  0    done
  1    the snapshot is damaged, somebody else's, or does not fit, or the disk has failed
  2    wrong arguments
  130  interrupted; fetch goes on where it was
`;

const EXIT = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const;

const OPTIONS = {
  network: { type: 'string' },
  prefix: { type: 'string' },
  key: { type: 'string' },
  trust: { type: 'string' },
  json: { type: 'boolean' }
} as const;

type Options = Readonly<Partial<Record<'network' | 'prefix' | 'key' | 'trust', string>>>;

interface Call {
  readonly place: string;
  readonly options: Options;
  readonly work: SnapshotWork;
}

interface Result {
  readonly manifest: SnapshotManifest;
  /** What was done, before the blocks are named. */
  readonly text: string;
  /** Whose signature it has. */
  readonly signer?: string;
}

interface Command {
  readonly takes: readonly (keyof Options)[];
  readonly run: (call: Call) => Promise<Result>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  make: { takes: ['network', 'prefix', 'key'], run: make },
  fetch: { takes: ['network', 'prefix', 'trust'], run: fetch },
  verify: { takes: ['trust'], run: verify }
};

export const SNAPSHOT_COMMANDS = Object.keys(COMMANDS);

/** @param args the arguments after `snapshot`. @returns the exit code. */
export async function runSnapshotCommand(args: readonly string[], io: CommandIo): Promise<number> {
  const isJson = args.includes('--json');
  try {
    const { command, place, options } = parse(args);
    const display = new ProgressDisplay(io.progress ?? process.stderr);
    const onProgress = display.transferred.bind(display);
    const { manifest, text, signer } = await interruptibly((signal) =>
      command.run({ place, options, work: { signal, onProgress } })
    ).finally(() => {
      display.end();
    });
    io.out(isJson ? `${JSON.stringify({ ...jsonOf(manifest), signer })}\n` : `${text} ${contents(manifest)}\n${signerText(signer)}`);
    return EXIT.done;
  } catch (error) {
    const isExpected =
      [SnapshotError, UsageError, InterruptedError, StoreError].some((expected) => error instanceof expected) || isOfSystem(error);
    sayFailure(error, { isExpected, isJson, usage: SNAPSHOT_USAGE }, io);
    if (error instanceof UsageError) return EXIT.usage;
    return error instanceof InterruptedError ? EXIT.interrupted : EXIT.failed;
  }
}

async function make({ place, options, work }: Call): Promise<Result> {
  const places = placesIn(options);
  const keyFile = options.key ?? join(places.folder, 'snapshot-key.pem');
  return {
    ...(await makeSnapshot(resolve(place), { ...work, ...networkIn(options), places, keyFile })),
    text: `${place} is a snapshot of`
  };
}

async function fetch({ place, options, work }: Call): Promise<Result> {
  const { trust } = options;
  if (trust === undefined) throw new UsageError('fetch needs --trust: the public half of the key that signed the snapshot');
  const places = placesIn(options);
  const foreign = foreignOwner([places.folder, dirname(places.folder), prefixIn(options)]);
  if (foreign !== undefined) throw new SnapshotError(foreign);
  const manifest = await fetchSnapshot({
    ...work,
    ...networkIn(options),
    source: sourceAt(place),
    places,
    trusted: await keyTextOf(trust)
  });
  return { manifest, text: `${places.folder} now has` };
}

async function verify({ place, options: { trust }, work }: Call): Promise<Result> {
  const verified = await verifySnapshot(resolve(place), work, trust === undefined ? undefined : await keyTextOf(trust));
  return { ...verified, text: 'The snapshot is whole:' };
}

function networkIn({ network = 'main' }: Options): SnapshotNetwork {
  const { genesisHash } = NETWORKS[network as NetworkName]; // parse() knows no others
  return { network, genesisHash };
}

const prefixIn = ({ prefix = join(homedir(), '.bcoin') }: Options): string => resolve(prefix);

function placesIn(options: Options): Places {
  const folder = networkFolder(prefixIn(options), options.network ?? 'main');
  return placesOf({ location: (name) => join(folder, name) });
}

/** The text itself, or that in a file. @throws UsageError */
async function keyTextOf(trust: string): Promise<string> {
  if (isKeyText(trust)) return trust;
  const text = await readFile(trust, 'utf8').then(
    (content) => content.trim(),
    () => ''
  );
  if (!isKeyText(text))
    throw new UsageError(`--trust must be the public half of a key, 64 hex digits, or a file with them, not '${trust}'`);
  return text;
}

/** @throws UsageError */
function parse(args: readonly string[]): { readonly command: Command; readonly place: string; readonly options: Options } {
  const [name = '', ...rest] = args;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) throw new UsageError(name === '' ? 'a command is missing' : `there is no command '${name}'`);
  let parsed;
  try {
    parsed = parseArgs({ args: [...rest], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error });
  }
  const {
    values,
    positionals: [place, ...more]
  } = parsed;
  if (place === undefined || more.length > 0) throw new UsageError(`${name} needs the place of one snapshot`);
  const options: Options = values;
  for (const option of ['network', 'prefix', 'key', 'trust'] as const) {
    if (options[option] !== undefined && !command.takes.includes(option)) throw new UsageError(`--${option} is not for ${name}`);
    if (options[option] === '') throw new UsageError(`--${option} must not be empty`);
  }
  const { network } = options;
  if (network !== undefined && !Object.hasOwn(NETWORKS, network))
    throw new UsageError(`--network must be one of ${Object.keys(NETWORKS).join(', ')}, not '${network}'`);
  return { command, place, options };
}

function contents({ network, index, scripts, files }: SnapshotManifest): string {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const byScript = scripts && `, and the index by script at block ${scripts.height}`;
  return (
    `the index of ${network} at block ${index.height} (${toDisplayHex(index.hash)})${byScript ?? ''}: ` +
    `${files.length} files, ${megabytes(bytes)}.`
  );
}

const signerText = (signer: string | undefined): string => (signer === undefined ? '' : `Signed by ${signer}\n`);

function jsonOf({ network, index, scripts, files }: SnapshotManifest): object {
  const point = ({ height, hash }: SnapshotManifest['index']): object => ({ height, hash: toDisplayHex(hash) });
  return {
    network,
    index: point(index),
    scripts: scripts && point(scripts),
    files: files.length,
    bytes: files.reduce((sum, { size }) => sum + size, 0)
  };
}
