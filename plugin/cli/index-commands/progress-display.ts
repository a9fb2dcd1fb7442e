// Progress of long work on standard error: a bar in a terminal, a line now and then elsewhere.

import { copyingText, indexingText, percent } from '../../../lib/index/progress/text';
import { ProgressBar } from '../../progress-bar';
import type { IndexLogger } from '../../../lib/index/types';
import type { IndexState } from '../../../lib/index/types';
import type { OpeningProgress } from '../../../lib/store/store';

export interface ProgressDisplay {
  /** Takes what the operator must hear; the rest of what an index says is in its states. */
  readonly logger: IndexLogger;
  /** How much of an index was looked through before it is opened. */
  checked(progress: OpeningProgress): void;
  /** A state of an index that is being built. */
  note(state: IndexState): void;
  /** Records compared so far, and how much of the whole that is, 0 to 1. */
  compared(records: number, part: number): void;
  /** The piece of work is over. */
  end(): void;
}

const LINE_MS = 10_000;
const CHECKING_FORMAT = 'Checking |{bar}| {percentage}%';
const COMPARING_FORMAT = 'Comparing |{bar}| {percentage}% | {records} records';
const COMPARING_STEPS = 1_000;

export function progressDisplay(stream: NodeJS.WriteStream): ProgressDisplay {
  return stream.isTTY ? new ProgressBars(stream) : new ProgressLines(stream);
}

class ProgressLines implements ProgressDisplay {
  readonly logger: IndexLogger;
  #saidAt = -Infinity;

  constructor(private readonly stream: NodeJS.WritableStream) {
    this.logger = loggerOf((line) => { stream.write(line); });
  }

  checked({ done, total }: OpeningProgress): void {
    this.#sayLater(() => `Checking files: ${percent(done, total)}.`);
  }

  note(state: IndexState): void {
    if (state.phase === 'indexing') this.#say(() => `Indexing: block ${indexingText(state)}.`);
    if (state.phase === 'copying') this.#say(() => `Copying coins of the node: ${copyingText(state)}.`);
  }

  compared(records: number, part: number): void {
    this.#sayLater(() => `Comparing: ${percent(part, 1)}, ${records} records.`);
  }

  end(): void {
    this.#saidAt = -Infinity;
  }

  /** What is done soon is not worth a line. */
  #sayLater(line: () => string): void {
    if (this.#saidAt === -Infinity) this.#saidAt = performance.now();
    this.#say(line);
  }

  #say(line: () => string): void {
    const now = performance.now();
    if (now - this.#saidAt < LINE_MS) return;
    this.#saidAt = now;
    this.stream.write(`${line()}\n`);
  }
}

class ProgressBars implements ProgressDisplay {
  readonly logger: IndexLogger;
  readonly #bar: ProgressBar;

  constructor(stream: NodeJS.WritableStream) {
    this.#bar = new ProgressBar(stream);
    this.logger = loggerOf((line) => {
      this.end();
      stream.write(line);
    });
  }

  checked({ done, total }: OpeningProgress): void {
    this.#bar.draw(CHECKING_FORMAT, done, total, {});
  }

  note(state: IndexState): void {
    this.#bar.note(state);
  }

  compared(records: number, part: number): void {
    this.#bar.draw(COMPARING_FORMAT, Math.floor(part * COMPARING_STEPS), COMPARING_STEPS, { records });
  }

  end(): void {
    this.#bar.end();
  }
}

function loggerOf(write: (line: string) => void): IndexLogger {
  const say = (message: string): void => { write(`${message}\n`); };
  return { error: say, warning: say, info: () => undefined };
}
