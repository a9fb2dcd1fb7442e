// The data of Esplora's API.

import { satsOf } from '../../parts/amounts';
import { bandsOf } from '../pool/bands';
import { pooledTransactions } from './pooled';
import { vsizeOf } from './types';
import type { Client } from './client';
import type { ScriptSource, Source } from './source';
import type {
  Block,
  BlockFees,
  Coin,
  Confirmation,
  Fees,
  Input,
  Output,
  Place,
  Pool,
  PoolPlace,
  RecentTransaction,
  Spend,
  Subject,
  SubjectStats,
  Sums,
  Tip,
  Transaction
} from './types';

export interface ApiBlock {
  readonly id: string;
  readonly height: number;
  readonly version: number;
  readonly timestamp: number;
  readonly tx_count: number;
  readonly size: number;
  readonly weight: number;
  readonly merkle_root: string;
  readonly previousblockhash?: string | null;
  readonly mediantime: number;
  readonly nonce: number;
  readonly bits: number;
  readonly difficulty: number;
}

interface ApiOutput {
  readonly scriptpubkey: string;
  readonly scriptpubkey_asm: string;
  readonly scriptpubkey_type: string;
  readonly scriptpubkey_address?: string;
  readonly value: number | string;
}

interface ApiInput {
  readonly txid: string;
  readonly vout: number;
  readonly prevout: ApiOutput | null;
  readonly scriptsig: string;
  readonly scriptsig_asm: string;
  readonly witness?: readonly string[];
  readonly is_coinbase: boolean;
  readonly sequence: number;
  readonly inner_redeemscript_asm?: string;
  readonly inner_witnessscript_asm?: string;
}

interface ApiStatus {
  readonly confirmed: boolean;
  readonly block_height?: number;
  readonly block_hash?: string;
  readonly block_time?: number;
}

interface ApiTransaction {
  readonly txid: string;
  readonly version: number;
  readonly locktime: number;
  readonly vin: readonly ApiInput[];
  readonly vout: readonly ApiOutput[];
  readonly size: number;
  readonly weight: number;
  readonly fee: number | string;
  readonly status: ApiStatus;
}

interface ApiSums {
  readonly funded_txo_count: number;
  readonly funded_txo_sum: number | string;
  readonly spent_txo_count: number;
  readonly spent_txo_sum: number | string;
  readonly tx_count: number;
}

interface ApiRelative {
  readonly txid: string;
  readonly fee: number | string;
  readonly weight: number;
}

/** Of a transaction that the pool does not have: no rate. */
export interface ApiRelatives {
  readonly ancestors: readonly ApiRelative[];
  readonly descendants?: readonly ApiRelative[];
  readonly effectiveFeePerVsize?: number;
}

/** A pool with more transactions is shown by its histogram, which is shorter. */
const MOST_EXACT = 500;

export class EsploraSource implements Source, ScriptSource {
  readonly #client: Client;
  readonly #path: string;

  /** `path`: of the interface, without a slash at its end. */
  constructor(client: Client, path: string) {
    this.#client = client;
    this.#path = path;
  }

  get scripts(): ScriptSource {
    return this;
  }

  async tip(): Promise<Tip> {
    const [tip] = await this.blocks();
    if (tip === undefined) throw new RangeError('expected a block');
    return tip;
  }

  async blocks(from?: number): Promise<readonly Block[]> {
    return (await this.#json<ApiBlock[]>(from === undefined ? '/blocks' : `/blocks/${from}`)).map(blockOf);
  }

  async block(hash: string): Promise<Block> {
    return blockOf(await this.#json(`/block/${hash}`));
  }

  hashAt(height: number): Promise<string> {
    return this.#client.text(`${this.#path}/block-height/${height}`);
  }

  async placeOf({ hash }: Block): Promise<Place> {
    const status = await this.#json<{ in_best_chain: boolean; next_best: string | null }>(`/block/${hash}/status`);
    return { isInChain: status.in_best_chain, next: status.next_best ?? undefined };
  }

  async transactionsOf({ hash }: Block, start: number): Promise<readonly Transaction[]> {
    return (await this.#json<ApiTransaction[]>(`/block/${hash}/txs/${start}`)).map(transactionOf);
  }

  async transaction(txid: string): Promise<Transaction> {
    return transactionOf(await this.#json(`/tx/${txid}`));
  }

  hex(txid: string): Promise<string> {
    return this.#client.text(`${this.#path}/tx/${txid}/hex`);
  }

  async pool(): Promise<Pool> {
    const { count, vsize, total_fee, fee_histogram } = await this.#json<{
      count: number;
      vsize: number;
      total_fee: number | string;
      fee_histogram: readonly (readonly [number, number])[];
    }>('/mempool');
    // Steps of the histogram have 50,000 virtual bytes and more, and the rate of the lowest of them.
    const bands =
      count > 0 && count <= MOST_EXACT
        ? bandsOf(await pooledTransactions(this.#client))
        : fee_histogram.map(([rate, size]) => ({ rate, vsize: size }));
    return { count, vsize, fees: satsOf(total_fee), bands };
  }

  /** By requests that are answered also for hashes that nothing has. */
  async kindOf(hash: string): Promise<'block' | 'transaction' | 'script' | undefined> {
    const [status, [spends = []], { chain, pool }] = await Promise.all([
      this.#json<{ in_best_chain: boolean }>(`/block/${hash}/status`),
      this.#json<(readonly unknown[])[]>(`/txs/outspends?txids=${hash}`),
      this.stats({ kind: 'scripthash', text: hash })
    ]);
    if (status.in_best_chain) return 'block';
    if (spends.length > 0) return 'transaction';
    return chain.transactions + pool.transactions > 0 ? 'script' : undefined;
  }

  async spends(txid: string): Promise<readonly (Spend | undefined)[]> {
    const list = await this.#json<{ spent: boolean; txid?: string; vin?: number; status?: ApiStatus }[]>(`/tx/${txid}/outspends`);
    return list.map(({ spent, txid: by, vin, status }) =>
      spent && by !== undefined && vin !== undefined ? { txid: by, input: vin, isConfirmed: status?.confirmed === true } : undefined
    );
  }

  async stats(subject: Subject): Promise<SubjectStats> {
    const { chain_stats, mempool_stats } = await this.#json<{ chain_stats: ApiSums; mempool_stats: ApiSums }>(pathOf(subject));
    return { chain: sumsOf(chain_stats), pool: sumsOf(mempool_stats) };
  }

  async history(subject: Subject, after?: string): Promise<readonly Transaction[]> {
    const path = after === undefined ? '/txs' : `/txs/chain/${after}`;
    return (await this.#json<ApiTransaction[]>(`${pathOf(subject)}${path}`)).map(transactionOf);
  }

  async coins(subject: Subject): Promise<readonly Coin[]> {
    const list = await this.#json<{ txid: string; vout: number; value: number | string; status: ApiStatus }[]>(`${pathOf(subject)}/utxo`);
    return list.map(({ txid, vout, value, status }) => ({ txid, vout, value: satsOf(value), confirmation: confirmationOf(status) }));
  }

  fees(): Promise<Fees> {
    return this.#json('/v1/fees/precise');
  }

  async feesOf({ hash }: Block): Promise<BlockFees> {
    const { extras } = await this.#json<{
      extras: { totalFees: number | string; reward: number | string; feeRange: readonly number[] };
    }>(`/v1/block/${hash}`);
    const { totalFees, reward, feeRange } = extras;
    return { fees: satsOf(totalFees), reward: satsOf(reward), lowest: feeRange[0] ?? 0, highest: feeRange.at(-1) ?? 0 };
  }

  async placeInPool(txid: string): Promise<PoolPlace | undefined> {
    return poolPlaceOf(await this.#json(`/v1/cpfp/${txid}`));
  }

  async enteredAt(txid: string): Promise<number | undefined> {
    const [time = 0] = await this.#json<number[]>(`/v1/transaction-times?txId[]=${txid}`);
    return time === 0 ? undefined : time;
  }

  addressesFrom(beginning: string): Promise<readonly string[]> {
    return this.#json(`/address-prefix/${beginning}`);
  }

  async recent(): Promise<readonly RecentTransaction[]> {
    const list = await this.#json<{ txid: string; fee: number | string; vsize: number; value: number | string }[]>('/mempool/recent');
    return list.map(({ txid, fee, vsize, value }) => ({ txid, fee: satsOf(fee), vsize, value: satsOf(value) }));
  }

  #json<T>(path: string): Promise<T> {
    return this.#client.json<T>(`${this.#path}${path}`);
  }
}

/** What people type is not part of the path's structure. */
const pathOf = ({ kind, text }: Subject): string => `/${kind}/${encodeURIComponent(text)}`;

export function blockOf(block: ApiBlock): Block {
  const { id, height, timestamp, mediantime, version, merkle_root, previousblockhash, nonce, bits, difficulty, tx_count, size, weight } =
    block;
  return {
    hash: id,
    height,
    time: timestamp,
    medianTime: mediantime,
    version,
    merkleRoot: merkle_root,
    previous: previousblockhash ?? undefined,
    nonce,
    bits,
    difficulty,
    transactions: tx_count,
    size,
    weight
  };
}

/** `blocksBefore`: where that is known. */
export function poolPlaceOf(
  { ancestors, descendants = [], effectiveFeePerVsize: rate }: ApiRelatives,
  blocksBefore?: number
): PoolPlace | undefined {
  if (rate === undefined) return undefined;
  const others = [...ancestors, ...descendants].map(({ txid, fee, weight }) => ({ txid, fee: satsOf(fee), vsize: vsizeOf(weight) }));
  return { rate, others, blocksBefore };
}

function transactionOf({ txid, version, locktime, vin, vout, size, weight, fee, status }: ApiTransaction): Transaction {
  return {
    txid,
    version,
    locktime,
    size,
    weight,
    fee: satsOf(fee),
    inputs: vin.map(inputOf),
    outputs: vout.map(outputOf),
    confirmation: confirmationOf(status)
  };
}

function inputOf(input: ApiInput): Input {
  return {
    txid: input.txid,
    vout: input.vout,
    spent: input.prevout === null ? undefined : outputOf(input.prevout),
    isCoinbase: input.is_coinbase,
    script: input.scriptsig,
    asm: input.scriptsig_asm,
    witness: input.witness ?? [],
    sequence: input.sequence,
    redeemScript: input.inner_redeemscript_asm,
    witnessScript: input.inner_witnessscript_asm
  };
}

function outputOf({ scriptpubkey, scriptpubkey_asm, scriptpubkey_type, scriptpubkey_address, value }: ApiOutput): Output {
  return { value: satsOf(value), script: scriptpubkey, asm: scriptpubkey_asm, kind: scriptpubkey_type, address: scriptpubkey_address };
}

function confirmationOf({ confirmed, block_height, block_hash, block_time }: ApiStatus): Confirmation | undefined {
  if (!confirmed || block_height === undefined || block_hash === undefined || block_time === undefined) return undefined;
  return { height: block_height, hash: block_hash, time: block_time };
}

function sumsOf({ tx_count, funded_txo_count, funded_txo_sum, spent_txo_count, spent_txo_sum }: ApiSums): Sums {
  return {
    transactions: tx_count,
    funded: { count: funded_txo_count, value: satsOf(funded_txo_sum) },
    spent: { count: spent_txo_count, value: satsOf(spent_txo_sum) }
  };
}
