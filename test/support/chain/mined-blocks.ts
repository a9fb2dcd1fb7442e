// Blocks that a bcoin regtest node accepts, made by hand: proof of work at the lowest
// difficulty, coins that anybody can spend. The same plans on the same blocks make the same
// bytes, whatever the clock says.

import { scanBlock } from '../../../lib/bitcoin/block';
import { hash160, hash256, hash256Of } from '../../../lib/bitcoin/hash';
import { previousHashOf } from '../../../lib/bitcoin/header';
import { bcoin } from '../bcoin/bcoin';
import { blockHash, madeTransaction, type MadeInput, type MadeOutput } from './made-blocks';
import { regtestGenesis } from './chain-a';

export interface BlockPlan {
  /** Repeats the coinbase of this number if BIP30 allows it; undefined: a new coinbase. */
  readonly repeat: number | undefined;
  readonly transactions: readonly TransactionPlan[];
}

export interface TransactionPlan {
  /** The coins to spend, as numbers among all that may be spent, including coins of the block. */
  readonly spends: readonly number[];
  /** Indexes of `KINDS`. */
  readonly outputs: readonly number[];
}

/** Plans of blocks with spends, of coinbases and of coins that the block itself makes. */
export function spendingBlocks(count: number): BlockPlan[] {
  const transactions = [
    { spends: [3, 60], outputs: [0, 1, 3] },
    { spends: [199], outputs: [2] }
  ];
  return Array.from({ length: count }, () => ({ repeat: undefined, transactions }));
}

/** Kinds of locking scripts, and the scripts that unlock them; undefined: never spent here. */
export const KINDS: readonly { readonly script: Buffer; readonly unlock: Buffer | undefined }[] = [
  { script: Buffer.from('51', 'hex'), unlock: Buffer.alloc(0) },
  { script: Buffer.alloc(0), unlock: Buffer.from('51', 'hex') },
  {
    script: Buffer.concat([Buffer.from('a914', 'hex'), hash160(Buffer.from('51', 'hex')), Buffer.from('87', 'hex')]),
    unlock: Buffer.from('0151', 'hex')
  },
  { script: Buffer.from('6a0568656c6c6f', 'hex'), unlock: undefined },
  { script: Buffer.alloc(10_000), unlock: undefined },
  { script: Buffer.alloc(10_001), unlock: undefined }
];

/** Less than any subsidy in these chains. */
const COINBASE_SATS = 4_000;
const START_TIME = 1_600_000_000;
const BITS = 0x207fffff;
/** BIP9's version with no bit set. */
const VERSION = 0x20000000;

/** Coinbases below this number are repeated. */
const REPEATABLE = 16;

interface MadeCoin extends MadeInput {
  readonly value: number;
  readonly kind: number;
  readonly coinbaseHeight: number | undefined;
}

interface MadeState {
  readonly height: number;
  readonly coins: ReadonlyMap<string, MadeCoin>;
}

export class BlockMaker {
  readonly #states = new Map<string, MadeState>();
  #made = REPEATABLE;

  /** `first`: makers with different numbers make different coinbases. */
  constructor(first = 0) {
    this.#made += first;
    this.#states.set(blockHash(regtestGenesis).toString('hex'), { height: 0, coins: new Map() });
  }

  /** A block on top of one that was made here before, or of the genesis block. */
  make(parentHash: Buffer, plan: BlockPlan): Buffer {
    const parent = this.#states.get(parentHash.toString('hex'));
    if (parent === undefined) throw new Error(`expected the hash of a block made here, got ${parentHash.toString('hex')}`);
    const height = parent.height + 1;
    const coins = new Map(parent.coins);
    const coinbase = this.#coinbase(plan.repeat, parent.coins);
    const transactions = [coinbase, ...plan.transactions.flatMap((one) => makeTransaction(one, coins, height) ?? [])];
    const block = mined(parentHash, transactions, START_TIME + height);
    this.learn(block);
    return block;
  }

  /** Takes note of a block that another maker made; parents first. */
  learn(raw: Buffer): void {
    const { hash, header, transactions } = scanBlock(raw);
    const parent = this.#states.get(previousHashOf(header).toString('hex'));
    if (parent === undefined) return; // the genesis block
    const height = parent.height + 1;
    const coins = new Map(parent.coins);
    for (const { txid, isCoinbase, inputs, outputs } of transactions) {
      if (!isCoinbase) for (const input of inputs) coins.delete(outpointName(input.txid, input.index));
      outputs.forEach(({ value, script }, index) => {
        const kind = KINDS.findIndex((one) => one.script.equals(script));
        addCoin(coins, { txid, index, value, kind, coinbaseHeight: isCoinbase ? height : undefined });
      });
    }
    this.#states.set(hash.toString('hex'), { height, coins });
  }

  /** Repeatable coinbases are first made this way, too. */
  #coinbase(repeat: number | undefined, coins: ReadonlyMap<string, MadeCoin>): Buffer {
    if (repeat !== undefined) {
      const coinbase = coinbaseOf(repeat);
      const txid = hash256(coinbase);
      if (COINBASE_OUTPUTS.every((_, index) => !coins.has(outpointName(txid, index)))) return coinbase;
    }
    return coinbaseOf(this.#made++);
  }
}

const COINBASE_OUTPUTS = [0, 2];

function coinbaseOf(number: number): Buffer {
  const tag = Buffer.alloc(5, 4);
  tag.writeUInt32LE(number, 1);
  return madeTransaction([{ txid: Buffer.alloc(32), index: 0xffff_ffff, unlock: tag }], outputsOf(COINBASE_OUTPUTS, COINBASE_SATS), 0);
}

function outputsOf(kinds: readonly number[], sats: number): MadeOutput[] {
  return kinds.map((kind) => ({ value: Math.floor(sats / kinds.length), script: kindOf(kind).script }));
}

function kindOf(kind: number): (typeof KINDS)[number] {
  const found = KINDS[kind];
  if (found === undefined) throw new Error(`expected a kind from 0 to ${KINDS.length - 1}, got ${kind}`);
  return found;
}

/** A transaction; removes the coins that it spends and adds its own. undefined if there is nothing to spend. */
function makeTransaction({ spends, outputs }: TransactionPlan, coins: Map<string, MadeCoin>, height: number): Buffer | undefined {
  const inputs: (MadeCoin & MadeInput)[] = [];
  for (const pick of spends) {
    const mature = [...coins].filter(
      ([, { kind, coinbaseHeight }]) =>
        kindOf(kind).unlock !== undefined && (coinbaseHeight === undefined || height - coinbaseHeight >= bcoin.consensus.COINBASE_MATURITY)
    );
    const chosen = mature[pick % Math.max(1, mature.length)];
    if (chosen === undefined) break;
    const [name, coin] = chosen;
    coins.delete(name);
    inputs.push({ ...coin, unlock: kindOf(coin.kind).unlock as Buffer }); // mature ones have it
  }
  if (inputs.length === 0) return undefined;
  const sats = inputs.reduce((sum, { value }) => sum + value, 0);
  const transaction = madeTransaction(inputs, outputsOf(outputs, sats), 0);
  const txid = hash256(transaction);
  const value = Math.floor(sats / outputs.length);
  outputs.forEach((kind, index) => {
    addCoin(coins, { txid, index, value, kind, coinbaseHeight: undefined });
  });
  return transaction;
}

function addCoin(coins: Map<string, MadeCoin>, coin: MadeCoin): void {
  if (coin.kind !== UNSPENDABLE && coin.kind !== TOO_LONG) coins.set(outpointName(coin.txid, coin.index), coin);
}

/** Indexes of `KINDS` that make no coins. */
const UNSPENDABLE = 3;
const TOO_LONG = 5;

const outpointName = (txid: Buffer, index: number): string => `${txid.toString('hex')}-${index}`;

/** The block with a nonce that makes its hash small enough, as every second nonce does. */
function mined(previousHash: Buffer, transactions: readonly Buffer[], time: number): Buffer {
  const block = Buffer.concat([Buffer.alloc(80), Buffer.from([transactions.length]), ...transactions]);
  block.writeUInt32LE(VERSION);
  previousHash.copy(block, 4);
  merkleRoot(transactions.map(hash256)).copy(block, 36);
  block.writeUInt32LE(time, 68);
  block.writeUInt32LE(BITS, 72);
  for (let nonce = 0; ; nonce++) {
    block.writeUInt32LE(nonce, 76);
    if ((blockHash(block)[31] ?? 0) < 0x7f) return block;
  }
}

function merkleRoot(hashes: readonly Buffer[]): Buffer {
  const [first] = hashes;
  if (first === undefined || hashes.length === 1) return first ?? Buffer.alloc(32);
  const parents: Buffer[] = [];
  for (let i = 0; i < hashes.length; i += 2) parents.push(hash256Of(hashes[i] as Buffer, hashes[i + 1] ?? (hashes[i] as Buffer))); // i is below the length
  return merkleRoot(parents);
}
