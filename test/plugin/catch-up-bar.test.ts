import { spawnSync } from 'node:child_process';
import { Writable } from 'node:stream';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { Subject } from 'rxjs';
import { showCatchUp } from '../../plugin/progress';
import { compiledProgram } from '../support/process/compiled';
import { openRegtestNode } from '../support/bcoin/regtest-node';
import type { IndexState } from '../../lib/index/types';
import type { ScriptsState } from '../../lib/scripts/types';
import type { HostNodeLogger } from '../../lib/node/host';

const INFO = 3;
const NO_LOG = { console: false, level: 4 };
/** Begins escape sequences that change a terminal until they are undone: no cursor, no line wrap. */
const LASTING = '\u001b[?';

const pace = { blocksPerSecond: 1, bytesPerSecond: 41_200_000, coinsPerSecond: 310_000 };

/** A terminal of a hundred columns that keeps what is written. */
class Terminal extends Writable {
  readonly isTTY = true;
  readonly columns = 100;
  text = '';

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

describe('the bar of a node that catches up', () => {
  let terminal: Terminal;
  let state$: Subject<IndexState>;
  let scripts$: Subject<ScriptsState>;

  beforeEach(() => {
    terminal = new Terminal();
    state$ = new Subject();
    scripts$ = new Subject();
  });

  const show = (logger: Pick<HostNodeLogger, 'console' | 'level'> = NO_LOG, stream = terminal): ReturnType<typeof showCatchUp> =>
    showCatchUp(state$, stream as unknown as NodeJS.WriteStream, logger, scripts$); // has what is asked of one

  it('shows height, percent, speeds and time left, and leaves the terminal as it was, whenever the process ends', () => {
    show();
    state$.next({ phase: 'indexing', height: 45, target: 90, secondsLeft: 61, pace });
    expect(terminal.text).to.include('50% | block 45 of 90 | 41.2 MB/s, 310000 coins/s | 2 min left');
    state$.next({ phase: 'live', height: 90 });
    expect(terminal.text)
      .to.include('100% | block 90 of 90')
      .and.match(/\n[^\n]*$/);
    expect(terminal.text).to.not.include(LASTING);
  });

  it('shows coins that are copied on a separate line', () => {
    show();
    state$.next({ phase: 'copying', coins: 0, of: 400 });
    expect(terminal.text).to.equal('');
    state$.next({ phase: 'copying', coins: 100, of: 400 });
    state$.next({ phase: 'indexing', height: 45, target: 90, secondsLeft: 61, pace });
    state$.next({ phase: 'live', height: 90 });
    expect(terminal.text).to.match(/Copying coins .*25% \| 100 of 400[^\n]*\n[^\n]*Indexing [^\n]*100% \| block 90 of 90/);
    expect(terminal.text).to.not.match(/Copying.*90 of/);
  });

  it('is not drawn for work that ends at once', () => {
    show();
    state$.next({ phase: 'loading' });
    state$.next({ phase: 'indexing', height: 1, target: 2, secondsLeft: undefined });
    state$.next({ phase: 'live', height: 2 });
    state$.next({ phase: 'live', height: 3 });
    expect(terminal.text).to.equal('');
  });

  it('continues with the index by script, whose bar stays while blocks come', () => {
    show();
    scripts$.next({ phase: 'waiting' });
    state$.next({ phase: 'live', height: 90 });
    scripts$.next({ phase: 'partitioning', height: 20, target: 80 });
    state$.next({ phase: 'live', height: 91 });
    scripts$.next({ phase: 'partitioning', height: 40, target: 80 });
    expect(terminal.text)
      .to.match(/Filling by script \|.*25% \| block 20 of 80/)
      .and.not.match(/Filling.*\n/);
    scripts$.next({ phase: 'sorting', done: 3, total: 4 });
    scripts$.next({ phase: 'catching-up', height: 80, target: 91 });
    scripts$.next({ phase: 'live', height: 91 });
    expect(terminal.text).to.match(
      /Filling by script [^\n]*50% \| block 40 of 80[^\n]*\n[^\n]*Sorting by script [^\n]*75% \| 3 of 4 files[^\n]*\n[^\n]*Catching up by script [^\n]*100% \| block 91 of 91[^\n]*\n/
    );
    const { text } = terminal;
    scripts$.next({ phase: 'live', height: 92 });
    expect(terminal.text).to.equal(text);
  });

  it('is drawn for an index by script only if it is many blocks behind', () => {
    const drawing = show();
    scripts$.next({ phase: 'catching-up', height: 80, target: 90 });
    scripts$.next({ phase: 'live', height: 90 });
    expect(terminal.text).to.equal('');
    scripts$.next({ phase: 'catching-up', height: 1_000, target: 4_000 });
    expect(terminal.text).to.match(/Catching up by script \|.*25% \| block 1000 of 4000/);
    drawing?.unsubscribe();
  });

  it('ends with the node', () => {
    const drawing = show();
    state$.next({ phase: 'indexing', height: 45, target: 90, secondsLeft: 61, pace });
    drawing?.unsubscribe();
    const { text } = terminal;
    expect(text).to.match(/\n[^\n]*$/);
    state$.next({ phase: 'indexing', height: 50, target: 90, secondsLeft: 61, pace });
    expect(terminal.text).to.equal(text);
  });

  it('leaves the terminal to the log if bcoin writes it there, but not if it writes only errors', () => {
    for (const [level, drawn] of [
      [INFO - 1, true],
      [INFO, false],
      [INFO + 1, false]
    ] as const)
      expect(show({ console: true, level }) !== undefined, `level ${level}`).to.equal(drawn);
  });

  it('knows of a node where its log goes', async () => {
    const node = await openRegtestNode();
    const { console, level } = node.logger.logger;
    expect([typeof console, typeof level]).to.deep.equal(['boolean', 'number']);
    await node.close();
  });

  it('is drawn only in terminals', () => {
    expect(show(NO_LOG, Object.assign(new Terminal(), { isTTY: false }))).to.equal(undefined);
  });

  it('shows in a real terminal', function () {
    const program = compiledProgram('shown-catch-up');
    const run = spawnSync('script', ['-qec', `stty cols 120; "${process.execPath}" "${program}"`, '/dev/null'], {
      encoding: 'utf8',
      env: { ...process.env, TERM: 'xterm' }
    });
    if (run.error !== undefined) {
      console.log('      skipped: a pseudo terminal needs `script` (util-linux)');
      this.skip();
    }
    expect(run.stdout).to.include('block 45 of 90 | 41.2 MB/s, 310000 coins/s | 2 min left');
    expect(run.status, run.stdout).to.equal(0);
  });
});
