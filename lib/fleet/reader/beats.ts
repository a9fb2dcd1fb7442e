// What the leading node says of itself once a second, and how long ago that was.

import { BehaviorSubject, distinctUntilChanged, type Observable } from 'rxjs';
import type { Beat } from '../messages/records';
import type { FeeEstimate, NetworkStatus } from '../../node/types/source';

/** How often it is looked whether the last beat is too long ago. */
const LOOK_MS = 500;

const UNKNOWN: NetworkStatus = {
  agent: '',
  protocolVersion: 0,
  services: 0,
  relays: false,
  timeOffset: 0,
  isActive: false,
  inbound: 0,
  outbound: 0,
  proxy: undefined,
  onion: false,
  localAddresses: []
};

const NO_FEES: Pick<Beat, 'fees' | 'mostFeeBlocks'> = { fees: [], mostFeeBlocks: 0 };

export class Beats {
  /** Whether the leading node is up to date with its peers, and was heard lately. */
  readonly synced$: Observable<boolean>;
  readonly #synced = new BehaviorSubject(false);
  readonly #staleMs: number;
  #beat: Beat | undefined;
  #heardAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** `staleMs`: after this time without a beat nothing is answered any more. */
  constructor(staleMs: number) {
    this.#staleMs = staleMs;
    this.synced$ = this.#synced.pipe(distinctUntilChanged());
  }

  open(): void {
    this.#timer = setInterval(() => {
      this.#settle();
    }, LOOK_MS);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  get synced(): boolean {
    return this.#synced.value;
  }

  /** Milliseconds; undefined before the first beat. */
  get age(): number | undefined {
    return this.#heardAt === undefined ? undefined : performance.now() - this.#heardAt;
  }

  /** Whether no beat has come for too long, or none at all. */
  get isStale(): boolean {
    return this.age === undefined || this.age > this.#staleMs;
  }

  get last(): Beat | undefined {
    return this.#beat;
  }

  /** As the last beat has it; before the first one everything in it is empty. */
  get network(): NetworkStatus {
    return this.#beat?.network ?? UNKNOWN;
  }

  /** `isLive`: it comes now, and was not read from the past. */
  note(beat: Beat, isLive: boolean): void {
    this.#beat = beat;
    if (isLive) this.#heardAt = performance.now();
    this.#settle();
  }

  /** Until the next beat that comes now it counts as silence: what was heard belongs to a state that is gone. */
  forget(): void {
    this.#heardAt = undefined;
    this.#settle();
  }

  /** As the node that leads answers; undefined for more blocks than it knows of, and before the first beat. */
  estimateFee(blocks: number): FeeEstimate | undefined {
    const { fees, mostFeeBlocks } = this.#beat ?? NO_FEES;
    if (blocks > mostFeeBlocks) return undefined;
    const known = fees.findLast((fee) => fee.blocks <= blocks);
    return known === undefined ? fees[0] : { rate: known.rate, blocks };
  }

  #settle(): void {
    this.#synced.next(this.#beat?.synced === true && !this.isStale);
  }
}
