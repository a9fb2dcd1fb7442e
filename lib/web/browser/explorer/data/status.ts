// What the node says of itself at `/explorer/status.json`.

import type { Client } from './client';

export interface Job {
  readonly name: 'chain' | 'index' | 'rehearsal' | 'scripts' | 'backfill' | 'filters' | 'addresses';
  readonly state: 'waiting' | 'running' | 'done' | 'failed';
  readonly step?: string;
  readonly part?: number;
  readonly done?: number;
  readonly total?: number;
  readonly unit?: string;
  readonly secondsLeft?: number;
}

export interface Status {
  readonly version: string;
  /** Bitcoin Core's name of the network. */
  readonly chain: string;
  /** Of addresses that the node takes. */
  readonly addressPrefixes: readonly { readonly pubkeyhash: number; readonly scripthash: number; readonly bech32: string }[];
  readonly needsKey: boolean;
  readonly ready: boolean;
  readonly why?: string;
  readonly api?: { readonly path: string; readonly ready: boolean };
  readonly jobs: readonly Job[];
}

export const EXPLORER = '/explorer';

export const statusOf = (client: Client): Promise<Status> => client.json<Status>(`${EXPLORER}/status.json`);
