// How far a reader has read which log, in a file beside its index. The file may be missing or old: it only saves questions to nodes.

import { readFile, rename, writeFile } from 'node:fs/promises';
import { namingFile } from '../../system/system-errors';
import type { LogPosition } from '../messages/records';
import type { Keeping } from './keeping';

export class PositionFile {
  readonly #path: string;
  readonly #keeping: Keeping;
  #writing: Promise<void> = Promise.resolve();
  /** What is to be written next. */
  #next: LogPosition | undefined;

  /** `keeping`: is told of errors of the system. */
  constructor(path: string, keeping: Keeping) {
    this.#path = path;
    this.#keeping = keeping;
  }

  /** undefined: there is none that can be read. */
  async read(): Promise<LogPosition | undefined> {
    try {
      const { incarnation, sequence } = JSON.parse(await readFile(this.#path, 'utf8')) as { incarnation?: unknown; sequence?: unknown };
      return typeof incarnation === 'string' && Number.isSafeInteger(sequence) ? { incarnation, sequence: sequence as number } : undefined;
    } catch {
      return undefined;
    }
  }

  /** Begins to write, unless a later position comes first. */
  write(position: LogPosition): void {
    const isIdle = this.#next === undefined;
    this.#next = position;
    if (isIdle) this.#writing = this.#writing.then(() => this.#write()).catch(this.#keeping.failed);
  }

  /** Waits for what is being written. */
  async close(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    const text = JSON.stringify(this.#next);
    this.#next = undefined;
    const unfinished = `${this.#path}.tmp`;
    await namingFile(unfinished, () => writeFile(unfinished, text, { mode: 0o600 }));
    await rename(unfinished, this.#path);
    this.#keeping.kept();
  }
}
