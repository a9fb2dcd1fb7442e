// Takes the paths under a prefix over from the listeners of the node's HTTP server, and leaves
// everything else to them, untouched. The node adds its listener when its server opens, after
// its plugins: the swap is made when the server listens.

import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';

/** For `/rest`: `/rest`, `/rest/...` and `/rest?...`. */
export function isUnder(prefix: string, url: string): boolean {
  if (!url.startsWith(prefix)) return false;
  const next = url[prefix.length];
  return next === undefined || next === '/' || next === '?';
}

export class Mount {
  private others: RequestListener[] = [];
  private keepAliveBefore: number | undefined;

  /** `idleMs`: how long a connection may idle between requests. */
  constructor(private readonly server: Server, private readonly prefix: string, private readonly handler: RequestListener, private readonly idleMs: number) {}

  open(): void {
    if (this.server.listening) this.takeOver();
    else this.server.once('listening', this.takeOver);
  }

  /** Puts everything back. The mount that was opened last is closed first. */
  close(): void {
    const { server } = this;
    server.removeListener('listening', this.takeOver);
    if (this.keepAliveBefore === undefined) return;
    server.removeListener('request', this.dispatch);
    for (const other of this.others) server.on('request', other);
    server.keepAliveTimeout = this.keepAliveBefore;
    this.keepAliveBefore = undefined;
  }

  private readonly takeOver = (): void => {
    const { server } = this;
    this.others = server.listeners('request') as RequestListener[];
    server.removeAllListeners('request');
    server.on('request', this.dispatch);
    // Idle time is the server's: set per request, it would also cut calls of the node off.
    this.keepAliveBefore = server.keepAliveTimeout;
    server.keepAliveTimeout = this.idleMs;
  };

  private readonly dispatch = (request: IncomingMessage, response: ServerResponse): void => {
    if (isUnder(this.prefix, request.url ?? '')) {
      this.handler(request, response);
      return;
    }
    for (const other of this.others) other.call(this.server, request, response);
  };
}
