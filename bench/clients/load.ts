// A client in a separate process, so that two can ask at the same time without waiting for
// each other, and none shares its event loop with the server.

import { fork, type ChildProcess } from 'node:child_process';
import { extname, join } from 'node:path';
import { childReply } from './child-reply';

export interface LoadOrder {
  readonly port: number;
  /** Asked in turn on each connection; connections begin at different places of the list. At least one path for each connection. */
  readonly paths: readonly string[];
  /** Number of keep-alive connections, each with one request at a time. */
  readonly connections: number;
  readonly limit: { readonly amount: number } | { readonly seconds: number } | 'each path once';
}

export interface LoadResult {
  readonly answered: number;
  /** Replies other than 200. */
  readonly refused: number;
  /** Requests without a reply, and how many of these timed out. The first one ends the order. */
  readonly failed: number;
  readonly timedOut: number;
  readonly seconds: number;
  /** Milliseconds until the last byte of the reply; 0 if there was no reply. */
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
}

export class LoadClient {
  private readonly child: ChildProcess = fork(join(__dirname, `load-process${extname(__filename)}`), {
    execArgv: extname(__filename) === '.ts' ? ['-r', 'ts-node/register'] : [],
    // With the `--import` that npm passes on, Node would load the program as a module, without knowing .ts.
    env: { ...process.env, NODE_OPTIONS: '' }
  });

  async run(order: LoadOrder): Promise<LoadResult> {
    return (await childReply(this.child, order)) as LoadResult;
  }

  close(): void {
    this.child.kill();
  }
}
