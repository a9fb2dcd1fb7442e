// Transactions of nearly 100,000 bytes, as large as a pool takes them, that are costly for whoever keeps a pool by script.

import { bcoin } from '../bcoin/bcoin';
import { COINBASE_SATS, type Coinbases } from './coinbases';
import { signed } from './signed';
import type { HostTransaction } from '../../../lib/node/host';

/** Inputs of 41 bytes, outputs of 14: a child with this many of both has a little less than 100,000 bytes. */
export const WIDE = 1_700;
/** A child spends from this many parents, */
const CHAIN = 20;
/** and this many outputs altogether. */
const MANY = 2_300;
const VALUE = 2_000;
const FEE = 50_000;
const WIDE_FEE = 1_000_000;
/** Enough for the fees of a chain. */
const LARGE_VALUE = 2_000_000;

/** A script that anybody can spend: a number on the stack. */
const scriptOf = (n: number): Buffer => Buffer.from([4, 1 + (n & 0x7f), (n >> 7) & 0x7f, (n >> 14) & 0x7f, 1]);

export const ONE_SCRIPT = scriptOf(0);
/** The scripts from this number on; 1 is the first. */
export const ownScripts = (count: number, from = 1): Buffer[] => Array.from({ length: count }, (_, i) => scriptOf(from + i));
const oneScript = (count: number): Buffer[] => Array<Buffer>(count).fill(ONE_SCRIPT);

type Coin = readonly [HostTransaction, number];

export class WideTransactions {
  static readonly #ways: Readonly<Record<string, (wide: WideTransactions) => Promise<HostTransaction>>> = {
    'with as many outputs as there is room for, of one script': (wide) => Promise.resolve(wide.#paying(oneScript(WIDE))),
    'that spends all outputs of such a transaction for as many, of one script': (wide) => wide.#spendingAll(oneScript(WIDE)),
    'with as many outputs as there is room for, of a script each': (wide) => Promise.resolve(wide.#paying(ownScripts(WIDE))),
    'that spends all outputs of such a transaction for as many, of a script each': (wide) => wide.#spendingAll(ownScripts(WIDE)),
    'that spends outputs of twenty such transactions, whose scripts nobody else touches': (wide) => wide.#spendingMany(),
    'at the end of a long chain of transactions': (wide) => wide.#endingChain()
  };
  /** What is special about each of them. */
  static readonly names: readonly string[] = Object.keys(WideTransactions.#ways);
  readonly #coinbases: Coinbases;
  readonly #pooled: (transaction: HostTransaction) => Promise<HostTransaction>;

  /** `pooled`: puts a transaction into the pool. */
  constructor(coinbases: Coinbases, pooled: (transaction: HostTransaction) => Promise<HostTransaction>) {
    this.#coinbases = coinbases;
    this.#pooled = pooled;
  }

  /** A transaction that may enter the pool, where what it depends on already is. Takes a coinbase, or twenty. */
  made(name: string): Promise<HostTransaction> {
    const way = WideTransactions.#ways[name];
    if (way === undefined) throw new Error(`expected one of the names, got ${name}`);
    return way(this);
  }

  /** One in the pool, each output of which another one there spends for two scripts of its own. */
  async withChildren(): Promise<HostTransaction> {
    const parent = await this.#pooled(this.#paying(ownScripts(WIDE)));
    for (let i = 0; i < WIDE; i++) await this.#pooled(spending([[parent, i]], ownScripts(2, WIDE + 2 * i)));
    return parent;
  }

  async #spendingAll(scripts: readonly Buffer[]): Promise<HostTransaction> {
    return spending(firstOf(await this.#pooled(this.#paying(scripts)), WIDE), scripts);
  }

  async #spendingMany(): Promise<HostTransaction> {
    const coins: Coin[] = [];
    for (let i = 0; i < CHAIN; i++)
      coins.push(...firstOf(await this.#pooled(this.#paying(ownScripts(WIDE, 1 + i * WIDE))), Math.floor(MANY / CHAIN)));
    return spending(coins, [ONE_SCRIPT]);
  }

  async #endingChain(): Promise<HostTransaction> {
    let last = await this.#pooled(this.#paying(oneScript(WIDE), LARGE_VALUE));
    for (let i = 1; i < CHAIN; i++) last = await this.#pooled(spending([[last, 0]], [ONE_SCRIPT], LARGE_VALUE - i * FEE));
    return spending([[last, 0]], oneScript(WIDE), 1);
  }

  /** Spends a coinbase for outputs of these scripts. */
  #paying(scripts: readonly Buffer[], sats = VALUE): HostTransaction {
    const change = [this.#coinbases.script, COINBASE_SATS - scripts.length * sats - WIDE_FEE] as const;
    return signed(this.#coinbases.ring, [this.#coinbases.fresh()], [...scripts.map((script) => [script, sats] as const), change]);
  }
}

const firstOf = (parent: HostTransaction, count: number): Coin[] => Array.from({ length: count }, (_, i) => [parent, i] as const);

/** `sats`: of each output. */
function spending(coins: readonly Coin[], scripts: readonly Buffer[], sats = VALUE / 10): HostTransaction {
  const transaction = new bcoin.MTX();
  for (const [parent, index] of coins) transaction.addTX(parent, index);
  for (const script of scripts) transaction.addOutput(bcoin.Script.fromRaw(script), sats);
  return transaction.toTX();
}
