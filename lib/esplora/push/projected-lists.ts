// The transactions of the next blocks, for clients that look into one of them: once as a whole, and then what changes from one projection to
// the next. Each text is written once for all clients, when the first one needs it.

import { keyOf } from '../../bitcoin/hash';
import { NO_CLIENT } from '../../turns/client';
import { runInSlices } from '../../turns/slices';
import { changedTransaction, compressedTransaction } from '../../views/esplora/listed-transaction';
import { hashText, objectOf } from '../messages';
import type { ProjectedTransaction, Projection } from '../../pool/projection/projected-blocks';

const STEPS = 128;

type List = readonly ProjectedTransaction[];

/** `MempoolBlockDeltaCompressed` in websocket.interface.ts. */
interface Delta {
  readonly added: List;
  readonly removed: List;
  readonly changed: List;
}

/** One projection, and the one before it. */
export class ProjectedLists {
  readonly projection: Projection;
  /** Clients notice by it that they have missed a change. */
  readonly sequence: number;
  readonly #before: Projection | undefined;
  readonly #whole = new Map<number, Promise<Buffer>>();
  readonly #changes = new Map<number, Promise<Buffer>>();

  constructor(projection: Projection, before?: ProjectedLists) {
    this.projection = projection;
    this.sequence = (before?.sequence ?? 0) + 1;
    this.#before = before?.projection;
  }

  /** All transactions of a block: JSON. */
  whole(block: number): Promise<Buffer> {
    return remembered(this.#whole, block, () => this.#wholeText(block));
  }

  /** What has changed in a block, or all of it where that is less: JSON. */
  change(block: number): Promise<Buffer> {
    return remembered(this.#changes, block, async () => {
      const list = listAt(block, this.projection);
      const { added, removed, changed } = await runInSlices(deltaOf(listAt(block, this.#before), list), NO_CLIENT);
      if (added.length > list.length / 2) return this.whole(block);
      const texts = await runInSlices(rowsOf(added, compressedTransaction), NO_CLIENT);
      const delta = objectOf([
        ['added', texts],
        ['removed', `[${removed.map(({ txid }) => hashText(txid)).join(',')}]`],
        ['changed', await runInSlices(rowsOf(changed, changedTransaction), NO_CLIENT)]
      ]);
      return this.#message(block, 'delta', delta);
    });
  }

  async #wholeText(block: number): Promise<Buffer> {
    const rows = await runInSlices(rowsOf(listAt(block, this.projection), compressedTransaction), NO_CLIENT);
    return this.#message(block, 'blockTransactions', rows);
  }

  #message(block: number, name: string, text: Buffer | string): Buffer {
    return objectOf([
      ['index', String(block)],
      ['sequence', String(this.sequence)],
      [name, text]
    ]);
  }
}

function remembered(texts: Map<number, Promise<Buffer>>, block: number, make: () => Promise<Buffer>): Promise<Buffer> {
  const known = texts.get(block);
  if (known !== undefined) return known;
  const made = make();
  texts.set(block, made);
  made.catch(() => texts.delete(block));
  return made;
}

const listAt = (block: number, projection: Projection | undefined): List => projection?.blocks[block]?.transactions ?? [];

/** A transaction of which nothing has changed is the same object. */
function* deltaOf(before: List, after: List): Generator<void, Delta> {
  const left = new Map<string, ProjectedTransaction>();
  for (const [i, transaction] of before.entries()) {
    left.set(keyOf(transaction.txid), transaction);
    if (i % STEPS === 0) yield;
  }
  const [added, changed]: [ProjectedTransaction[], ProjectedTransaction[]] = [[], []];
  for (const [i, transaction] of after.entries()) {
    const key = keyOf(transaction.txid);
    const known = left.get(key);
    left.delete(key);
    if (known === undefined) added.push(transaction);
    else if (known !== transaction) changed.push(transaction);
    if (i % STEPS === 0) yield;
  }
  return { added, removed: [...left.values()], changed };
}

function* rowsOf(list: List, row: (transaction: ProjectedTransaction) => unknown[]): Generator<void, string> {
  const texts: string[] = [];
  for (const [i, transaction] of list.entries()) {
    texts.push(JSON.stringify(row(transaction)));
    if (i % STEPS === 0) yield;
  }
  return `[${texts.join(',')}]`;
}
