// Takes the paths under a prefix over from the listeners of the node's HTTP server, and leaves
// everything else to them, untouched. The node adds its listener when its server opens, after
// its plugins: the swap is made when the server listens.

import { servePlainly } from './plain-upgrade';
import { hasBody } from './request-body';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** For `/rest`: `/rest`, `/rest/...` and `/rest?...`. */
export function isUnder(prefix: string, url: string): boolean {
  if (!url.startsWith(prefix)) return false;
  const next = url[prefix.length];
  return next === undefined || next === '/' || next === '?';
}

export class Mount {
  private others: RequestListener[] = [];
  private otherUpgrades: UpgradeListener[] = [];
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
    server.removeListener('upgrade', this.dispatchUpgrade);
    for (const other of this.otherUpgrades) server.on('upgrade', other);
    server.keepAliveTimeout = this.keepAliveBefore;
    this.keepAliveBefore = undefined;
  }

  private readonly takeOver = (): void => {
    const { server } = this;
    this.others = server.listeners('request') as RequestListener[];
    server.removeAllListeners('request');
    server.on('request', this.dispatch);
    this.otherUpgrades = server.listeners('upgrade') as UpgradeListener[];
    if (this.otherUpgrades.length > 0) {
      server.removeAllListeners('upgrade');
      server.on('upgrade', this.dispatchUpgrade);
    }
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

  /** Nothing under our paths is anything but HTTP. A body would have to be read off the bare socket. */
  private readonly dispatchUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    if (isUnder(this.prefix, request.url ?? '') && !hasBody(request)) {
      servePlainly(request, this.handler);
      return;
    }
    for (const other of this.otherUpgrades) other.call(this.server, request, socket, head);
  };
}
