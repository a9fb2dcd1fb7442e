// Names what eslint's tables allow and no file does: an import that is allowed without need is the first that goes wrong.

import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { belowInterfaces, folders, modules } from '../eslint.config.mjs';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/** What the files of a folder import, by paths from the root. */
function importsOf(folder) {
  const files = ts.sys.readDirectory(resolve(ROOT, folder), ['.ts', '.tsx'], ['**/browser/**']);
  return files.flatMap((file) =>
    ts
      .preProcessFile(ts.sys.readFile(file) ?? '')
      .importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
      .map(({ fileName }) => relative(ROOT, resolve(dirname(file), fileName)))
  );
}

const isIn = (path, place) => path === place || path.startsWith(`${place}/`);

function unused(folder, places) {
  const imports = importsOf(folder);
  return places
    .filter((place) => !imports.some((path) => isIn(path, place)))
    .map((place) => `${folder} is allowed to import ${place}, and does not`);
}

// Interfaces share a list: one of them has to need each place.
const shared = Object.keys(modules).filter((module) => belowInterfaces.every((place) => modules[module].includes(place)));
const sharedImports = shared.flatMap(importsOf);
const found = [
  ...belowInterfaces
    .filter((place) => !sharedImports.some((path) => isIn(path, place)))
    .map((place) => `interfaces are allowed to import ${place}, and none does`),
  ...Object.entries(modules).flatMap(([module, places]) =>
    unused(
      module,
      places.filter((place) => !shared.includes(module) || !belowInterfaces.includes(place))
    )
  ),
  ...Object.entries(folders).flatMap(([folder, places]) => {
    const module = dirname(folder);
    if (importsOf(folder).length === 0 && ts.sys.readDirectory(resolve(ROOT, folder), ['.ts']).length === 0)
      return [`there is no ${folder}`];
    return unused(
      folder,
      places.map((place) => `${module}/${place}`)
    );
  })
];
for (const sentence of found) console.error(`eslint.config.mjs: ${sentence}.`);
if (found.length > 0) process.exit(1);
