// Requests for a state that this process has not come to yet. They wait for it, but not for long: another process may have come to it.

import { filter, firstValueFrom, fromEvent, map, merge, share, startWith, timer, type Observable } from 'rxjs';
import { ClientGoneError } from '../../turns/client';
import { HttpError } from '../errors';
import { MOST_WAITING_READS, READ_PATIENCE_MS } from '../limits';
import type { Socket } from 'node:net';
import type { HeaderRecord } from '../../index/types';
import type { ReadingPosition } from '../../node/types/fleet';
import type { Minimum } from './minimum';
import type { ShownTip } from './shown-tip';

export class WaitingReads {
  readonly #position: Pick<ReadingPosition, 'now'>;
  readonly #moved$: Observable<unknown>;
  /** When a connection with such requests closes: one listener for all that wait on it. */
  readonly #gone = new WeakMap<Socket, Observable<unknown>>();
  #waiting = 0;

  /** `moved$`: emits after every change of what any interface shows. */
  constructor(position: Pick<ReadingPosition, 'now'>, moved$: Observable<unknown>) {
    this.#position = position;
    this.#moved$ = moved$.pipe(share());
  }

  /** The name of the log that is read now. */
  get log(): string {
    return this.#position.now.log;
  }

  /** How many requests wait. */
  get size(): number {
    return this.#waiting;
  }

  /** Resolves once the state is shown; at once if nothing is answered now. @throws HttpError 503; ClientGoneError */
  async until(minimum: Minimum, shown: ShownTip, socket: Socket): Promise<void> {
    const first = shown.now;
    if (first === undefined || this.#has(minimum, first)) return;
    if (this.#waiting >= MOST_WAITING_READS) throw notHereYet(minimum, first);
    this.#waiting++;
    try {
      const end = await firstValueFrom(
        merge(
          this.#moved$.pipe(
            startWith(undefined),
            filter(() => this.#has(minimum, shown.now)),
            map(() => 'shown')
          ),
          timer(READ_PATIENCE_MS).pipe(map(() => 'late')),
          this.#goneOf(socket).pipe(map(() => 'gone'))
        )
      );
      if (end === 'gone') throw new ClientGoneError('the client left before the state that it asked for was there');
      if (end === 'late') throw notHereYet(minimum, shown.now ?? first);
    } finally {
      this.#waiting--;
    }
  }

  #has({ height, point }: Minimum, tip: HeaderRecord | undefined): boolean {
    if (tip === undefined || tip.height < height) return false;
    const { log, sequence } = this.#position.now;
    return point === undefined || point.log !== log || point.sequence <= sequence;
  }

  #goneOf(socket: Socket): Observable<unknown> {
    const known = this.#gone.get(socket);
    if (known !== undefined) return known;
    const gone$ = fromEvent(socket, 'close').pipe(share());
    this.#gone.set(socket, gone$);
    return gone$;
  }
}

/** `tip`: what is shown instead. */
export function notHereYet({ height, point }: Minimum, tip: HeaderRecord): HttpError {
  const wanted = tip.height < height ? `block ${height} has not come yet` : `record ${point?.sequence ?? 0} of the log has not come yet`;
  return new HttpError(503, `Service temporarily unavailable: ${wanted}, height ${tip.height}`, ['Retry-After', '1']);
}
