// The merchant's view of the chain: transactions are sent through the node, and looked up in the index and the pool.

import { acceptedPrefixes, writeAddress } from '../bitcoin/address';
import { scriptTypeOf } from '../bitcoin/script-type';
import { TextWriter } from '../bitcoin/text-writer';
import { TXID_LENGTH } from '../bitcoin/transaction';
import { NotYetKnownError } from '../index/errors';
import { TransactionRefusedError, UnreadableBlockError } from '../node/errors';
import { PaymentError } from '../payments/error';
import { notYetKnown, unavailable } from '../server/errors';
import { nextTurn, Slice, soon } from '../turns/slices';
import type { IndexReader, IndexSnapshot, TransactionLocation } from '../index/types';
import type { PoolSource } from '../node/types/pool';
import type { NodeSource } from '../node/types/source';
import type { PaymentNetwork } from '../payments/rules/request';
import type { ConfirmingBlock, MerchantChain, Standing, TracedTransaction } from './orders/chain';

/** An outpoint begins with a txid. */

export class NodeChain implements MerchantChain {
  /** BIP70 knows two networks. */
  readonly network: PaymentNetwork;
  readonly #node: NodeSource;
  readonly #reader: IndexReader;

  constructor(node: NodeSource, reader: IndexReader) {
    this.#node = node;
    this.#reader = reader;
    this.network = node.network.chain === 'main' ? 'main' : 'test';
  }

  async broadcast(transactions: readonly Buffer[]): Promise<void> {
    for (const transaction of transactions) {
      try {
        await this.#node.broadcast(transaction);
      } catch (error) {
        if (!(error instanceof TransactionRefusedError)) throw error;
        throw new PaymentError('refused', `The node does not take a transaction: ${error.message}.`, { cause: error });
      }
    }
  }

  /** On test networks in Bitcoin Core's form, which wallets know; bcoin has forms of its own there. */
  addressOf(script: Buffer): string | undefined {
    const { chain, addressPrefixes } = this.#node.network;
    const [own = addressPrefixes, ofCore = own] = acceptedPrefixes(chain, addressPrefixes);
    const type = scriptTypeOf(script);
    const writer = new TextWriter();
    // The address of a public key is that of another script.
    if (type === 'pubkey' || !writeAddress(writer, script, 0, script.length, type, ofCore)) return undefined;
    return writer.toString();
  }

  async standing(transaction: TracedTransaction, seenIn?: ConfirmingBlock): Promise<Standing> {
    await soon();
    return this.#reader.read((snapshot) => standingIn(snapshot, this.#node.pool, transaction, seenIn));
  }

  async confirmedBytes(txid: Buffer): Promise<Buffer | undefined> {
    const location = this.#reader.read((snapshot) => locationIn(snapshot, txid));
    if (location === undefined) return undefined;
    try {
      return await this.#node.rawBlockPart(location.block.hash, location.offset, location.length, location.blockLength);
    } catch (error) {
      if (error instanceof UnreadableBlockError) return undefined;
      throw error;
    }
  }
}

/** Undefined also while the index cannot tell. */
function locationIn(snapshot: IndexSnapshot, txid: Buffer): TransactionLocation | undefined {
  try {
    return snapshot.location(txid);
  } catch (error) {
    if (error instanceof NotYetKnownError) return undefined;
    throw error;
  }
}

/** What the pool has of a transaction, of the coins that it spends, and of those who spend them instead. */
interface PooledPart {
  readonly bytes: Buffer | undefined;
  /** The outpoints whose transactions are in the pool. */
  readonly unspent: ReadonlySet<Buffer>;
  readonly rival: Buffer | undefined;
}

function pooledPart({ txid, outpoints }: TracedTransaction, pool: PoolSource): PooledPart {
  const bytes = pool.transaction(txid);
  if (bytes !== undefined) return { bytes, unspent: new Set(), rival: undefined };
  const unspent = new Set(outpoints.filter((outpoint) => pool.entry(txidIn(outpoint)) !== undefined));
  for (const outpoint of outpoints) {
    const rival = pool.spender(txidIn(outpoint), indexIn(outpoint));
    if (rival !== undefined) return { bytes, unspent, rival: rival.txid };
  }
  return { bytes, unspent, rival: undefined };
}

async function standingIn(
  snapshot: IndexSnapshot,
  pool: PoolSource,
  transaction: TracedTransaction,
  seenIn: ConfirmingBlock | undefined
): Promise<Standing> {
  const confirmedIn = ({ height, hash }: ConfirmingBlock): Standing => ({
    state: 'confirmed',
    block: { height, hash },
    confirmations: snapshot.tip.height - height + 1
  });
  if (seenIn !== undefined && snapshot.heightOf(seenIn.hash) === seenIn.height) return confirmedIn(seenIn);

  const { txid, outpoints, outputs } = transaction;
  // In the turn in which the snapshot was taken: a transaction that is being confirmed is in at least one of the two.
  const pooled = pooledPart(transaction, pool);
  const slice = new Slice();
  let unknown: NotYetKnownError | undefined;
  try {
    const position = snapshot.position(txid);
    if (position !== undefined) return confirmedIn(position.block);
  } catch (error) {
    if (!(error instanceof NotYetKnownError)) throw error;
    unknown = error;
    // Coins are complete even while positions are not: an unspent output has the height of its transaction.
    for (const index of outputs) {
      const coin = snapshot.coin(txid, index);
      const block = coin && snapshot.headerAt(coin.height);
      if (block !== undefined) return confirmedIn(block);
      if (slice.isOver()) await nextTurn();
    }
  }
  if (pooled.bytes !== undefined) return { state: 'pool', bytes: pooled.bytes };
  let isUnspent = false;
  for (const outpoint of outpoints) {
    const input = pooled.unspent.has(outpoint) ? 'unspent' : inputIn(snapshot, outpoint);
    if (input === 'spent') return { state: 'conflicted' };
    isUnspent ||= input === 'unspent';
    // A Payment may spend a thousand coins, each of them on another page of the disk.
    if (slice.isOver()) await nextTurn();
  }
  if (pooled.rival !== undefined) return { state: 'replaced', by: pooled.rival };
  // If an input is unspent, the transaction itself cannot be in the chain.
  if (unknown === undefined || isUnspent) return { state: 'absent' };
  return { state: 'unknown', reason: reasonOf(unknown) };
}

/**
 * The state of a coin that a transaction spends, where that transaction is in no block whose positions the index knows.
 * `spent`: by another transaction. The index knows the position of the coin's transaction, so it also knows the later block that spent the
 * coin. `unspent`: by no transaction in the chain. Undefined: this cannot be decided.
 */
function inputIn(snapshot: IndexSnapshot, outpoint: Buffer): 'spent' | 'unspent' | undefined {
  const txid = txidIn(outpoint);
  if (snapshot.coin(txid, indexIn(outpoint)) !== undefined) return 'unspent';
  try {
    return snapshot.position(txid) === undefined ? undefined : 'spent';
  } catch (error) {
    if (error instanceof NotYetKnownError) return undefined;
    throw error;
  }
}

const txidIn = (outpoint: Buffer): Buffer => outpoint.subarray(0, TXID_LENGTH);

const indexIn = (outpoint: Buffer): number => outpoint.readUInt32LE(TXID_LENGTH);

function reasonOf({ backfill }: NotYetKnownError): string {
  return (
    backfill === undefined
      ? unavailable('the node has thrown the blocks away that would tell what became of the payment')
      : notYetKnown(backfill)
  ).message;
}
