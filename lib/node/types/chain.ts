// Blocks and the chain as a node knows them. Hashes are 32-byte Buffers in wire order, times Unix seconds.

import type { AddressPrefixes } from '../../bitcoin/address';

/** A block, by hash and height. */
export interface BlockPoint {
  readonly hash: Buffer;
  readonly height: number;
}

/** The network that the node runs on. */
export interface NetworkInfo {
  /** Bitcoin Core's name of the chain: `main`, `test`, `regtest`, `simnet`. */
  readonly chain: string;
  readonly genesisHash: Buffer;
  readonly addressPrefixes: AddressPrefixes;
  /** Blocks from one halving of the subsidy to the next. */
  readonly halvingInterval: number;
}

/** How far the node itself has synced. */
export interface NodeProgress {
  readonly height: number;
  /** Estimated part of the chain that is verified, 0 to 1. */
  readonly verified: number;
}

/** What the node knows about any block, on the active chain or off it. */
export interface BlockEntry extends BlockPoint {
  /** The 80 bytes of the header. */
  readonly header: Buffer;
  /** Work of the chain up to and including this block. */
  readonly chainwork: bigint;
  /** Median time past of this block (BIP113). */
  readonly medianTime: number;
}

/** A hint that the chain moved. The chain waits until `acknowledge` is called; a second call does nothing. */
export type ChainEvent = ChainMove & { acknowledge(): void };

export type ChainMove = BlockMove | TipMove;

export interface BlockMove {
  readonly type: 'connect' | 'disconnect';
  readonly block: BlockPoint;
  /** The serialized block, witness included, as Bitcoin Core would write it. @throws UnreadableBlockError */
  rawBlock(): Buffer;
}

export interface TipMove {
  /** A reset sends no `disconnect` events. `settled`: the chain has moved without any of the other events. */
  readonly type: 'reset' | 'reorganize' | 'settled';
}

/** The tip of a branch of the chain. */
export interface ChainTip extends BlockPoint {
  /** Number of blocks from the active chain to the tip; 0 for the active tip. */
  readonly branchLength: number;
  /** Bitcoin Core's words. */
  readonly status: 'active' | 'valid-fork' | 'valid-headers' | 'headers-only' | 'invalid';
}
