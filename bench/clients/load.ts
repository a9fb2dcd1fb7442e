// A client in a process of its own, so that two can ask at the same time without waiting for
// each other, and none of them shares its processor time with the server.

import { fork, type ChildProcess } from 'node:child_process';
import { extname, join } from 'node:path';

export interface LoadOrder {
  readonly port: number;
  /** Asked in turn on each connection, which begin all over the list; at least one for each. */
  readonly paths: readonly string[];
  /** Kept alive; one request at a time on each. */
  readonly connections: number;
  readonly limit: { readonly amount: number } | { readonly seconds: number } | 'each path once';
}

export interface LoadResult {
  readonly answered: number;
  /** Replies other than 200. */
  readonly refused: number;
  /** Requests without a reply, and those of them that waited too long for it. The first ends the order. */
  readonly failed: number;
  readonly timedOut: number;
  readonly seconds: number;
  /** Milliseconds until the last byte of the reply; 0 when nobody was answered. */
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
}

export class LoadClient {
  private readonly child: ChildProcess = fork(join(__dirname, `load-process${extname(__filename)}`), {
    execArgv: extname(__filename) === '.ts' ? ['-r', join(__dirname, '../../test/support/sources.cjs')] : [],
    // With the `--import` that npm hands on, Node takes a program for a module and does not know .ts.
    env: { ...process.env, NODE_OPTIONS: '' }
  });

  run(order: LoadOrder): Promise<LoadResult> {
    return new Promise((resolve, reject) => {
      const onExit = (): void => {
        reject(new Error('expected the client to go on, it ended'));
      };
      this.child.once('exit', onExit);
      this.child.once('message', (result) => {
        this.child.removeListener('exit', onExit);
        resolve(result as LoadResult);
      });
      this.child.send(order);
    });
  }

  close(): void {
    this.child.kill();
  }
}
