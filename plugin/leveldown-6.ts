// Makes bcoin 1.0.2 work with leveldown 6, the first version that installs on Node.js 20. bcoin's database passes four bounds to each
// iterator, `null` for those that it does not want. Earlier versions of leveldown took `null` for no bound; leveldown 6 takes it for
// the text `null`, so that every read of a range finds nothing, and wallet and address index look empty. This module removes bounds
// that are `null`. It works by being loaded (`node -r bcoin-rest/leveldown-6`), before or after leveldown. bcoin 2.x has its own
// engine and does not load leveldown.

import Module from 'node:module';

/** The part of leveldown with which bcoin's database creates its iterators. */
interface LevelDown {
  readonly prototype: { iterator: (this: unknown, options?: Readonly<Record<string, unknown>>) => unknown };
}

const BOUNDS: ReadonlySet<string> = new Set(['gt', 'gte', 'lt', 'lte']);
const LEVELDOWN_FILE = /[\\/]leveldown[\\/]leveldown\.js$/;

const mended = new WeakSet<LevelDown>();

function leaveNullBoundsOut(leveldown: LevelDown): void {
  if (mended.has(leveldown)) return;
  mended.add(leveldown);
  const { prototype } = leveldown;
  const { iterator } = prototype;
  prototype.iterator = function (options = {}) {
    return iterator.call(this, Object.fromEntries(Object.entries(options).filter(([name, value]) => value !== null || !BOUNDS.has(name))));
  };
}

/** The function behind `require`; Node.js has had it since its first versions, but without a type. */
const loader = Module as unknown as { _load: (this: unknown, request: string, ...more: readonly unknown[]) => unknown };

const load = loader._load;
loader._load = function (request, ...more) {
  const loaded = load.call(this, request, ...more);
  if (request === 'leveldown') leaveNullBoundsOut(loaded as LevelDown);
  return loaded;
};

for (const [file, loaded] of Object.entries(require.cache))
  if (LEVELDOWN_FILE.test(file) && loaded?.loaded) leaveNullBoundsOut(loaded.exports as LevelDown);
