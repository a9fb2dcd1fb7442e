// Bundles the pages for browsers (lib/web/browser) into dist/web: files with hashed names, compressed, and a manifest of them.
// `--watch`: again after each change.

import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { context } from 'esbuild';

const root = dirname(import.meta.dirname);
const sources = join(root, 'lib/web/browser');
const target = join(root, 'dist/web');

/** Each folder with a main.tsx is a page. */
const pages = readdirSync(sources).filter((name) => existsSync(join(sources, name, 'main.tsx')));

/** A watching server must not see a folder without its files: they are written first, then the manifest that names them. */
const writing = {
  name: 'writing',
  setup(build) {
    build.onEnd(({ errors, metafile, outputFiles }) => {
      if (errors.length > 0) return;
      mkdirSync(target, { recursive: true });
      const kept = new Set(['manifest.json', 'licenses.txt']);
      for (const { path, contents } of outputFiles) {
        const name = basename(path);
        const forms = { '': contents, '.gz': gzipSync(contents, { level: 9 }), '.br': brotli(contents) };
        for (const [end, bytes] of Object.entries(forms)) {
          kept.add(`${name}${end}`);
          writeFileSync(join(target, `${name}${end}`), bytes);
        }
      }
      writeFileSync(join(target, 'licenses.txt'), licensesOf(metafile));
      writeFileSync(join(target, 'manifest.json'), JSON.stringify(manifestOf(metafile)));
      for (const name of readdirSync(target)) if (!kept.has(name)) rmSync(join(target, name));
    });
  }
};

const brotli = (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } });

/** For each page its script, its style, and the scripts that its script loads at once; and the icon. */
function manifestOf({ outputs }) {
  const files = Object.keys(outputs).map((path) => basename(path));
  const made = Object.entries(outputs).map(([path, output]) => ({ path, ...output }));
  const entry = (end) => made.find(({ entryPoint }) => entryPoint?.endsWith(end));
  const names = (paths) => paths.map((path) => basename(path));
  const page = (name) => {
    const { path, cssBundle, imports } = entry(`${name}/main.tsx`);
    const loaded = imports.filter(({ kind }) => kind === 'import-statement').map((each) => each.path);
    return { script: basename(path), style: basename(cssBundle), parts: names(loaded) };
  };
  return { files, icon: basename(entry('icon.svg').path), pages: Object.fromEntries(pages.map((name) => [name, page(name)])) };
}

/** The licenses of the packages that are in the bundles. */
function licensesOf({ inputs }) {
  const folders = Object.keys(inputs).flatMap((path) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  const texts = [...new Set(folders)].sort().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    const file = readdirSync(join(root, folder)).find((each) => /^licen[cs]e/i.test(each));
    return `${name} ${version}\n\n${readFileSync(join(root, folder, file), 'utf8').trim()}\n`;
  });
  return texts.join('\n----\n\n');
}

const build = await context({
  absWorkingDir: root,
  entryPoints: [
    ...pages.map((name) => ({ in: join(sources, name, 'main.tsx'), out: name })),
    { in: join(sources, 'icon.svg'), out: 'icon' }
  ],
  outdir: target,
  entryNames: '[name]-[hash]',
  chunkNames: 'part-[hash]',
  assetNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  target: ['es2022', 'chrome109', 'firefox115', 'safari16'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  loader: { '.svg': 'copy' },
  minify: true,
  legalComments: 'none',
  metafile: true,
  write: false,
  logLevel: 'warning',
  plugins: [writing]
});
if (process.argv.includes('--watch')) await build.watch();
else {
  await build.rebuild();
  await build.dispose();
}
