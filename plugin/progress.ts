// Progress of long work: a bar in a terminal, a line now and then elsewhere.

import { SingleBar } from 'cli-progress';
import { LOG_MS } from '../lib/index/progress/log';
import { Throttle } from '../lib/index/progress/pace';
import { copyingText, duration, indexingText, paceText, percent } from '../lib/index/progress/text';
import { stateSentence } from '../lib/scripts/progress';
import { EMPTY, type Observable, type Subscription } from 'rxjs';
import type { IndexLogger, IndexState } from '../lib/index/types';
import type { HostNodeLogger } from '../lib/node/host';
import type { ScriptsState } from '../lib/scripts/types';
import type { OpeningProgress } from '../lib/store/store';

/** The bar of each kind of work. */
const FORMATS = {
  checking: 'Checking |{bar}| {percentage}%',
  copying: 'Copying coins |{bar}| {percentage}% | {value} of {total}',
  indexing: 'Indexing |{bar}| {percentage}% | block {value} of {total} | {pace} | {left}',
  partitioning: 'Filling by script |{bar}| {percentage}% | block {value} of {total}',
  sorting: 'Sorting by script |{bar}| {percentage}% | {value} of {total} files',
  following: 'Catching up by script |{bar}| {percentage}% | block {value} of {total}',
  comparing: 'Comparing |{bar}| {percentage}% | {records} records'
} as const;
type Work = keyof typeof FORMATS;

/** Leaves space for the words. */
const BAR_COLUMNS = 20;
const COMPARING_STEPS = 1_000;

/** bcoin's number of the level at which the index logs how far it is. */
const INFO = 3;

export class ProgressDisplay {
  /** Shows errors and warnings; everything else that an index logs is in its states. */
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

  /** How far the check of the files is before an index is opened. */
  checked({ done, total }: OpeningProgress): void {
    this.#show('checking', done, total, {}, () => `Checking files: ${percent(done, total)}.`);
  }

  /** Records compared so far, and how much of the whole that is, 0 to 1. */
  compared(records: number, part: number): void {
    this.#show(
      'comparing',
      Math.floor(part * COMPARING_STEPS),
      COMPARING_STEPS,
      { records },
      () => `Comparing: ${percent(part, 1)}, ${records} records.`
    );
  }

  /** A state of an index that is being built. */
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

  /** A state of an index by script. */
  noteScripts(state: ScriptsState): void {
    const line = (): string => stateSentence(state);
    if (state.phase === 'live' && this.#work === 'following') this.#bar?.update(state.height);
    if (state.phase === 'partitioning') this.#show('partitioning', state.height, state.target, {}, line);
    if (state.phase === 'sorting') this.#show('sorting', state.done, state.total, {}, line);
    if (state.phase === 'catching-up') this.#show('following', state.height, state.target, {}, line);
  }

  /** To be called when a piece of work is over: the bar stays where it is, and the next one begins below. */
  end(): void {
    this.#endBar();
    this.#work = undefined;
    this.#lines = new Throttle(LOG_MS);
  }

  #show(work: Work, value: number, total: number, words: object, line: () => string): void {
    const isNew = work !== this.#work;
    this.#work = work;
    if (!this.#stream.isTTY) {
      // What is done soon is not worth a line.
      if (isNew && (work === 'checking' || work === 'comparing')) this.#lines.restart();
      if (this.#lines.isDue()) this.#stream.write(`${line()}\n`);
      return;
    }
    if (isNew) this.#endBar();
    if (this.#bar === undefined) {
      // gracefulExit would keep Ctrl-C from others. linewrap cuts long lines; without it the bar would switch the terminal's own wrapping
      // off, perhaps for longer than the process lives.
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

/** Catching up with fewer blocks is over before anybody has read the bar. */
const FEW_BLOCKS = 1_000;

/**
 * Shows how a node's index catches up, and then how its index by script is filled: as a bar in a terminal, unless bcoin writes its log
 * there, which says the same. Ends when it is unsubscribed. Work that is over before its pace is known gets no bar.
 */
export function showCatchUp(
  state$: Observable<IndexState>,
  stream: NodeJS.WriteStream,
  logger: Pick<HostNodeLogger, 'console' | 'level'>,
  scripts$: Observable<ScriptsState> = EMPTY
): Subscription | undefined {
  if (!stream.isTTY || (logger.console && logger.level >= INFO)) return undefined;
  const display = new ProgressDisplay(stream);
  /** Which index the bar is of. A live index also has a state for each block while the other one is being filled. */
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
