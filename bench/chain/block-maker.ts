// Makes the blocks of the synthetic chain one by one. First come small blocks that hand out
// coins and signal for the soft forks (bcoin 1.0.2 activates segwit only after signals).

import { COINBASE_MATURITY, MAX_BLOCK_WEIGHT } from '../../lib/bitcoin/consensus';
import { hash256 } from '../../lib/bitcoin/hash';
import { subsidyAt } from '../../lib/bitcoin/subsidy';
import { spread, type BlockShape } from './block-shape';
import { ByteWriter } from './byte-writer';
import { Coins } from './coins';
import { commitmentScript, merkleRoot } from './merkle';
import { drawKind } from './output-kinds';
import { Random } from './random';
import { finish, makeTransaction, writeOutputs, type MadeTransaction, type Output } from './transaction-maker';
import type { Slot } from './free-slots';

/** Blocks before the usual ones: a little more than three signalling periods of regtest. */
export const FIRST_BLOCKS = 440;

const FIRST_OUTPUTS = 100;
const REWARD_OUTPUTS = 4;
const HALVING_INTERVAL = 150;
/** Header, count and coinbase. */
const RESERVED_WEIGHT = 4_000;
const GENESIS_TIME = 1_296_688_602;
const SPACING = 600;
/** Bits 0 and 1: csv and segwit (BIP9). */
const SIGNALLING = 0x2000_0003;
const NOT_SIGNALLING = 0x2000_0000;
const REGTEST_BITS = 0x207f_ffff;

export class BlockMaker {
  readonly coins = new Coins();
  readonly random: Random;
  #height = 0;
  #previousHash: Buffer;
  readonly #since: number;
  /** Coins of coinbases that are not mature, by height. */
  readonly #immature = new Map<number, readonly Slot[]>();

  /** `since`: the time before the first block, in seconds since 1970. */
  constructor(seed: number, genesisHash: Buffer, since = GENESIS_TIME) {
    this.random = new Random(seed);
    this.#previousHash = genesisHash;
    this.#since = since;
  }

  /** A block that only pays out its reward, all of it to `script` if given. */
  nextFirst(lockingScript?: Buffer): Buffer {
    return this.#finish([], FIRST_OUTPUTS, SIGNALLING, lockingScript);
  }

  /** A block that makes one coin and is quick to read. */
  nextEmpty(): Buffer {
    return this.#finish([], 1, NOT_SIGNALLING);
  }

  /** A block of transactions that were made elsewhere, whose coins this maker does not spend. */
  nextOf(transactions: readonly MadeTransaction[]): Buffer {
    return this.#finish(transactions, REWARD_OUTPUTS, NOT_SIGNALLING);
  }

  next(shape: BlockShape): Buffer {
    const transactions: MadeTransaction[] = [];
    let weight = RESERVED_WEIGHT;
    for (const each of spread(shape, this.random)) {
      const transaction = makeTransaction(each, this.coins, this.random);
      if (transaction === undefined) break;
      transactions.push(transaction);
      weight += transaction.weight;
      if (shape.spendsItself) this.#release(transaction.coins);
      // The next transaction might not fit; few transactions are larger than this.
      if (weight > MAX_BLOCK_WEIGHT - 20_000) break;
    }
    if (!shape.spendsItself) for (const { coins } of transactions) this.#release(coins);
    return this.#finish(transactions, REWARD_OUTPUTS, NOT_SIGNALLING);
  }

  #finish(transactions: readonly MadeTransaction[], rewardOutputs: number, version: number, lockingScript?: Buffer): Buffer {
    const height = ++this.#height;
    const coinbase = this.#coinbase(transactions, rewardOutputs, lockingScript);
    this.#release(this.#immature.get(height - COINBASE_MATURITY) ?? []);
    this.#immature.delete(height - COINBASE_MATURITY);
    this.#immature.set(height, coinbase.coins);
    const header = new ByteWriter(80)
      .u32(version)
      .bytes(this.#previousHash)
      .bytes(merkleRoot([coinbase.txid, ...transactions.map(({ txid }) => txid)]))
      .u32(this.#since + height * SPACING)
      .u32(REGTEST_BITS)
      .u32(0)
      .toBuffer();
    this.#previousHash = mine(header);
    const count = new ByteWriter(9).compactSize(transactions.length + 1).toBuffer();
    return Buffer.concat([header, count, coinbase.raw, ...transactions.map(({ raw }) => raw)]);
  }

  #coinbase(transactions: readonly MadeTransaction[], count: number, lockingScript: Buffer | undefined): Omit<MadeTransaction, 'fee'> {
    const subsidy = subsidyAt(this.#height, HALVING_INTERVAL);
    const reward = transactions.reduce((sum, { fee }) => sum + fee, subsidy);
    const share = Math.floor(reward / count);
    const outputs = Array.from({ length: count }, (_, i): Output => ({
      ...(lockingScript === undefined ? { kind: drawKind(this.random) } : { kind: undefined, lockingScript }),
      value: i === 0 ? reward - share * (count - 1) : share
    }));
    const commits = transactions.length > 0;
    const writer = new ByteWriter(4_096).i32(1);
    if (commits) writer.u8(0).u8(1);
    writer.u8(1).bytes(Buffer.alloc(32)).u32(0xffff_ffff).varBytes(this.#coinbaseScript()).u32(0xffff_ffff);
    if (commits) {
      // The commitment comes last, so that the coins keep the indexes that they have in `outputs`.
      const coinOutputs = new ByteWriter(512);
      writeOutputs(coinOutputs, outputs, this.random);
      writer
        .compactSize(count + 1)
        .bytes(coinOutputs.toBuffer().subarray(1))
        .u64(0);
      writer.varBytes(commitmentScript(transactions.map(({ wtxid }) => wtxid)));
      writer.u8(1).varBytes(Buffer.alloc(32));
    } else {
      writeOutputs(writer, outputs, this.random);
    }
    return finish(writer.u32(0).toBuffer(), outputs, this.coins);
  }

  /** The height as BIP34 requires it, and some bytes of the miner. */
  #coinbaseScript(): Buffer {
    const height = this.#height;
    const writer = new ByteWriter(32);
    if (height <= 16) writer.u8(0x50 + height);
    else if (height < 0x80) writer.u8(1).u8(height);
    else if (height < 0x8000) writer.u8(2).u16(height);
    else
      writer
        .u8(3)
        .u16(height & 0xffff)
        .u8(height >>> 16);
    return writer.varBytes(this.random.bytes(16)).toBuffer();
  }

  #release(coins: readonly Slot[]): void {
    for (const coin of coins) this.coins.release(coin);
  }
}

/** Finds a nonce for regtest's target and returns the hash. */
function mine(header: Buffer): Buffer {
  for (let nonce = 0; ; nonce++) {
    header.writeUInt32LE(nonce, 76);
    const hash = hash256(header);
    if ((hash[31] as number) < 0x7f) return hash; // a hash has 32 bytes
  }
}
