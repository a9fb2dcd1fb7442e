// A server as it is asked for the table: one of the Electrum protocol, or a bare HTTP server that sends the bytes of another one's reply.

import { startBare, type BareProcess } from '../serve/server-process';
import { countCpu } from '../serve/process-figures';
import { fetchBody } from '../serve/fetch-body';
import { OwnServer } from './own-server';
import type { Way } from './ask-client';
import type { Row } from './rows';
import type { LineServer } from './server';

export const BARE = 'bare';

export interface CostPeer {
  readonly name: string;
  /** Whether it is the server to compare with that does nothing but reply. */
  readonly isBare: boolean;
  /** undefined: it is not asked in this way. */
  port(way: Way): number | undefined;
  /** Counts processor time from now on, in microseconds. */
  countCpu(): () => number;
  /** What it is asked for a row, and how. */
  rowFor(row: Row): Promise<Row>;
  /** The longest turn of its event loop meanwhile, in milliseconds; undefined: it cannot be watched. */
  longestTurn(run: () => Promise<unknown>): Promise<number | undefined>;
}

export function serverPeer(server: LineServer): CostPeer {
  return {
    name: server.name,
    isBare: false,
    port: (way) => (way !== 'http' ? server.linePort : server instanceof OwnServer ? server.httpPort : undefined),
    countCpu: () => server.countCpu(),
    rowFor: (row) => Promise.resolve(server.holdsBack && row.modes.includes('many') ? { ...row, modes: ['many'] } : row),
    longestTurn: async (run) => (server instanceof OwnServer ? (await server.watch(run)).loop.cpuMs : undefined)
  };
}

export interface BarePeer extends CostPeer {
  stop(): Promise<void>;
}

/** `model`: whose replies are sent. */
export async function barePeer(model: OwnServer): Promise<BarePeer> {
  const bare: BareProcess = await startBare();
  return {
    name: BARE,
    isBare: true,
    port: (way) => (way === 'http' ? bare.port : undefined),
    countCpu: () => countCpu([bare.pid]),
    rowFor: async (row) => {
      const [request] = row.requests;
      const path = request?.text.split(' ')[1] ?? '';
      const { body } = await fetchBody(model.httpPort, path);
      await bare.answer({ path, contentType: 'application/json', body });
      return { ...row, requests: request === undefined ? [] : [request], isOnce: false };
    },
    longestTurn: () => Promise.resolve(undefined),
    stop: () => bare.stop()
  };
}
