// Whether requests can be answered: REST's gate is open, and the index by script is at the block of the main index.

import { stateText } from '../../scripts/progress';
import { unavailable } from '../../server/errors';
import type { ScriptsState } from '../../scripts/types';
import type { Gate } from '../../server/work/gate';

/** What the gate needs of the index by script. */
export interface ScriptsStatus {
  readonly state: ScriptsState;
}

export class ScriptsGate {
  readonly #gate: Pick<Gate, 'isOpen' | 'isReady' | 'status'>;
  readonly #scripts: ScriptsStatus;

  /** `gate`: REST's gate. */
  constructor(gate: Pick<Gate, 'isOpen' | 'isReady' | 'status'>, scripts: ScriptsStatus) {
    this.#gate = gate;
    this.#scripts = scripts;
  }

  get isOpen(): boolean {
    return this.#gate.isOpen && this.#scripts.state.phase === 'live';
  }

  /** Whether clients are answered. */
  get isReady(): boolean {
    return this.isOpen && this.#gate.isReady;
  }

  /** @throws HttpError 503 */
  requireOpen(): void {
    if (!this.isOpen) throw unavailable(this.status());
  }

  /** Why clients are not answered. */
  status(): string {
    return this.#gate.isReady ? stateText(this.#scripts.state) : this.#gate.status();
  }
}
