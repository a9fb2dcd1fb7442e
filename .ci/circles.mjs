// Names the circles of files that import each other, imports of types included: eslint's tables see modules and folders, not files.

import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const FOLDERS = ['lib', 'plugin', 'bench', 'migrations', 'test/support'];

const files = FOLDERS.flatMap((folder) => ts.sys.readDirectory(resolve(ROOT, folder), ['.ts'], ['**/data/**']));
const importsOf = new Map(files.map((file) => [file, importedFiles(file)]));

function importedFiles(file) {
  const { importedFiles: found } = ts.preProcessFile(ts.sys.readFile(file) ?? '');
  return found.filter(({ fileName }) => fileName.startsWith('.')).map(({ fileName }) => `${resolve(dirname(file), fileName)}.ts`);
}

/** Files in circles, by Tarjan's algorithm: those of a strongly connected component. */
const [circles, numbers, lowest, stack] = [[], new Map(), new Map(), []];

function visit(file) {
  numbers.set(file, numbers.size);
  lowest.set(file, numbers.get(file));
  stack.push(file);
  for (const next of importsOf.get(file) ?? []) {
    if (!numbers.has(next)) visit(next);
    if (stack.includes(next)) lowest.set(file, Math.min(lowest.get(file), lowest.get(next)));
  }
  if (lowest.get(file) !== numbers.get(file)) return;
  const component = stack.splice(stack.indexOf(file));
  if (component.length > 1) circles.push(component);
}

for (const file of files) if (!numbers.has(file)) visit(file);

for (const circle of circles) console.error(`a circle: ${circle.map((file) => relative(ROOT, file)).join(', ')}`);
if (circles.length > 0) process.exit(1);
