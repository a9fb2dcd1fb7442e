// What a node says of itself at `/explorer/status.json`: what the service writes is what the page reads.

/** `done` of `total`, in a unit; `part`: 0 to 1. What is not known is left out. */
export interface Job {
  readonly name: 'chain' | 'index' | 'rehearsal' | 'scripts' | 'backfill' | 'filters' | 'addresses';
  readonly state: 'waiting' | 'running' | 'done' | 'failed';
  /** What it is doing, for people. */
  readonly step?: string;
  readonly part?: number;
  readonly done?: number;
  readonly total?: number;
  readonly unit?: 'blocks' | 'coins' | 'files';
  readonly secondsLeft?: number;
}

export interface ExplorerStatus {
  /** Of this package. */
  readonly version: string;
  /** Bitcoin Core's name of the network. */
  readonly chain: string;
  /** Of the addresses that are accepted. `bech32`: human-readable part of witness addresses. */
  readonly addressPrefixes: readonly { readonly pubkeyhash: number; readonly scripthash: number; readonly bech32: string }[];
  /** Whether the interfaces that the page asks want the node's API key. */
  readonly needsKey: boolean;
  /** Whether `/rest` is answered. */
  readonly ready: boolean;
  /** Why it is not. */
  readonly why?: string;
  /** Esplora's API, if it is served; `path`: without a slash at its end. */
  readonly api?: { readonly path: string; readonly ready: boolean };
  readonly jobs: readonly Job[];
}
