// The network of a snapshot, by its genesis block.

import { toDisplayHex } from '../bitcoin/hash';
import { SnapshotError } from './errors';

export interface SnapshotNetwork {
  /** bcoin's name. */
  readonly network: string;
  /** The hash of its genesis block. */
  readonly genesisHash: Buffer;
}

/** `what`: has this genesis block. @throws SnapshotError if it is not of the network */
export function requireGenesis(what: string, genesis: Buffer, { network, genesisHash }: SnapshotNetwork): void {
  if (!genesis.equals(genesisHash))
    throw new SnapshotError(
      `${what} is of another chain: its genesis block is ${toDisplayHex(genesis)}, that of ${network} is ${toDisplayHex(genesisHash)}`
    );
}
