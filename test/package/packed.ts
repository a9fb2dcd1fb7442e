// The packages of this project as npm packs them, and empty projects into which they are
// installed. `dist` has to be built.

import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectFolder } from '../support/process/project-folder';

const run = promisify(execFile);

export interface Packed {
  readonly name: string;
  /** Path of the tarball. */
  readonly tarball: string;
  /** Paths within the package. */
  readonly files: readonly string[];
}

/** Variables that npm passes to the tests that it runs: this project's own settings (.npmrc) and facts about the run. */
const HANDED_DOWN =
  /^(npm_config_(ignore_scripts|node_options|omit_lockfile\w+|allow_scripts|\w*prefix)|npm_(package|lifecycle|command)\w*|NODE_OPTIONS)$/;

/** npm as a user runs it, outside this project. */
export async function npm(folder: string, ...args: string[]): Promise<string> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !HANDED_DOWN.test(name)));
  const { stdout } = await run('npm', args, { cwd: folder, env, maxBuffer: 1 << 26 });
  return stdout;
}

/** Installs the dependencies in the `package.json` of a folder, from npm's own cache if possible. */
export async function install(folder: string, ...args: string[]): Promise<void> {
  await npm(folder, 'install', '--prefer-offline', '--no-audit', '--no-fund', '--no-progress', ...args);
}

/** Packs both packages into a folder. @returns the service's and the payments library's. */
export async function pack(folder: string): Promise<[service: Packed, payments: Packed]> {
  const payments = await paymentsFolder(folder);
  await npm(payments, 'run', '--silent', 'build');
  const printed = await npm(projectFolder, 'pack', '--ignore-scripts', '--json', '--pack-destination', folder, projectFolder, payments);
  // From npm 12 on it is an object by name.
  const packed = Object.values(JSON.parse(printed) as Record<string, { name: string; filename: string; files: { path: string }[] }>).map(
    ({ name, filename, files }) => ({ name, tarball: join(folder, filename), files: files.map(({ path }) => path).sort() })
  );
  const named = (wanted: string): Packed => {
    const found = packed.find(({ name }) => name === wanted);
    if (!found) throw new Error(`npm did not pack ${wanted}`);
    return found;
  };
  return [named('bcoin-rest'), named('bcoin-rest-payments')];
}

/** The payments library's folder in a separate checkout: it builds into its own folder, and tests build at the same time. */
async function paymentsFolder(folder: string): Promise<string> {
  const checkout = await mkdtemp(join(folder, 'checkout-'));
  const payments = join(checkout, 'packages/payments');
  for (const file of ['package.json', 'README.md']) await cp(join(projectFolder, 'packages/payments', file), join(payments, file));
  for (const name of ['dist', 'docs', 'LICENSE']) await symlink(join(projectFolder, name), join(checkout, name));
  await cp(join(projectFolder, 'proto'), join(checkout, 'proto'), { recursive: true });
  return payments;
}

/** A folder with a `package.json` and nothing else. */
export async function emptyProject(folder: string, dependencies: Readonly<Record<string, string>>): Promise<string> {
  await mkdir(folder, { recursive: true });
  const manifest = { name: 'empty', version: '1.0.0', private: true, dependencies, overrides: { leveldown: '6.1.1' } };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  return folder;
}
