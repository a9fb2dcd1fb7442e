// The sources as JavaScript in `dist`, for threads and child processes: the suite starts hundreds of them, and ts-node would take most of
// a second in each. The suite itself, in its main thread, has ts-node.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, statSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { REGISTER_INSTANCE } from 'ts-node';
import { projectFolder } from './project-folder';

/** What runs in browsers is bundled. */
const BROWSER_FOLDER = join(projectFolder, 'lib/web/browser');

const SOURCES = ['lib', 'plugin', 'migrations', 'test/support'];

/** Compiles what has changed since it was compiled, once before the first test. */
export function mochaGlobalSetup(): void {
  bundle();
  cpSync(join(projectFolder, 'proto'), join(projectFolder, 'dist/proto'), { recursive: true });
  for (const source of SOURCES.flatMap(filesIn)) {
    const target = compiledPath(source);
    if (modifiedAt(target) < modifiedAt(source)) compile(source, target);
  }
}

/** The pages for browsers, if they have changed. */
function bundle(): void {
  const sources = readdirSync(BROWSER_FOLDER, { recursive: true, withFileTypes: true }).map((entry) => join(entry.parentPath, entry.name));
  const program = join(projectFolder, '.ci/bundle.mjs');
  const made = modifiedAt(join(projectFolder, 'dist/web/manifest.json'));
  if ([program, BROWSER_FOLDER, ...sources].some((path) => modifiedAt(path) > made))
    execFileSync(process.execPath, [program], { stdio: 'inherit' });
}

/** The compiled program at `test/support/programs/NAME.ts`. */
export function compiledProgram(name: string): string {
  return compiledPath(join(projectFolder, 'test/support/programs', `${name}.ts`));
}

function compiledPath(source: string): string {
  return join(projectFolder, 'dist', relative(projectFolder, source)).replace(/\.ts$/, '.js');
}

function filesIn(folder: string): string[] {
  return readdirSync(join(projectFolder, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.parentPath.startsWith(BROWSER_FOLDER))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Milliseconds; 0 if there is no such file. */
function modifiedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function compile(source: string, target: string): void {
  const compiler = process[REGISTER_INSTANCE];
  if (compiler === undefined) throw new Error('expected the tests to run with ts-node');
  mkdirSync(dirname(target), { recursive: true });
  // Renamed into place, since another run may read the same file at this moment.
  const unfinished = `${target}-${process.pid}`;
  // Without its source map, which packages do not have, and which would take a quarter of the time in which a thread starts.
  writeFileSync(unfinished, compiler.compile(readFileSync(source, 'utf8'), source).replace(/\n\/\/# sourceMappingURL=.*$/, ''));
  renameSync(unfinished, target);
}
