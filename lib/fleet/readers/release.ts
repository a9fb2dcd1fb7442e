// Has all readers of a fleet show a block, or the end of a reorganization, at about the same time (`--rest-release=together`): each tells
// the others when it has the block, and shows it when all that were heard from lately have it, but never much later than it could.

import { filter, firstValueFrom, startWith, takeUntil, timer } from 'rxjs';
import type { LogPosition } from '../messages/records';
import type { Announcer } from './announcer';
import type { HeardReaders } from './heard-readers';

export interface ReleaseParts {
  readonly readers: Pick<HeardReaders, 'present' | 'heard$'>;
  readonly announcer: Pick<Announcer, 'id' | 'tell'>;
  /** How long a block is held back at most. */
  readonly mostMs: number;
}

export class Release {
  readonly #parts: ReleaseParts;

  constructor(parts: ReleaseParts) {
    this.#parts = parts;
  }

  /** To be called once the record is taken in. Resolves when it may be shown. */
  async of(position: LogPosition): Promise<void> {
    const { readers, announcer, mostMs } = this.#parts;
    announcer.tell();
    await firstValueFrom(
      readers.heard$.pipe(
        startWith(undefined),
        filter(() => this.#haveAll(position)),
        takeUntil(timer(mostMs))
      ),
      { defaultValue: undefined }
    );
  }

  /** A reader of another log, or one that is starting, cannot tell, and is not waited for. */
  #haveAll({ incarnation, sequence }: LogPosition): boolean {
    const { readers, announcer } = this.#parts;
    return readers.present.every(
      ({ id, state: { applied, isReady } }) =>
        id === announcer.id || !isReady || applied?.incarnation !== incarnation || applied.sequence >= sequence
    );
  }
}
