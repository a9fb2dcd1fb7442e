// Transactions as bcoin has them, made of their bytes. bcoin reads a transaction in one piece, which takes up to a seventh of a second for a
// megabyte of small parts. A large one is put together here instead, in slices, and comes to be what bcoin would have read.

import { ByteReader } from '../bitcoin/reader';
import { SEQUENCE_LENGTH, type ScannedTransaction } from '../bitcoin/transaction';
import { nextTurn, Slice } from '../turns/slices';
import { UnreadableTransactionError } from './errors';
import type { HostNode, HostOutput, HostPartClass, HostTransaction, HostTransactionClass, HostWitness, UnfinishedInput } from './host';

/** bcoin reads as many bytes in some milliseconds. */
const MOST_READ_AT_ONCE = 20_000;

/** bcoin's classes. */
interface Classes {
  readonly transaction: HostTransactionClass;
  readonly input: HostPartClass<UnfinishedInput>;
  readonly output: HostPartClass<HostOutput>;
  readonly witness: HostPartClass<HostWitness>;
}

export class HostTransactions {
  readonly #host: Pick<HostNode, 'chain' | 'network'>;
  #classes: Promise<Classes> | undefined;

  constructor(host: Pick<HostNode, 'chain' | 'network'>) {
    this.#host = host;
  }

  /** @throws UnreadableTransactionError */
  async read(scanned: ScannedTransaction): Promise<HostTransaction> {
    const classes = await (this.#classes ??= this.#findClasses());
    try {
      return scanned.length > MOST_READ_AT_ONCE ? await putTogether(scanned, classes) : classes.transaction.fromRaw(scanned.raw);
    } catch (error) {
      throw new UnreadableTransactionError('it cannot be read', { cause: error });
    }
  }

  /** The node's own classes, taken from its genesis block: requiring bcoin would load a second copy of bcoin. */
  async #findClasses(): Promise<Classes> {
    const genesis = await this.#host.chain.getBlock(this.#host.network.genesis.hash);
    const [coinbase] = genesis?.txs ?? [];
    const [input] = coinbase?.inputs ?? [];
    const [output] = coinbase?.outputs ?? [];
    if (coinbase === undefined || input === undefined || output === undefined) throw new Error('the node has no genesis block');
    // bcoin's types do not say what a constructor is.
    return {
      transaction: coinbase.constructor as unknown as HostTransactionClass,
      input: input.constructor as unknown as HostPartClass<UnfinishedInput>,
      output: output.constructor as unknown as HostPartClass<HostOutput>,
      witness: input.witness.constructor as unknown as HostPartClass<HostWitness>
    };
  }
}

async function putTogether(scanned: ScannedTransaction, classes: Classes): Promise<HostTransaction> {
  const { bytes, hasWitness, length } = scanned;
  const made = new classes.transaction();
  made.version = bytes.readUInt32LE(scanned.offset);
  made.locktime = scanned.locktime;
  const slice = new Slice();
  for (const { offset, scriptOffset, scriptLength } of scanned.inputs) {
    made.inputs.push(classes.input.fromRaw(bytes.subarray(offset, scriptOffset + scriptLength + SEQUENCE_LENGTH)));
    if (slice.isOver()) await nextTurn();
  }
  for (const { offset, scriptOffset, scriptLength } of scanned.outputs) {
    made.outputs.push(classes.output.fromRaw(bytes.subarray(offset, scriptOffset + scriptLength)));
    if (slice.isOver()) await nextTurn();
  }
  const reader = new ByteReader(bytes, scanned.witnessOffset);
  for (const input of hasWitness ? made.inputs : []) {
    const start = reader.offset;
    for (let items = reader.compactSize(); items > 0; items--) reader.skip(reader.compactSize());
    input.witness = classes.witness.fromRaw(bytes.subarray(start, reader.offset));
    if (slice.isOver()) await nextTurn();
  }
  await nextTurn();
  // The request's bytes may be a part of more.
  made._raw = Buffer.from(scanned.raw);
  made._size = length;
  made._witness = length - scanned.strippedLength;
  // Kept once they are known: bcoin would take longer for them.
  made._hash = scanned.txid;
  if (hasWitness) made._whash = scanned.wtxid;
  return made;
}
