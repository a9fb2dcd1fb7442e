// Which functions of some files run, by V8's precise coverage of this thread: it counts the
// calls of every function without changing the code.
//
// Coverage says how often, not when. So it is taken each time the event loop or a promise
// calls back into the program: files and functions come in the order of the turns in which they
// first ran. Within one turn, files are in the order in which they were loaded (importers before
// imported files), and functions in the order of their file.

import { createHook } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { Session, type Profiler } from 'node:inspector';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface CalledFunction {
  /** V8's name. A function without a name gets that of the surrounding function and its line. */
  readonly name: string;
  readonly calls: number;
}

export interface CalledFile {
  /** Path relative to the watched folder. */
  readonly file: string;
  readonly functions: readonly CalledFunction[];
}

interface Seen {
  readonly url: string;
  readonly name: string;
  readonly from: number;
  readonly to: number;
  calls: number;
}

/** Taking coverage takes milliseconds, and catching up has thousands of similar turns: after FIRST_TURNS it is taken every LATER_TURNS. */
const FIRST_TURNS = 1_000;
const LATER_TURNS = 200;

/** Functions that V8 makes for the fields of a class, which are not in the source. */
const INITIALIZER = /^<\w+_initializer>$/;

export class CallCoverage {
  readonly #session = new Session();
  /** Functions by their place in the source, in the order in which they were first seen. */
  #seen = new Map<string, Seen>();

  /** `folder`: of the compiled files that are watched, with a slash at the end. */
  constructor(private readonly folder: URL) {
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  }

  /** The functions that run until the promise is settled. */
  async during<T>(run: () => Promise<T>): Promise<{ readonly result: T; readonly files: CalledFile[] }> {
    this.#take();
    this.#seen = new Map();
    let turn = 0;
    const turns = createHook({
      before: () => {
        if (++turn < FIRST_TURNS || turn % LATER_TURNS === 0) this.#take();
      }
    }).enable();
    try {
      const result = await run();
      this.#take();
      return { result, files: this.#files() };
    } finally {
      turns.disable();
    }
  }

  close(): void {
    this.#session.disconnect();
  }

  /** Counts start from zero each time they are taken. */
  #take(): void {
    this.#session.post('Profiler.takePreciseCoverage', (error, { result }) => {
      if (error !== null) throw error;
      const ours = result.filter(({ url }) => url.startsWith(this.folder.href)).sort((a, b) => Number(a.scriptId) - Number(b.scriptId));
      for (const { url, functions } of ours) for (const called of functions) this.#note(url, called);
    });
  }

  #note(url: string, { functionName: name, ranges: [range] }: Profiler.FunctionCoverage): void {
    if (range === undefined || range.count === 0 || INITIALIZER.test(name)) return;
    const { startOffset: from, endOffset: to, count } = range;
    const key = `${url} ${from} ${to}`;
    const seen = this.#seen.get(key) ?? { url, name, from, to, calls: 0 };
    seen.calls += count;
    this.#seen.set(key, seen);
  }

  #files(): CalledFile[] {
    const byFile = new Map<string, Seen[]>();
    for (const seen of this.#seen.values()) byFile.set(seen.url, [...(byFile.get(seen.url) ?? []), seen]);
    return [...byFile]
      .map(([url, called]) => {
        const path = fileURLToPath(url);
        const source = readFileSync(path, 'utf8');
        // The file as a whole is a function too, which runs when it is loaded.
        const functions = called.filter(({ from, to }) => from > 0 || to < source.length);
        return {
          file: relative(fileURLToPath(this.folder), path),
          functions: functions.map((each) => ({ name: nameOf(each, functions, source), calls: each.calls }))
        };
      })
      .filter(({ functions }) => functions.length > 0);
  }
}

function nameOf({ name, from, to }: Seen, others: readonly Seen[], source: string): string {
  if (name !== '') return name;
  const around = others.filter((other) => other.name !== '' && other.from < from && other.to > to).sort((a, b) => b.from - a.from)[0];
  return `${around?.name ?? ''}:${source.slice(0, from).split('\n').length}`;
}
