// Progress of long work: a bar in a terminal, otherwise a line now and then.

import { SingleBar } from 'cli-progress';
import { EMPTY, type Observable, type Subscription } from 'rxjs';
import { sentence } from '../lib/follow/state-text';
import { LOG_MS, Throttle } from '../lib/follow/throttle';
import { copyingText, duration, indexingText, paceText, percent } from '../lib/index/progress/text';
import { stateText } from '../lib/scripts/progress';
import type { IndexLogger } from '../lib/follow/logger';
import type { IndexState } from '../lib/index/types';
import type { HostNodeLogger } from '../lib/node/host';
import type { ScriptsState } from '../lib/scripts/types';
import type { OpeningProgress } from '../lib/store/store';

/** The bar of each kind of work. */
const FORMATS = {
  checking: 'Checking |{bar}| {percentage}%',
  transferring: 'Snapshot |{bar}| {percentage}%',
  copying: 'Copying coins |{bar}| {percentage}% | {value} of {total}',
  indexing: 'Indexing |{bar}| {percentage}% | block {value} of {total} | {pace} | {left}',
  partitioning: 'Filling by script |{bar}| {percentage}% | block {value} of {total}',
  sorting: 'Sorting by script |{bar}| {percentage}% | {value} of {total} files',
  following: 'Catching up by script |{bar}| {percentage}% | block {value} of {total}',
  comparing: 'Comparing |{bar}| {percentage}% | {records} records'
} as const;
type Work = keyof typeof FORMATS;

/** Short, to leave space for the text beside it. */
const BAR_COLUMNS = 20;
const COMPARING_STEPS = 1_000;

/** bcoin's number for the log level at which the index logs its progress. */
const INFO = 3;

export class ProgressDisplay {
  /** Shows errors and warnings; everything else that an index logs is shown from its states. */
  readonly logger: IndexLogger;
  readonly #stream: NodeJS.WriteStream;
  #work: Work | undefined;
  #bar: SingleBar | undefined;
  #lines = new Throttle(LOG_MS);

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    const say = (message: string): void => {
      this.#endBar();
      stream.write(`${message}\n`);
    };
    this.logger = { error: say, warning: say, info: () => undefined };
  }

  /** Shows the progress of checking the files before an index is opened. */
  checked({ done, total }: OpeningProgress): void {
    this.#show('checking', done, total, {}, () => `Checking files: ${percent(done, total)}.`);
  }

  /** Shows the bytes of a snapshot that were read or fetched. */
  transferred({ done, total }: OpeningProgress): void {
    this.#show('transferring', done, total, {}, () => `Snapshot: ${percent(done, total)}.`);
  }

  /** Shows how many records were compared, and their part of the whole, 0 to 1. */
  compared(records: number, part: number): void {
    this.#show(
      'comparing',
      Math.floor(part * COMPARING_STEPS),
      COMPARING_STEPS,
      { records },
      () => `Comparing: ${percent(part, 1)}, ${records} records.`
    );
  }

  /** Shows a state of an index that is being built. */
  note(state: IndexState): void {
    if (state.phase === 'live' && this.#work === 'indexing') this.#bar?.update(state.height);
    if (state.phase === 'copying')
      this.#show('copying', state.coins, state.of, {}, () => `Copying coins of the node: ${copyingText(state)}.`);
    if (state.phase !== 'indexing') return;
    const { height, target, pace, secondsLeft } = state;
    const words = {
      pace: pace === undefined ? '' : paceText(pace),
      left: secondsLeft === undefined ? '' : `${duration(secondsLeft)} left`
    };
    this.#show('indexing', height, target, words, () => `Indexing: block ${indexingText(state)}.`);
  }

  /** Shows a state of an index by script. */
  noteScripts(state: ScriptsState): void {
    const line = (): string => sentence(stateText(state));
    if (state.phase === 'live' && this.#work === 'following') this.#bar?.update(state.height);
    if (state.phase === 'partitioning') this.#show('partitioning', state.height, state.target, {}, line);
    if (state.phase === 'sorting') this.#show('sorting', state.done, state.total, {}, line);
    if (state.phase === 'catching-up') this.#show('following', state.height, state.target, {}, line);
  }

  /** To be called when a piece of work is over: the bar stays on the screen, and the next one begins below it. */
  end(): void {
    this.#endBar();
    this.#work = undefined;
    this.#lines = new Throttle(LOG_MS);
  }

  #show(work: Work, value: number, total: number, words: object, line: () => string): void {
    const isNew = work !== this.#work;
    this.#work = work;
    if (!this.#stream.isTTY) {
      // Work that ends soon is not worth a line.
      if (isNew && (work === 'checking' || work === 'comparing')) this.#lines.restart();
      if (this.#lines.isDue()) this.#stream.write(`${line()}\n`);
      return;
    }
    if (isNew) this.#endBar();
    if (this.#bar === undefined) {
      // gracefulExit would handle Ctrl-C, which is handled elsewhere. linewrap cuts long lines; without it the bar would switch off the
      // terminal's own wrapping, perhaps for longer than the process lives.
      this.#bar = new SingleBar({ stream: this.#stream, format: FORMATS[work], barsize: BAR_COLUMNS, linewrap: true, gracefulExit: false });
      this.#bar.start(total, value, words);
    }
    this.#bar.setTotal(total);
    this.#bar.update(value, words);
  }

  #endBar(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }
}

/** Catching up with fewer blocks ends before anybody can read the bar. */
const FEW_BLOCKS = 1_000;

/**
 * Shows how a node's index catches up, and then how its index by script is filled, as a bar in a terminal. Shows nothing if bcoin writes
 * its log there, which has the same information. Work that ends before its pace is known gets no bar. Unsubscribing ends the display.
 */
export function showCatchUp(
  state$: Observable<IndexState>,
  stream: NodeJS.WriteStream,
  logger: Pick<HostNodeLogger, 'console' | 'level'>,
  scripts$: Observable<ScriptsState> = EMPTY
): Subscription | undefined {
  if (!stream.isTTY || (logger.console && logger.level >= INFO)) return undefined;
  const display = new ProgressDisplay(stream);
  /** The index that the bar is about. While the index by script is filled, the live index emits states too. */
  let drawn: 'index' | 'scripts' | undefined;
  const end = (): void => {
    display.end();
    drawn = undefined;
  };
  const drawing = state$.subscribe((state) => {
    const isWork = state.phase === 'indexing' || state.phase === 'copying';
    if ((state.phase === 'indexing' && state.pace !== undefined) || (state.phase === 'copying' && state.coins > 0)) drawn = 'index';
    if (drawn !== 'index') return;
    display.note(state);
    if (!isWork) end();
  });
  drawing.add(
    scripts$.subscribe((state) => {
      const isFilling = state.phase === 'partitioning' || state.phase === 'sorting';
      const isWork = isFilling || state.phase === 'catching-up';
      if (isFilling || (state.phase === 'catching-up' && state.target - state.height > FEW_BLOCKS)) drawn = 'scripts';
      if (drawn !== 'scripts') return;
      display.noteScripts(state);
      if (!isWork) end();
    })
  );
  drawing.add(end);
  return drawing;
}
