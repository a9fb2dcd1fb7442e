// Whether requests are answered: the main gate is open, and the index by script stands at the same block.

import { unavailable } from '../../rest/errors';
import type { Gate } from '../../rest/server/gate';
import type { ScriptReader, ScriptSnapshot, ScriptsState } from '../../scripts/types';

/** What the index by script says of itself. */
export interface ScriptsStatus {
  readonly state: ScriptsState;
}

export class ScriptsGate {
  readonly #gate: Pick<Gate, 'isOpen' | 'status'>;
  readonly #scripts: ScriptsStatus;

  /** `gate`: REST's. */
  constructor(gate: Pick<Gate, 'isOpen' | 'status'>, scripts: ScriptsStatus) {
    this.#gate = gate;
    this.#scripts = scripts;
  }

  /** @throws RestError 503 */
  requireOpen(): void {
    if (!this.#gate.isOpen || this.#scripts.state.phase !== 'live') throw unavailable(this.status());
  }

  /** Why the gate is closed. */
  status(): string {
    return this.#gate.isOpen ? scriptsStatus(this.#scripts.state) : this.#gate.status();
  }
}

/** The index by script as endpoints read it: only while the gate is open. */
export class GatedScripts implements ScriptReader {
  readonly #reader: ScriptReader;
  readonly #gate: Pick<ScriptsGate, 'requireOpen'>;

  constructor(reader: ScriptReader, gate: Pick<ScriptsGate, 'requireOpen'>) {
    this.#reader = reader;
    this.#gate = gate;
  }

  /** @throws RestError 503 while the gate is closed. */
  async read<T>(use: (snapshot: ScriptSnapshot) => Promise<T>): Promise<T> {
    this.#gate.requireOpen();
    return this.#reader.read(use);
  }
}

/** What is going on, for people, without a full stop. */
function scriptsStatus(state: ScriptsState): string {
  switch (state.phase) {
    case 'loading':
      return 'loading the index by script';
    case 'waiting':
      return 'the index by script waits for the index of the chain';
    case 'partitioning':
      return `filling the index by script, ${blocksText(state)}`;
    case 'sorting':
      return `filling the index by script, sorting ${percent(state.done, state.total)}`;
    case 'catching-up':
      return `the index by script is catching up, ${blocksText(state)}`;
    case 'failed':
      return `the index by script failed: ${state.message}`;
    case 'closed':
      return 'shutting down';
    case 'live':
      return 'the index by script is about to move';
  }
}

/** Cut, not rounded: 100 % is when it is done. */
const percent = (part: number, whole: number): string => `${whole > 0 ? Math.floor((part / whole) * 100) : 0}%`;

const COUNT = new Intl.NumberFormat('en-US');

function blocksText({ height, target }: { readonly height: number; readonly target: number }): string {
  return `block ${COUNT.format(height)} of ${COUNT.format(target)} (${percent(height, target)})`;
}
