// Progress of long work on standard error: a bar in a terminal, a line now and then elsewhere.

import { SingleBar } from 'cli-progress';
import { duration, indexingText, paceText } from '../../../lib/index/progress-text';
import type { IndexLogger } from '../../../lib/index/logger';
import type { IndexState } from '../../../lib/index/types';

export interface ProgressDisplay {
  /** Takes what the operator must hear; the rest of what an index says is in its states. */
  readonly logger: IndexLogger;
  /** A state of an index that is being built. */
  note(state: IndexState): void;
  /** Records compared so far. */
  compared(records: number): void;
  /** The piece of work is over. */
  end(): void;
}

const LINE_MS = 10_000;
const INDEXING_FORMAT = 'Indexing |{bar}| {percentage}% | block {value} of {total} | {pace} | {left}';
const COMPARING_FORMAT = 'Comparing | {value} records';

export function progressDisplay(stream: NodeJS.WriteStream): ProgressDisplay {
  return stream.isTTY ? new ProgressBar(stream) : new ProgressLines(stream);
}

class ProgressLines implements ProgressDisplay {
  readonly logger: IndexLogger;
  #saidAt = -Infinity;

  constructor(private readonly stream: NodeJS.WritableStream) {
    this.logger = loggerOf((line) => { stream.write(line); });
  }

  note(state: IndexState): void {
    if (state.phase === 'indexing') this.#say(() => `Indexing: block ${indexingText(state)}.`);
  }

  compared(records: number): void {
    if (this.#saidAt === -Infinity) this.#saidAt = performance.now();
    this.#say(() => `Comparing: ${records} records.`);
  }

  end(): void {
    this.#saidAt = -Infinity;
  }

  #say(line: () => string): void {
    const now = performance.now();
    if (now - this.#saidAt < LINE_MS) return;
    this.#saidAt = now;
    this.stream.write(`${line()}\n`);
  }
}

class ProgressBar implements ProgressDisplay {
  readonly logger: IndexLogger;
  #bar: SingleBar | undefined;

  constructor(private readonly stream: NodeJS.WritableStream) {
    this.logger = loggerOf((line) => {
      this.end();
      stream.write(line);
    });
  }

  note(state: IndexState): void {
    if (state.phase === 'live') this.#bar?.update(state.height);
    if (state.phase !== 'indexing') return;
    const { height, target, pace, secondsLeft } = state;
    this.#draw(INDEXING_FORMAT, height, target, {
      pace: pace === undefined ? '' : paceText(pace),
      left: secondsLeft === undefined ? '' : `${duration(secondsLeft)} left`
    });
  }

  compared(records: number): void {
    if (this.#bar === undefined) this.#draw(COMPARING_FORMAT, records, 0, {});
    else this.#bar.update(records);
  }

  end(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }

  #draw(format: string, value: number, total: number, words: object): void {
    if (this.#bar === undefined) {
      // Ctrl-C is the command's to hear.
      this.#bar = new SingleBar({ stream: this.stream, format, hideCursor: true, gracefulExit: false });
      this.#bar.start(total, value, words);
    }
    this.#bar.setTotal(total);
    this.#bar.update(value, words);
  }
}

function loggerOf(write: (line: string) => void): IndexLogger {
  const say = (message: string): void => { write(`${message}\n`); };
  return { error: say, warning: say, info: () => undefined, debug: () => undefined };
}
