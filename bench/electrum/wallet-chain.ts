// The chain on which the Electrum protocol is measured, and blocks that are added while clients watch.
//
//   long      scripts with 1,000 transactions each
//   single    scripts that were paid once
//   quiet     scripts that nobody has paid
//   blocks    each pays to 5,000 scripts of `single`, different ones each time, with 2,500 transactions; the node checks them as usual
//
// All other outputs can be spent by anybody, and only these are spent. Empty blocks follow, so that there are headers to ask for.

import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HEADER_LENGTH } from '../../lib/bitcoin/header';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { ByteReader } from '../../lib/bitcoin/reader';
import { readTransaction } from '../../lib/bitcoin/transaction';
import { fromHost } from '../../lib/node/host';
import { bcoin } from '../../test/support/bcoin';
import { BlockMaker, FIRST_BLOCKS } from '../chain/block-maker';
import { ByteWriter } from '../chain/byte-writer';
import { addBlock, onTrustingNode } from '../chain/generate';
import { DATA_FOLDER } from '../chain/synthetic-chain';
import { finish, type MadeTransaction } from '../chain/transaction-maker';
import { NODE_SETTINGS, writeBlockFile, type ServingChain } from '../serve/serving-chain';

/** To be increased with every change to the chain. */
const GENERATION = 1;
const SEED = 19;
const LONG_SCRIPTS = 60;
const LONG_ROWS = 1_000;
/** Scripts that a block pays to. */
export const TOUCHED = 5_000;
const BLOCKS = 5;
const OTHER_SINGLES = 3_000;
const TRANSACTIONS_IN_BLOCK = 2_500;
const EMPTY_BLOCKS = 6_300;
/** 2017: a node that checks scripts does not accept witnesses in blocks from before BIP16. */
const SINCE = 1_500_000_000;
const FINAL = 0xffff_ffff;
const ANYBODY = Buffer.from([0x51]);

const MANIFEST = 'wallet.json';
const COMING = 'coming.hex';
const BLOCKS_FILE = 'blocks.dat';

interface Manifest {
  /** Script hashes as the protocol writes them. */
  readonly long: readonly string[];
  readonly single: readonly string[];
  /** For each coming block, the scripts that it pays to. */
  readonly touched: readonly (readonly string[])[];
  /** Transactions of long histories, with the height of each. */
  readonly transactions: readonly (readonly [string, number])[];
  readonly height: number;
  readonly tipHash: string;
}

export interface WalletChain extends ServingChain, Manifest {
  /** Consecutive blocks in hex, for `submitblock`. */
  readonly coming: readonly string[];
}

/** From bench/data; made if it does not exist. */
export async function walletChain(report: (line: string) => void): Promise<WalletChain> {
  const folder = join(DATA_FOLDER, `wallet-${GENERATION}-bcoin-${bcoin.pkg.version}`);
  const known = readChain(folder);
  if (known !== undefined) return known;
  const unfinished = `${folder}.unfinished`;
  for (const leftover of [folder, unfinished]) rmSync(leftover, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  report(`making ${folder}`);
  await onTrustingNode(unfinished, NODE_SETTINGS, async (node) => {
    const maker = new WalletMaker(fromHost(node.network.genesis.hash));
    const blocks = [...maker.blocks()];
    for (const raw of blocks) await addBlock(node, raw);
    writeBlockFile(join(unfinished, BLOCKS_FILE), blocks);
    const { height } = node.chain;
    const manifest = { ...maker.manifest(), height, tipHash: toDisplayHex(fromHost(node.chain.tip.hash)) };
    writeFileSync(join(unfinished, COMING), maker.coming().map((raw) => `${raw.toString('hex')}\n`).join('')); // prettier-ignore
    writeFileSync(join(unfinished, MANIFEST), JSON.stringify(manifest));
    // The pool is empty.
    writeFileSync(join(unfinished, 'pool.hex'), '');
  });
  renameSync(unfinished, folder);
  const made = readChain(folder);
  if (made === undefined) throw new Error(`expected a chain in ${folder}`);
  return made;
}

function readChain(folder: string): WalletChain | undefined {
  try {
    const manifest = JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8')) as Manifest;
    const coming = readFileSync(join(folder, COMING), 'latin1').trimEnd().split('\n');
    return { ...manifest, coming, folder, blockFile: join(folder, BLOCKS_FILE) };
  } catch {
    return undefined;
  }
}

/** The hash of the script with this name, as the protocol writes it. */
export const hashOf = (name: string): string => toDisplayHex(hash('sha256', scriptOf(name), 'buffer'));

/** P2WPKH of a number. */
function scriptOf(name: string): Buffer {
  return Buffer.concat([Buffer.from([0x00, 20]), hash('sha256', name, 'buffer').subarray(0, 20)]);
}

const longName = (i: number): string => `long ${i}`;
const singleName = (i: number): string => `single ${i}`;

/** A script that anybody can spend. */
interface OpenCoin {
  readonly txid: Buffer;
  readonly index: number;
}

class WalletMaker {
  readonly #maker: BlockMaker;
  readonly #transactions: [string, number][] = [];
  /** One for each transaction of a block. */
  #coins: OpenCoin[] = [];
  #height = 0;

  constructor(genesisHash: Buffer) {
    this.#maker = new BlockMaker(SEED, genesisHash, SINCE);
  }

  *blocks(): Generator<Buffer> {
    let coin: OpenCoin | undefined;
    for (let i = 0; i < FIRST_BLOCKS; i++) {
      const raw = this.#maker.nextFirst(i === 0 ? ANYBODY : undefined);
      coin ??= { txid: readTransaction(new ByteReader(raw, HEADER_LENGTH + 1)).txid, index: 0 };
      yield this.#counted(raw);
    }
    if (coin === undefined) throw new Error('expected a coin');
    const split = this.#pay(coin, [], TRANSACTIONS_IN_BLOCK);
    yield this.#counted(this.#maker.nextOf([split]));
    this.#coins = Array.from({ length: TRANSACTIONS_IN_BLOCK }, (_, index) => ({ txid: split.txid, index }));
    const count = LONG_SCRIPTS * LONG_ROWS;
    for (let first = 0; first < count; first += TRANSACTIONS_IN_BLOCK) {
      yield this.#counted(
        this.#blockOf((i) => {
          const at = first + i;
          const names = [longName(at % LONG_SCRIPTS)];
          return at < BLOCKS * TOUCHED + OTHER_SINGLES ? [...names, singleName(at)] : names;
        })
      );
      for (let i = 0; i < TRANSACTIONS_IN_BLOCK; i += 50)
        this.#transactions.push([toDisplayHex(this.#coins[i]?.txid as Buffer), this.#height]); // within
    }
    for (let i = 0; i < EMPTY_BLOCKS; i++) yield this.#counted(this.#maker.nextEmpty());
  }

  /** The blocks after the others. */
  coming(): Buffer[] {
    return Array.from({ length: BLOCKS }, (_, block) =>
      this.#blockOf((i) => [0, 1].map((more) => singleName(block * TOUCHED + 2 * i + more)))
    );
  }

  manifest(): Omit<Manifest, 'height' | 'tipHash'> {
    const singles = (from: number, count: number): string[] => Array.from({ length: count }, (_, i) => hashOf(singleName(from + i)));
    return {
      long: Array.from({ length: LONG_SCRIPTS }, (_, i) => hashOf(longName(i))),
      single: singles(BLOCKS * TOUCHED, OTHER_SINGLES),
      touched: Array.from({ length: BLOCKS }, (_, block) => singles(block * TOUCHED, TOUCHED)),
      transactions: this.#transactions
    };
  }

  #counted(raw: Buffer): Buffer {
    this.#height++;
    return raw;
  }

  /** `names`: names of the scripts that a transaction pays to. */
  #blockOf(names: (transaction: number) => readonly string[]): Buffer {
    const made = this.#coins.map((coin, i) => this.#pay(coin, names(i).map(scriptOf)));
    this.#coins = made.map(({ txid }) => ({ txid, index: 0 }));
    return this.#maker.nextOf(made);
  }

  /** `open`: outputs for anybody, which come first. */
  #pay({ txid, index }: OpenCoin, scripts: readonly Buffer[], open = 1): MadeTransaction {
    const writer = new ByteWriter(512).i32(2).u8(1).bytes(txid).u32(index).u8(0).u32(FINAL);
    writer.compactSize(open + scripts.length);
    for (const script of [...Array<Buffer>(open).fill(ANYBODY), ...scripts]) writer.u64(0).varBytes(script);
    return { ...finish(Buffer.from(writer.u32(0).toBuffer()), [], this.#maker.coins), fee: 0 };
  }
}
