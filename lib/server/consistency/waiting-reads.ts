// Requests for a state that this process has not reached yet. They wait for it, but not for long: another process may have reached it.

import { filter, firstValueFrom, fromEvent, map, merge, share, startWith, timer, type Observable } from 'rxjs';
import { ClientGoneError } from '../../turns/client';
import { CLIENT_SHARE } from '../bounds/address-group';
import { HttpError } from '../errors';
import { MOST_WAITING_READS, READ_PATIENCE_MS } from '../limits';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { HeaderRecord } from '../../index/types';
import type { ReadingPosition } from '../../node/types/fleet';
import type { Minimum } from './minimum';
import type { ShownTip } from './shown-tip';

/** Blocks that may come while a request waits: for a later one it need not wait. */
const MOST_AHEAD = 100;

/** A request that may wait. */
type WaitingRequest = Pick<IncomingMessage, 'headers' | 'socket'>;

export class WaitingReads {
  readonly #position: Pick<ReadingPosition, 'now'>;
  readonly #moved$: Observable<unknown>;
  /** When a connection with such requests closes: one listener for all that wait on it. */
  readonly #gone = new WeakMap<Socket, Observable<unknown>>();
  readonly #shareOf: (request: WaitingRequest) => string | undefined;
  #waiting = 0;
  /** How many wait of each client that has a share. */
  readonly #ofClient = new Map<string, number>();

  /**
   * `moved$`: emits after every change of what any interface shows. `shareOf`: which client's share of the places a request takes; undefined:
   * nobody's, only one of all places.
   */
  constructor(
    position: Pick<ReadingPosition, 'now'>,
    moved$: Observable<unknown>,
    shareOf: (request: WaitingRequest) => string | undefined
  ) {
    this.#position = position;
    this.#shareOf = shareOf;
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
  async until(minimum: Minimum, shown: ShownTip, request: WaitingRequest): Promise<void> {
    const first = shown.now;
    if (first === undefined || this.#has(minimum, first)) return;
    const client = this.#shareOf(request);
    if (minimum.height - first.height > MOST_AHEAD || !this.#hasPlaceFor(client)) throw new NotHereYetError(minimum, first);
    this.#count(client, 1);
    try {
      const end = await firstValueFrom(
        merge(
          this.#moved$.pipe(
            startWith(undefined),
            filter(() => this.#has(minimum, shown.now)),
            map(() => 'shown')
          ),
          timer(READ_PATIENCE_MS).pipe(map(() => 'late')),
          this.#goneOf(request.socket).pipe(map(() => 'gone'))
        )
      );
      if (end === 'gone') throw new ClientGoneError('the client left before the state that it asked for was there');
      if (end === 'late') throw new NotHereYetError(minimum, shown.now ?? first);
    } finally {
      this.#count(client, -1);
    }
  }

  #hasPlaceFor(client: string | undefined): boolean {
    if (this.#waiting >= MOST_WAITING_READS) return false;
    return client === undefined || (this.#ofClient.get(client) ?? 0) < MOST_WAITING_READS * CLIENT_SHARE;
  }

  #count(client: string | undefined, by: 1 | -1): void {
    this.#waiting += by;
    if (client === undefined) return;
    const count = (this.#ofClient.get(client) ?? 0) + by;
    if (count === 0) this.#ofClient.delete(client);
    else this.#ofClient.set(client, count);
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

/** Another process may have come to the state. */
export class NotHereYetError extends HttpError {
  /** `tip`: what is shown instead. */
  constructor(
    { height, point }: Minimum,
    readonly tip: HeaderRecord
  ) {
    const wanted = tip.height < height ? `block ${height} has not come yet` : `record ${point?.sequence ?? 0} of the log has not come yet`;
    super(503, `Service temporarily unavailable: ${wanted}, height ${tip.height}`, ['Retry-After', '1']);
  }
}
