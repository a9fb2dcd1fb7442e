// Knip's settings without the tests: what only they use counts as unused.

import { readFileSync } from 'node:fs';

const { entry } = JSON.parse(readFileSync(new URL('../knip.json', import.meta.url), 'utf8'));

export default {
  entry: entry.filter((pattern) => !pattern.startsWith('test/')),
  project: ['{lib,plugin,migrations,bench}/**/*.{ts,tsx,mjs}', '!bench/data/**'],
  ignoreExportsUsedInFile: true
};
