// Names what docs/architecture.md leaves out: folders of modules, and files with caches that drop what was used least recently.

import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { modules } from '../eslint.config.mjs';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const text = ts.sys.readFile(resolve(ROOT, 'docs/architecture.md')) ?? '';
const lines = text.split('\n');

/** The row of a module, and the table of its folders if it has one. */
function rowsOf(module) {
  const at = lines.indexOf(`Folders of \`${module}\`:`);
  const table = at < 0 ? [] : lines.slice(at + 2, lines.indexOf('', at + 2));
  return [lines.find((line) => line.startsWith(`| \`${module}\``)) ?? '', ...table].join('\n');
}

const folders = [...Object.keys(modules), 'plugin'].flatMap((module) =>
  ts.sys
    .getDirectories(resolve(ROOT, module))
    .filter((folder) => !rowsOf(module).includes(`\`${folder}/\``))
    .map((folder) => `the row of ${module} does not name its folder ${folder}/`)
);
const caches = ts.sys
  .readDirectory(resolve(ROOT, 'lib'), ['.ts'])
  .filter((file) => ts.sys.readFile(file)?.includes("from 'lru-cache'"))
  .map((file) => relative(ROOT, file))
  .filter((file) => !text.includes(`\`${file}\``))
  .map((file) => `the table of caches has no row of ${file}`);
const found = [...folders, ...caches];

for (const sentence of found) console.error(`docs/architecture.md: ${sentence}.`);
if (found.length > 0) process.exit(1);
