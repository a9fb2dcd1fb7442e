// Bars in a terminal.

import { SingleBar } from 'cli-progress';
import { duration, paceText } from '../lib/index/progress/text';
import type { IndexState } from '../lib/index/types';

const COPYING_FORMAT = 'Copying coins |{bar}| {percentage}% | {value} of {total}';
const INDEXING_FORMAT = 'Indexing |{bar}| {percentage}% | block {value} of {total} | {pace} | {left}';
/** Leaves room for the words. */
const BAR_COLUMNS = 20;

export class ProgressBar {
  #bar: SingleBar | undefined;
  #format: string | undefined;

  constructor(private readonly stream: NodeJS.WritableStream) {}

  /** Shows the state of an index that catches up. */
  note(state: IndexState): void {
    if (state.phase === 'live' && this.#format === INDEXING_FORMAT) this.#bar?.update(state.height);
    if (state.phase === 'copying') this.draw(COPYING_FORMAT, state.coins, state.of, {});
    if (state.phase !== 'indexing') return;
    const { height, target, pace, secondsLeft } = state;
    this.draw(INDEXING_FORMAT, height, target, {
      pace: pace === undefined ? '' : paceText(pace),
      left: secondsLeft === undefined ? '' : `${duration(secondsLeft)} left`
    });
  }

  /** In a line of its own for each format. */
  draw(format: string, value: number, total: number, words: object): void {
    if (format !== this.#format) this.end();
    this.#format = format;
    if (this.#bar === undefined) {
      // Ctrl-C is for others to hear, and may be the end: the terminal stays as it is, lines are cut instead.
      this.#bar = new SingleBar({ stream: this.stream, format, barsize: BAR_COLUMNS, linewrap: true, gracefulExit: false });
      this.#bar.start(total, value, words);
    }
    this.#bar.setTotal(total);
    this.#bar.update(value, words);
  }

  /** Leaves the bar where it is; the next one begins below. */
  end(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }
}
