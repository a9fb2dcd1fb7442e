// What changes while the page is open: over mempool's WebSocket, or by asking again where that is off.

import { blockOf, poolPlaceOf, type ApiBlock, type ApiRelatives } from './esplora';
import type { Block, Fees, PoolPlace } from './types';

/** What is heard. Each function may be called at any time. */
export interface Listener {
  /** A block on top of the others. */
  block(block: Block): void;
  /** The last blocks, in ascending order: at the beginning, and after a reorganization. */
  blocks(blocks: readonly Block[]): void;
  /** The pool has changed. */
  pool(fees: Fees | undefined): void;
  /** Something has happened to what is tracked; perhaps another transaction has taken its place. */
  tracked(replaced?: { readonly txid: string; readonly by: string }): void;
  /** Where a tracked transaction stands in the pool now. */
  placed(txid: string, place: PoolPlace | undefined): void;
  /** Whether there is a connection. */
  connected(isConnected: boolean): void;
}

/** What is tracked beside blocks and pool. */
export type Tracked = { readonly kind: 'address' | 'transaction'; readonly text: string } | undefined;

const FIRST_PAUSE_MS = 500;
const MOST_PAUSE_MS = 15_000;

/** A connection is dead when a ping is not answered until the next one. */
const PING_MS = 20_000;

interface Message {
  readonly block?: ApiBlock;
  readonly blocks?: readonly ApiBlock[];
  readonly mempoolInfo?: unknown;
  readonly fees?: Fees;
  readonly rbfTransaction?: { readonly txid: string };
  readonly txReplaced?: { readonly txid: string };
  readonly txPosition?: { readonly txid: string; readonly position: { readonly block: number }; readonly cpfp: ApiRelatives };
}

const TRACKED = /^(address-|multi-|tx$|txConfirmed|txReplaced|rbfTransaction|utxoSpent|block-transactions)/;

export class Live {
  readonly #url: string;
  readonly #listener: Listener;
  #socket: WebSocket | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pause = FIRST_PAUSE_MS;
  #tracked: Tracked;
  #isConnected = false;
  #ping: ReturnType<typeof setInterval> | undefined;

  /** `path`: of the WebSocket on this host. */
  constructor(path: string, listener: Listener) {
    const { protocol, host } = location;
    this.#url = `${protocol === 'https:' ? 'wss' : 'ws'}://${host}${path}`;
    this.#listener = listener;
    this.#open();
  }

  /** Whether all changes are told. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  track(tracked: Tracked): void {
    const before = this.#tracked;
    this.#tracked = tracked;
    if (before !== undefined && before.kind !== tracked?.kind) this.#send({ [FIELDS[before.kind]]: 'stop' });
    this.#sendTracked();
  }

  close(): void {
    clearTimeout(this.#timer);
    clearInterval(this.#ping);
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
  }

  #open(): void {
    const socket = (this.#socket = new WebSocket(this.#url));
    let isHeard = true;
    socket.onopen = () => {
      this.#send({ action: 'want', data: ['blocks', 'stats'] });
      this.#sendTracked();
      // No time is measured: browsers run the timers of hidden pages once a minute.
      this.#ping = setInterval(() => {
        if (isHeard) this.#send({ action: 'ping' });
        else socket.close();
        isHeard = false;
      }, PING_MS);
    };
    socket.onmessage = ({ data }) => {
      isHeard = true;
      if (typeof data === 'string') this.#take(JSON.parse(data) as Message);
    };
    socket.onclose = () => {
      clearInterval(this.#ping);
      if (this.#socket !== socket) return;
      this.#isConnected = false;
      this.#listener.connected(false);
      this.#timer = setTimeout(() => {
        this.#open();
      }, this.#pause);
      this.#pause = Math.min(MOST_PAUSE_MS, this.#pause * 2);
    };
  }

  #take(message: Message): void {
    const { block, blocks, mempoolInfo, fees } = message;
    // The answer to `want` comes first: from now on all changes are told. Blocks come again after a reorganization.
    if (blocks !== undefined && !this.#isConnected) {
      this.#isConnected = true;
      this.#pause = FIRST_PAUSE_MS;
      this.#listener.connected(true);
    }
    if (blocks !== undefined) this.#listener.blocks(blocks.map(blockOf));
    if (block !== undefined) this.#listener.block(blockOf(block));
    if (mempoolInfo !== undefined) this.#listener.pool(fees);
    const { txPosition } = message;
    if (txPosition !== undefined) this.#listener.placed(txPosition.txid, poolPlaceOf(txPosition.cpfp, txPosition.position.block));
    const by = (message.rbfTransaction ?? message.txReplaced)?.txid;
    const tracked = this.#tracked;
    if (by !== undefined && tracked?.kind === 'transaction') this.#listener.tracked({ txid: tracked.text, by });
    else if (Object.keys(message).some((name) => TRACKED.test(name))) this.#listener.tracked();
  }

  #sendTracked(): void {
    const tracked = this.#tracked;
    // `watch-mempool`: also what became of a transaction that the pool no longer has.
    if (tracked !== undefined) this.#send({ [FIELDS[tracked.kind]]: tracked.text, 'watch-mempool': true });
  }

  #send(message: object): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }
}

const FIELDS = { address: 'track-address', transaction: 'track-tx' } as const;
