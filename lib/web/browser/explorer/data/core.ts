// The data of Bitcoin Core's REST interface, which knows nothing by script: no addresses, no spends, no fee estimates.

import { satsOfBtc, type Sats } from '../../parts/amounts';
import { bandsOf } from '../pool/bands';
import { NotFoundError, RefusedError, type Client } from './client';
import { pooledTransactions } from './pooled';
import { PAGE, type Source } from './source';
import type { Block, Confirmation, Input, Output, Place, Pool, Tip, Transaction } from './types';

/** Fetched from one block up for a row of blocks. */
const BLOCKS = 10;

/** Transactions whose outputs are spent are fetched one by one, at most this many. */
const MOST_SPENT = 25;

/** A pool with more transactions is not fetched. */
const MOST_POOLED = 5_000;

interface RestHeader {
  readonly hash: string;
  readonly height: number;
  readonly version: number;
  readonly merkleroot: string;
  readonly time: number;
  readonly mediantime: number;
  readonly nonce: number;
  /** Hex. */
  readonly bits: string;
  readonly difficulty: number | string;
  readonly nTx: number;
  readonly previousblockhash?: string;
  readonly nextblockhash?: string;
  readonly confirmations: number;
}

interface RestBlock extends RestHeader {
  readonly size: number;
  readonly weight: number;
  readonly tx: readonly string[];
}

interface RestScript {
  readonly asm: string;
  readonly hex: string;
}

interface RestOutput {
  readonly value: string | number;
  readonly scriptPubKey: RestScript & { readonly type: string; readonly address?: string; readonly addresses?: readonly string[] };
}

interface RestInput {
  readonly txid?: string;
  readonly vout?: number;
  readonly coinbase?: string;
  readonly scriptSig?: RestScript;
  readonly txinwitness?: readonly string[];
  readonly sequence: number;
}

interface RestTransaction {
  readonly txid: string;
  readonly version: number;
  readonly locktime: number;
  readonly size: number;
  readonly weight: number;
  readonly vin: readonly RestInput[];
  readonly vout: readonly RestOutput[];
  readonly blockhash?: string;
  readonly hex?: string;
}

/** Bitcoin Core's names of kinds of scripts, as Esplora has them. */
const KINDS: Readonly<Record<string, string>> = {
  pubkey: 'p2pk',
  pubkeyhash: 'p2pkh',
  scripthash: 'p2sh',
  multisig: 'multisig',
  nulldata: 'op_return',
  witness_v0_keyhash: 'v0_p2wpkh',
  witness_v0_scripthash: 'v0_p2wsh',
  witness_v1_taproot: 'v1_p2tr',
  anchor: 'p2a'
};

export class CoreSource implements Source {
  readonly scripts = undefined;
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  async tip(): Promise<Tip> {
    const { blocks, bestblockhash } = await this.#json<{ blocks: number; bestblockhash: string }>('/chaininfo');
    return { height: blocks, hash: bestblockhash };
  }

  async blocks(from?: number): Promise<readonly Block[]> {
    const top = from ?? (await this.tip()).height;
    const lowest = Math.max(0, top - BLOCKS + 1);
    const headers = await this.#headers(await this.hashAt(lowest), top - lowest + 1);
    return headers.map((header) => blockOf(header)).reverse();
  }

  async block(hash: string): Promise<Block> {
    return blockOf(await this.#block(hash));
  }

  async hashAt(height: number): Promise<string> {
    return (await asNotFound(this.#json<{ blockhash: string }>(`/blockhashbyheight/${height}`))).blockhash;
  }

  async placeOf({ hash }: Block): Promise<Place> {
    const [header] = await this.#headers(hash, 1);
    return { isInChain: header !== undefined && header.confirmations > 0, next: header?.nextblockhash };
  }

  async transactionsOf({ hash, height, time }: Block, start: number): Promise<readonly Transaction[]> {
    const { tx } = await this.#block(hash);
    const confirmation = { height, hash, time };
    const found = tx.slice(start, start + PAGE).map((txid) => this.#transaction(txid));
    return (await Promise.all(found)).map((each) => transactionOf(each, confirmation, undefined));
  }

  async transaction(txid: string): Promise<Transaction> {
    const found = await this.#transaction(txid);
    const { vin, blockhash } = found;
    const [confirmation, spent] = await Promise.all([
      blockhash === undefined ? undefined : this.#confirmation(blockhash),
      this.#spentBy(vin)
    ]);
    return transactionOf(found, confirmation, spent);
  }

  hex(txid: string): Promise<string> {
    return this.#client.text(`/rest/tx/${txid}.hex`).then((text) => text.trim());
  }

  async kindOf(hash: string): Promise<'block' | 'transaction' | undefined> {
    const headers = await this.#headers(hash, 1).catch(unlessMissing);
    if (headers !== undefined && headers.length > 0) return 'block';
    return (await this.#transaction(hash).catch(unlessMissing)) && 'transaction';
  }

  async pool(): Promise<Pool> {
    const { size, bytes } = await this.#json<{ size: number; bytes: number }>('/mempool/info');
    if (size > MOST_POOLED) return { count: size, vsize: bytes, fees: undefined, bands: undefined };
    const pooled = await pooledTransactions(this.#client);
    const total = pooled.reduce((sum, { fee }) => sum + fee, 0n);
    return { count: pooled.length, vsize: pooled.reduce((sum, { vsize }) => sum + vsize, 0), fees: total, bands: bandsOf(pooled) };
  }

  /** The outputs that inputs spend; undefined where they were not looked up. */
  async #spentBy(inputs: readonly RestInput[]): Promise<ReadonlyMap<string, RestTransaction>> {
    const txids = [...new Set(inputs.flatMap(({ txid }) => txid ?? []))].slice(0, MOST_SPENT);
    const found = await Promise.all(txids.map((txid) => this.#transaction(txid).catch(() => undefined)));
    return new Map(found.flatMap((each) => (each === undefined ? [] : [[each.txid, each]])));
  }

  async #confirmation(hash: string): Promise<Confirmation | undefined> {
    const [header] = await this.#headers(hash, 1);
    return header && { height: header.height, hash, time: header.time };
  }

  #headers(hash: string, count: number): Promise<readonly RestHeader[]> {
    return asNotFound(this.#json(`/headers/${count}/${hash}`));
  }

  #block(hash: string): Promise<RestBlock> {
    return asNotFound(this.#json(`/block/notxdetails/${hash}`));
  }

  #transaction(txid: string): Promise<RestTransaction> {
    return asNotFound(this.#json(`/tx/${txid}`));
  }

  #json<T>(path: string): Promise<T> {
    return this.#client.json<T>(`/rest${path}.json`, { decimals: true });
  }
}

/** Bitcoin Core refuses some of what it does not have. */
function asNotFound<T>(asked: Promise<T>): Promise<T> {
  return asked.catch((error: unknown) => {
    throw error instanceof RefusedError ? new NotFoundError(error.message, { cause: error }) : error;
  });
}

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof NotFoundError)) throw error;
}

function blockOf(header: RestHeader & Partial<RestBlock>): Block {
  const { hash, height, time, mediantime, version, merkleroot, previousblockhash, nonce, bits, difficulty, nTx, size, weight } = header;
  return {
    hash,
    height,
    time,
    medianTime: mediantime,
    version,
    merkleRoot: merkleroot,
    previous: previousblockhash,
    nonce,
    bits: Number.parseInt(bits, 16),
    difficulty: Number(difficulty),
    transactions: nTx,
    size,
    weight
  };
}

function transactionOf(
  { txid, version, locktime, size, weight, vin, vout }: RestTransaction,
  confirmation: Confirmation | undefined,
  spent: ReadonlyMap<string, RestTransaction> | undefined
): Transaction {
  const inputs = vin.map((input) => inputOf(input, spent));
  const outputs = vout.map(outputOf);
  return { txid, version, locktime, size, weight, fee: feeOf(inputs, outputs), inputs, outputs, confirmation };
}

function feeOf(inputs: readonly Input[], outputs: readonly Output[]): Sats | undefined {
  if (inputs.some(({ isCoinbase }) => isCoinbase)) return 0n;
  let fee = 0n;
  for (const { spent } of inputs) {
    if (spent === undefined) return undefined;
    fee += spent.value;
  }
  for (const { value } of outputs) fee -= value;
  return fee;
}

function inputOf(input: RestInput, spent: ReadonlyMap<string, RestTransaction> | undefined): Input {
  const { txid = '0'.repeat(64), vout = 0xffff_ffff, coinbase, scriptSig, txinwitness = [], sequence } = input;
  const output = spent?.get(txid)?.vout[vout];
  return {
    txid,
    vout,
    spent: output && outputOf(output),
    isCoinbase: coinbase !== undefined,
    script: coinbase ?? scriptSig?.hex ?? '',
    asm: scriptSig?.asm ?? '',
    witness: txinwitness,
    sequence,
    redeemScript: undefined,
    witnessScript: undefined
  };
}

function outputOf({ value, scriptPubKey: { asm, hex, type, address, addresses } }: RestOutput): Output {
  const only = address ?? (addresses?.length === 1 && type !== 'pubkey' ? addresses[0] : undefined);
  return { value: satsOfBtc(String(value)), script: hex, asm, kind: KINDS[type] ?? 'unknown', address: only };
}
