// What a reader has to know of each network: the same as a bcoin node of the network knows, without bcoin.

import type { NetworkInfo } from '../../node/types/chain';

export interface ReaderNetwork extends NetworkInfo {
  /** The 80 bytes of the header of the genesis block. */
  readonly genesisHeader: Buffer;
  /** The greatest target that a block may have; undefined where anybody may mine, and the target proves nothing. */
  readonly powLimit: bigint | undefined;
  /** The port of a node's HTTP server. */
  readonly httpPort: number;
  /** How many of the latest blocks a node that prunes keeps, and the height up to which it keeps all. */
  readonly keepBlocks: number;
  readonly pruneAfterHeight: number;
}

const hash = (hex: string): Buffer => Buffer.from(hex, 'hex');

/** The genesis blocks of all networks have the same transaction. `rest`: time, bits and nonce. */
const genesis = (rest: string): Buffer =>
  Buffer.from(`01000000${'00'.repeat(32)}3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a${rest}`, 'hex');

const DIFFICULTY_ONE = (1n << 224n) - 1n;

/** By bcoin's names. On regtest addresses are those of bcoin 2 and Bitcoin Core; bcoin 1 has others. */
export const NETWORKS: Readonly<Record<'main' | 'testnet' | 'regtest' | 'simnet', ReaderNetwork>> = {
  main: {
    chain: 'main',
    genesisHash: hash('6fe28c0ab6f1b372c1a6a246ae63f74f931e8365e15a089c68d6190000000000'),
    genesisHeader: genesis('29ab5f49ffff001d1dac2b7c'),
    addressPrefixes: { pubkeyhash: 0x00, scripthash: 0x05, bech32: 'bc' },
    halvingInterval: 210_000,
    powLimit: DIFFICULTY_ONE,
    httpPort: 8332,
    keepBlocks: 288,
    pruneAfterHeight: 1_000
  },
  testnet: {
    chain: 'test',
    genesisHash: hash('43497fd7f826957108f4a30fd9cec3aeba79972084e90ead01ea330900000000'),
    genesisHeader: genesis('dae5494dffff001d1aa4ae18'),
    addressPrefixes: { pubkeyhash: 0x6f, scripthash: 0xc4, bech32: 'tb' },
    halvingInterval: 210_000,
    powLimit: DIFFICULTY_ONE,
    httpPort: 18_332,
    keepBlocks: 10_000,
    pruneAfterHeight: 1_000
  },
  regtest: {
    chain: 'regtest',
    genesisHash: hash('06226e46111a0b59caaf126043eb5bbf28c34f3a5e332a1fc7b2b73cf188910f'),
    genesisHeader: genesis('dae5494dffff7f2002000000'),
    addressPrefixes: { pubkeyhash: 0x6f, scripthash: 0xc4, bech32: 'bcrt' },
    halvingInterval: 150,
    powLimit: undefined,
    httpPort: 48_332,
    keepBlocks: 10_000,
    pruneAfterHeight: 1_000
  },
  simnet: {
    chain: 'simnet',
    genesisHash: hash('f67ad7695d9b662a72ff3d8edbbb2de0bfa67b13974bb9910d116d5cbd863e68'),
    genesisHeader: genesis('45068653ffff7f2002000000'),
    addressPrefixes: { pubkeyhash: 0x3f, scripthash: 0x7b, bech32: 'sb' },
    halvingInterval: 210_000,
    powLimit: undefined,
    httpPort: 18_556,
    keepBlocks: 10_000,
    pruneAfterHeight: 1_000
  }
};

export type NetworkName = keyof typeof NETWORKS;

/** bcoin's name of a network, or Bitcoin Core's. */
export function networkNamed(name: string): ReaderNetwork | undefined {
  return Object.hasOwn(NETWORKS, name) ? NETWORKS[name as NetworkName] : Object.values(NETWORKS).find(({ chain }) => chain === name);
}
