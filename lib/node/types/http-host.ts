// The process that serves.

import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The process that serves: its HTTP server, and who may use it. */
export interface HttpHost {
  /** Available before it listens. */
  readonly server: Server;
  /** Whether it asks its clients for the API key. */
  readonly needsApiKey: boolean;
  /** Seconds since it was opened. */
  readonly uptime: number;
  /** True if `key` is its API key; takes the same time for any key. */
  isApiKey(key: string): boolean;
  /** Whether the client of a connection of its own protocol has shown the key to it. */
  isAuthenticated(socket: Socket): boolean;
}
