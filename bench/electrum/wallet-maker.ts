// Makes the blocks of the chain on which the Electrum protocol is measured. 2,500 outputs that anybody can spend go from block to block: each
// transaction spends one of them, pays to some scripts and spends earlier payments to others. Signatures are random bytes; those blocks
// are below the one that bitcoind is told to assume valid.

import { HEADER_LENGTH } from '../../lib/bitcoin/header';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { ByteReader } from '../../lib/bitcoin/reader';
import { readTransaction } from '../../lib/bitcoin/transaction';
import { BlockMaker, FIRST_BLOCKS } from '../chain/block-maker';
import { ByteWriter } from '../chain/byte-writer';
import { writeKeyWitness } from '../chain/output-kinds';
import { Random } from '../chain/random';
import { finish, type MadeTransaction } from '../chain/transaction-maker';
import { ownScript, type OwnCoin } from '../serve/pool-maker';
import { CLASSES, nameOf, scriptOf, SCRIPTS, type ScriptClass } from './wallet-scripts';

const SEED = 19;
export const TRANSACTIONS_IN_BLOCK = 2_500;
const FULL_BLOCKS = 160;
const TRANSACTIONS = FULL_BLOCKS * TRANSACTIONS_IN_BLOCK;
const EMPTY_BLOCKS = 6_300;
/** 2017: a node that checks scripts does not accept witnesses in blocks from before BIP16. */
const SINCE = 1_500_000_000;
const FINAL = 0xffff_ffff;
const ANYBODY = Buffer.from([0x51]);
/** Outputs of each of the first coinbases. */
const FIRST_OUTPUTS = 100;
/** The coinbases after the first one whose coins are for the pool. */
const POOL_BLOCKS = 10;
const LEAST_VALUE = 1_000;
const VALUES = 10_000;
/** One in so many transactions is asked about. */
const ASKED_EVERY = 8;
/** One in so many payments to the busiest scripts is asked about. */
const BUSY_EVERY = 40;

interface Coin {
  readonly txid: Buffer;
  readonly index: number;
  readonly value: number;
}

/** What a transaction does with one script. */
interface Event {
  readonly kind: ScriptClass;
  readonly script: number;
  /** Its place among the script's rows. */
  readonly row: number;
}

export class WalletMaker {
  /** Some transactions, with the height of each. */
  readonly transactions: [string, number][] = [];
  /** Some transactions that pay to the scripts with the longest histories, which spend these payments later. */
  readonly busy: string[] = [];
  /** Coins that transactions of the pool can spend. */
  readonly poolCoins: OwnCoin[] = [];
  readonly #maker: BlockMaker;
  readonly #random = new Random(SEED);
  /** One for each transaction of a block: outputs that anybody can spend. */
  #open: Coin[] = [];
  /** The last payment to each script that has not been spent, by the script's name. */
  readonly #payments = new Map<string, Coin>();
  #height = 0;

  constructor(genesisHash: Buffer) {
    this.#maker = new BlockMaker(SEED, genesisHash, SINCE);
  }

  *blocks(): Generator<Buffer> {
    const first: Coin[] = [];
    for (let i = 0; i < FIRST_BLOCKS; i++) {
      const isOfPool = i > 0 && i <= POOL_BLOCKS;
      const raw = this.#counted(this.#maker.nextFirst(i === 0 ? ANYBODY : isOfPool ? ownScript(true) : undefined));
      if (i === 0) first.push(...coinsOf(raw));
      if (isOfPool) this.poolCoins.push(...coinsOf(raw).map((coin) => ({ ...coin, isWitness: true })));
      yield raw;
    }
    yield this.#counted(this.#maker.nextOf([this.#split(first)]));
    for (let block = 0; block < FULL_BLOCKS; block++)
      yield this.#counted(this.#blockOf((i) => eventsOf(block * TRANSACTIONS_IN_BLOCK + i), true));
    for (let i = 0; i < EMPTY_BLOCKS; i++) yield this.#counted(this.#maker.nextEmpty());
  }

  /** A block after the others, each of whose transactions pays to `perTransaction` scripts that were paid once, from `first`. */
  coming(first: number, perTransaction: number): Buffer {
    return this.#blockOf((transaction) =>
      Array.from({ length: perTransaction }, (_, i) => ({ kind: SCRIPTS.one, script: first + transaction * perTransaction + i, row: 1 }))
    );
  }

  #counted(raw: Buffer): Buffer {
    this.#height++;
    return raw;
  }

  #blockOf(eventsAt: (transaction: number) => readonly Event[], isAsked = false): Buffer {
    const made = this.#open.map((coin, i) => this.#pay(coin, eventsAt(i), isAsked));
    this.#open = made.map(({ change }) => change);
    const height = this.#height + 1;
    if (isAsked)
      for (let i = 0; i < made.length; i += ASKED_EVERY) {
        const { transaction } = made[i] as (typeof made)[number]; // within
        this.transactions.push([toDisplayHex(transaction.txid), height]);
      }
    return this.#maker.nextOf(made.map(({ transaction }) => transaction));
  }

  /** Even rows of a script, but for its first, spend the payment of the row before; the others are payments. What is left is for anybody. */
  #pay(open: Coin, events: readonly Event[], isAsked: boolean): { readonly transaction: MadeTransaction; readonly change: Coin } {
    const spent: Coin[] = [];
    const paid: { readonly event: Event; readonly value: number }[] = [];
    for (const event of events) {
      const payment = isSpend(event) ? this.#payments.get(nameOf(event.kind, event.script)) : undefined;
      if (payment === undefined) paid.push({ event, value: LEAST_VALUE + this.#random.below(VALUES) });
      else spent.push(payment);
    }
    const left = [open, ...spent].reduce((sum, { value }) => sum + value, 0) - paid.reduce((sum, { value }) => sum + value, 0);
    const writer = new ByteWriter(1_024).i32(2);
    if (spent.length > 0) writer.u8(0).u8(1);
    writer.compactSize(1 + spent.length);
    for (const { txid, index } of [open, ...spent]) writer.bytes(txid).u32(index).u8(0).u32(FINAL);
    writer
      .compactSize(1 + paid.length)
      .u64(left)
      .varBytes(ANYBODY);
    for (const { event, value } of paid) writer.u64(value).varBytes(scriptOf(nameOf(event.kind, event.script)));
    if (spent.length > 0) {
      writer.u8(0);
      for (let i = 0; i < spent.length; i++) writeKeyWitness(writer, this.#random);
    }
    const transaction = { ...finish(Buffer.from(writer.u32(0).toBuffer()), [], this.#maker.coins), fee: 0 };
    const { txid } = transaction;
    for (const [i, { event, value }] of paid.entries()) {
      const { kind, script, row } = event;
      if (kind.isSpent && kind.rows > 1 && row > 0) this.#payments.set(nameOf(kind, script), { txid, index: 1 + i, value });
      if (isAsked && kind === SCRIPTS.tenThousand && row % BUSY_EVERY === 1 && row < kind.rows - 1) this.busy.push(toDisplayHex(txid));
    }
    return { transaction, change: { txid, index: 0, value: left } };
  }

  /** Makes the outputs that anybody can spend. */
  #split(coins: readonly Coin[]): MadeTransaction {
    const value = Math.floor(coins.reduce((sum, coin) => sum + coin.value, 0) / TRANSACTIONS_IN_BLOCK);
    const writer = new ByteWriter(40_000).i32(2).compactSize(coins.length);
    for (const { txid, index } of coins) writer.bytes(txid).u32(index).u8(0).u32(FINAL);
    writer.compactSize(TRANSACTIONS_IN_BLOCK);
    for (let i = 0; i < TRANSACTIONS_IN_BLOCK; i++) writer.u64(value).varBytes(ANYBODY);
    const made = finish(Buffer.from(writer.u32(0).toBuffer()), [], this.#maker.coins);
    this.#open = Array.from({ length: TRANSACTIONS_IN_BLOCK }, (_, index) => ({ txid: made.txid, index, value }));
    return { ...made, fee: 0 };
  }
}

const isSpend = ({ kind, row }: Event): boolean => kind.isSpent && row > 0 && row % 2 === 0;

/** The rows of each class are spread evenly over all transactions, and over its scripts. */
function eventsOf(transaction: number): Event[] {
  return CLASSES.flatMap((kind) => {
    const rows = kind.scripts * kind.rows;
    const [from, to] = [transaction, transaction + 1].map((at) => Math.floor((at * rows) / TRANSACTIONS)) as [number, number]; // two
    return Array.from({ length: to - from }, (_, i) => ({
      kind,
      script: (from + i) % kind.scripts,
      row: Math.floor((from + i) / kind.scripts)
    }));
  });
}

/** The outputs of a block's coinbase. */
function coinsOf(block: Buffer): Coin[] {
  const { txid, outputs } = readTransaction(new ByteReader(block, HEADER_LENGTH + 1));
  return outputs.slice(0, FIRST_OUTPUTS).map(({ value }, index) => ({ txid, index, value }));
}
