// What can be asked about: transactions, scripts and blocks of the chain's newest part.

import { scriptHashOf } from '../bitcoin/hash';
import { HEADER_LENGTH } from '../bitcoin/header';
import { ByteReader } from '../bitcoin/reader';
import { readTransaction } from '../bitcoin/transaction';
import { nextTurn, Slice } from '../turns/slices';
import type { IndexReader } from '../index/types';
import type { BlockPoint } from '../node/types/chain';
import type { NodeSource } from '../node/types/source';

/** The newest blocks: some months. */
const NEWEST = 20_000;

/** The least number of transactions in them, besides coinbases: fewer are answered from memory before they have compiled anything. */
const LEAST_TRANSACTIONS = 2_000;

/** How many blocks are read, and transactions of each. */
const BLOCKS = 16;
const OF_BLOCK = 200;

/** How long it is looked for those that are wanted: a cold disk takes milliseconds for each. */
const LOOKING_MS = 500;

/** A prime number: what follows one another is of different transactions. */
const STRIDE = 7_919;

/** An output of a transaction. */
interface Payment {
  readonly txid: Buffer;
  /** Of the transaction. */
  readonly height: number;
  /** SHA-256 of its script. */
  readonly script: Buffer;
}

/** With a block that may be another one. */
export interface Subject extends Payment {
  readonly block: BlockPoint;
}

/** Those of the newest blocks that have transactions, the newest first; undefined: they have too few. */
export async function busyBlocks(reader: IndexReader): Promise<BlockPoint[] | undefined> {
  const found: BlockPoint[] = [];
  let transactions = 0;
  const slice = new Slice();
  for (let { height } = reader.read(({ tip }) => tip), last = Math.max(0, height - NEWEST); height > last; height--) {
    if (slice.isOver()) await nextTurn();
    const { hash, transactionCount = 0 } = reader.read((snapshot) => snapshot.headerAt(height)) ?? {};
    if (hash === undefined || transactionCount <= 1) continue;
    found.push({ hash, height });
    transactions += transactionCount - 1;
  }
  return transactions < LEAST_TRANSACTIONS ? undefined : found;
}

/** Whether a script, given by its SHA-256, may be asked about. */
export type IsWanted = (script: Buffer) => boolean | Promise<boolean>;

/** From some of the blocks. */
export async function subjectsIn(
  blocks: readonly BlockPoint[],
  node: Pick<NodeSource, 'rawBlock'>,
  isWanted: IsWanted
): Promise<Subject[]> {
  const found: Payment[] = [];
  const step = Math.ceil(blocks.length / BLOCKS);
  for (const { hash, height } of blocks.filter((_, i) => i % step === 0))
    for (const payment of firstPayments((await node.rawBlock(hash)) ?? Buffer.alloc(HEADER_LENGTH + 1))) found.push({ ...payment, height });
  const subjects: Subject[] = [];
  const slice = new Slice();
  const end = performance.now() + LOOKING_MS;
  for (let i = 0; i < found.length && performance.now() < end; i++) {
    if (slice.isOver()) await nextTurn();
    const payment = found[(i * STRIDE) % found.length] as Payment; // there is one
    const block = blocks[i % blocks.length];
    const wanted = isWanted(payment.script);
    if (block !== undefined && (wanted instanceof Promise ? await wanted : wanted)) subjects.push({ ...payment, block });
  }
  return subjects;
}

function firstPayments(raw: Buffer): Pick<Payment, 'txid' | 'script'>[] {
  const reader = new ByteReader(raw, HEADER_LENGTH);
  return Array.from({ length: Math.min(reader.compactSize(), OF_BLOCK) }, () => readTransaction(reader)).flatMap(
    ({ txid, outputs, isCoinbase }) => (isCoinbase ? [] : outputs.map(({ script }) => ({ txid, script: scriptHashOf(script) })))
  );
}
