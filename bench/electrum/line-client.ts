// Clients of the Electrum protocol that stay connected, in a separate process, so that they share no event loop with the server or other
// clients.

import { fork, type ChildProcess } from 'node:child_process';
import { extname, join } from 'node:path';
import { childReply } from '../clients/child-reply';

/** Opens sessions that stay until the process is closed. Each subscribes to its scripts, and if it has any, to headers. */
export interface HoldOrder {
  readonly type: 'hold';
  readonly port: number;
  readonly scripts: readonly (readonly string[])[];
}

/** Waits for a number of notifications about scripts and about headers since the last such order. */
export interface ToldOrder {
  readonly type: 'told';
  readonly scripts: number;
  readonly headers: number;
}

export interface Told {
  /** In milliseconds since 1970. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** Length of all notifications. */
  readonly bytes: number;
}

/** Sends small requests, one after another on each connection with some milliseconds in between, until the next order. */
export interface SmallOrder {
  readonly type: 'small';
  readonly port: number;
  readonly httpPort: number;
}

/** Ends the previous order. */
export interface StopOrder {
  readonly type: 'stop';
}

export interface Wait {
  /** When the request was sent, in milliseconds since 1970. */
  readonly at: number;
  /** Time until the answer came. */
  readonly ms: number;
}

export interface Waits {
  readonly pings: readonly Wait[];
  readonly states: readonly Wait[];
}

export type Order = HoldOrder | ToldOrder | SmallOrder | StopOrder;

interface Results {
  readonly hold: undefined;
  readonly told: Told;
  readonly small: undefined;
  readonly stop: Waits;
}

export class LineProcess {
  readonly #child: ChildProcess = fork(join(__dirname, `line-process${extname(__filename)}`), { serialization: 'advanced' });

  async run<O extends Order>(order: O): Promise<Results[O['type']]> {
    const [result] = (await childReply(this.#child, order)) as readonly [Results[O['type']]];
    return result;
  }

  close(): void {
    this.#child.kill();
  }
}
