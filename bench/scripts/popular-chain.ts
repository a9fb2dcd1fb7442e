// Chains, as nodes hold them, with scripts that have many transactions. The small chain is the beginning of the large one: requests about
// it cost the same on both, unless the size of the index matters.
//
//   long      one script, 100,000 transactions, each of which spends the payment of the previous one; its first and its last coin are left
//   usual     200 scripts, 100 transactions each, likewise
//   single    20,000 scripts that were paid once
//   coins     20 scripts that were paid 500 times and have not spent anything
//   huge      on the large chain: one script as `long`, with more transactions than are counted for an answer
//
// After that, the large chain has usual blocks with other scripts.

import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { readTransaction } from '../../lib/bitcoin/transaction';
import { ByteReader } from '../../lib/bitcoin/reader';
import { HEADER_LENGTH } from '../../lib/bitcoin/header';
import { fromHost } from '../../lib/node/host';
import { bcoin } from '../../test/support/bcoin/bcoin';
import { BlockMaker, FIRST_BLOCKS } from '../chain/block-maker';
import { usualShape } from '../chain/block-shape';
import { ByteWriter } from '../chain/byte-writer';
import { addBlock, onTrustingNode } from '../chain/generate';
import { madeOnce } from '../chain/made-once';
import { writeKeyWitness } from '../chain/output-kinds';
import { DEFAULT_PARAMETERS } from '../chain/parameters';
import { Random } from '../chain/random';
import { DATA_FOLDER } from '../chain/synthetic-chain';
import { finish, type MadeTransaction } from '../chain/transaction-maker';
import { NODE_SETTINGS, writePool, type ServingChain } from '../serve/serving-chain';

/** To be increased with every change to the chains. */
const GENERATION = 1;
const SEED = 11;
export const LONG_ROWS = 100_000;
const USUAL_SCRIPTS = 200;
const SINGLE_EVERY = 5;
const COIN_SCRIPTS = 20;
const USUAL_BLOCKS = 20;
const FULL_BLOCK = 3_900_000;
/** Coins of a coinbase that pays to one script. */
const FIRST_COINS = 100;
const FIRST_COIN_BLOCKS = 4;
const FINAL = 0xffff_ffff;

/** A script, and the transactions of its history that are asked about, from the first one up. */
export interface PopularScript {
  /** SHA-256 of the script, not reversed, in hex. */
  readonly hash: string;
  readonly txids: readonly string[];
}

interface Popular {
  readonly long: PopularScript;
  readonly usual: readonly PopularScript[];
  readonly single: readonly PopularScript[];
  readonly coins: readonly PopularScript[];
  readonly huge?: PopularScript;
}

export interface PopularChain extends ServingChain, Popular {
  readonly height: number;
  /** Approximate number of rows in the index by script. */
  readonly rows: number;
}

export interface PopularChains {
  readonly small: PopularChain;
  readonly large: PopularChain;
}

const MANIFEST = 'popular.json';

/** From bench/data; made if they do not exist. `hugeRows`: transactions of the script `huge`. */
export function popularChains(hugeRows: number, report: (line: string) => void): Promise<PopularChains> {
  const folder = join(DATA_FOLDER, `popular-${GENERATION}-${hugeRows}-bcoin-${bcoin.pkg.version}`);
  return madeOnce(folder, { read: readChains, make: (unfinished) => makeChains(unfinished, hugeRows, report), report });
}

async function makeChains(folder: string, hugeRows: number, report: (line: string) => void): Promise<void> {
  const [small, large] = ['small', 'large'].map((name) => join(folder, name)) as [string, string];
  mkdirSync(small, { recursive: true });
  const maker = await onTrustingNode(small, NODE_SETTINGS, async (node) => {
    const chain = new PopularMaker(fromHost(node.network.genesis.hash));
    for (const raw of chain.smallBlocks()) await addBlock(node, raw);
    writeManifest(small, chain, node.chain.height);
    return chain;
  });
  cpSync(small, large, { recursive: true });
  report('the small one is there');
  await onTrustingNode(large, NODE_SETTINGS, async (node) => {
    for (const raw of maker.furtherBlocks(hugeRows)) await addBlock(node, raw);
    writeManifest(large, maker, node.chain.height);
  });
}

function writeManifest(folder: string, { popular, rows }: PopularMaker, height: number): void {
  writeFileSync(join(folder, MANIFEST), JSON.stringify({ ...popular, rows, height }));
  writePool(folder, []);
}

function readChains(folder: string): PopularChains | undefined {
  try {
    const [small, large] = ['small', 'large'].map((name): PopularChain => {
      const path = join(folder, name);
      const manifest = JSON.parse(readFileSync(join(path, MANIFEST), 'utf8')) as Popular & {
        readonly height: number;
        readonly rows: number;
      };
      return { ...manifest, folder: path, blockFile: '' };
    }) as [PopularChain, PopularChain]; // two names
    return { small, large };
  } catch {
    return undefined;
  }
}

/** P2WPKH of a number. */
function scriptOf(name: string): Buffer {
  return Buffer.concat([Buffer.from([0x00, 20]), hash('sha256', name, 'buffer').subarray(0, 20)]);
}

const newScript = (script: Buffer): { hash: string; txids: string[] } => ({ hash: hash('sha256', script, 'hex'), txids: [] });

/** Transactions of a script, each of which spends the payment of the previous one. */
class History {
  readonly asked: { hash: string; txids: string[] };
  readonly #script: Buffer;
  readonly #signs: boolean;
  #txid: Buffer;
  #index: number;
  readonly #value: number;

  /** `signs`: its inputs have witnesses. */
  constructor(name: string, coin: { readonly txid: Buffer; readonly index: number; readonly value: number }, signs = true) {
    this.#script = scriptOf(name);
    this.asked = newScript(this.#script);
    this.#signs = signs;
    this.#txid = coin.txid;
    this.#index = coin.index;
    this.#value = coin.value;
  }

  /** `others`: further scripts that it pays. */
  next(maker: BlockMaker, random: Random, others: readonly Buffer[] = []): MadeTransaction {
    const writer = new ByteWriter(512).i32(2);
    if (this.#signs) writer.u8(0).u8(1);
    writer.u8(1).bytes(this.#txid).u32(this.#index).u8(0).u32(FINAL);
    writer.compactSize(1 + others.length);
    for (const script of [this.#script, ...others]) writer.u64(this.#value).varBytes(script);
    if (this.#signs) writeKeyWitness(writer, random);
    const raw = Buffer.from(writer.u32(0).toBuffer());
    const made = finish(raw, [], maker.coins);
    this.#txid = made.txid;
    this.#index = 0;
    return { ...made, fee: 0 };
  }
}

class PopularMaker {
  rows = 0;
  readonly #maker: BlockMaker;
  readonly #random = new Random(SEED);
  readonly #coins: { readonly txid: Buffer; readonly index: number; readonly value: number }[] = [];
  #popular: Popular | undefined;

  constructor(genesisHash: Buffer) {
    this.#maker = new BlockMaker(SEED, genesisHash);
  }

  get popular(): Popular {
    if (this.#popular === undefined) throw new Error('expected the small chain to be made');
    return this.#popular;
  }

  *smallBlocks(): Generator<Buffer> {
    const own = scriptOf('own');
    for (let i = 0; i < FIRST_BLOCKS; i++) {
      const isOwn = i < FIRST_COIN_BLOCKS;
      const raw = this.#maker.nextFirst(isOwn ? own : undefined);
      if (isOwn) this.#own(raw);
      yield raw;
    }
    const long = new History('long', this.#coin());
    const usual = Array.from({ length: USUAL_SCRIPTS }, (_, i) => new History(`usual ${i}`, this.#coin()));
    const coinScripts = Array.from({ length: COIN_SCRIPTS }, (_, i) => scriptOf(`coins ${i}`));
    const single: { hash: string; txids: string[] }[] = [];
    const coins = coinScripts.map(newScript);
    yield* this.#blocksOf(this.#smallTransactions(long, usual, single, coinScripts));
    this.#popular = { long: long.asked, usual: usual.map(({ asked }) => asked), single, coins };
  }

  *furtherBlocks(hugeRows: number): Generator<Buffer> {
    const huge = new History('huge', this.#coin(), false);
    yield* this.#blocksOf(this.#transactionsOf(huge, hugeRows));
    this.#popular = { ...this.popular, huge: huge.asked };
    for (let i = 0; i < USUAL_BLOCKS; i++) yield this.#maker.next(usualShape(this.#maker.random, DEFAULT_PARAMETERS));
  }

  *#smallTransactions(
    long: History,
    usual: readonly History[],
    single: { hash: string; txids: string[] }[],
    coinScripts: readonly Buffer[]
  ): Generator<MadeTransaction> {
    for (let i = 0; i < LONG_ROWS; i++) {
      const others: Buffer[] = i === 0 ? [scriptOf('long')] : [];
      if (i % 10 === 1) others.push(coinScripts[((i - 1) / 10) % COIN_SCRIPTS] as Buffer); // below their number
      const alone = i % SINGLE_EVERY === 2 ? scriptOf(`single ${i}`) : undefined;
      if (alone !== undefined) others.push(alone);
      const made = long.next(this.#maker, this.#random, others);
      this.rows += 1 + others.length;
      yield made;
      const txid = toDisplayHex(made.txid);
      if (i % 4 === 0) long.asked.txids.push(txid);
      if (alone !== undefined) single.push({ ...newScript(alone), txids: [txid] });
      const history = usual[(i / SINGLE_EVERY) % USUAL_SCRIPTS];
      if (i % SINGLE_EVERY !== 0 || history === undefined) continue;
      const other = history.next(this.#maker, this.#random);
      history.asked.txids.push(toDisplayHex(other.txid));
      this.rows++;
      yield other;
    }
  }

  *#transactionsOf(history: History, count: number): Generator<MadeTransaction> {
    for (let i = 0; i < count; i++) {
      const made = history.next(this.#maker, this.#random, i === 0 ? [scriptOf('huge')] : []);
      if (i % 50 === 0) history.asked.txids.push(toDisplayHex(made.txid));
      this.rows++;
      yield made;
    }
  }

  *#blocksOf(transactions: Iterable<MadeTransaction>): Generator<Buffer> {
    let block: MadeTransaction[] = [];
    let weight = 0;
    for (const transaction of transactions) {
      block.push(transaction);
      weight += transaction.weight;
      if (weight < FULL_BLOCK) continue;
      yield this.#maker.nextOf(block);
      block = [];
      weight = 0;
    }
    if (block.length > 0) yield this.#maker.nextOf(block);
  }

  #own(raw: Buffer): void {
    const { txid, outputs } = readTransaction(new ByteReader(raw, HEADER_LENGTH + 1));
    for (const [index, { value }] of outputs.slice(0, FIRST_COINS).entries()) this.#coins.push({ txid, index, value });
  }

  #coin(): { readonly txid: Buffer; readonly index: number; readonly value: number } {
    const coin = this.#coins.pop();
    if (coin === undefined) throw new Error('expected another coin');
    return coin;
  }
}
