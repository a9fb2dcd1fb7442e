// Packs sorted rows into records of the store: up to 128 rows of a script share one.

import { IndexError } from '../../follow/errors';
import { WriteBuffer } from '../../index/records/layout';
import {
  FIRST_KEY_LENGTH,
  FURTHER_ROW_OVERHEAD,
  MOST_ROWS,
  ROW_KEY_LENGTH,
  writeFirstHead,
  writeFirstKey,
  writeFurther,
  writeRowKey
} from '../records/row';
import { ROW_HEAD_LENGTH } from './partition-files';
import { compareHashes, positionAt, type RowStream } from './row-order';
import type { StoreWrite } from '../../store/store';

/** The writes of all records. The bytes of a write are valid until the next. @throws IndexError when the rows are not sorted */
export function* groupedRows(rows: RowStream): Generator<StoreWrite, void> {
  const group = new RowGroup();
  while (rows.next()) {
    const isOfSame = group.isOfScript(rows);
    if (!isOfSame || group.isFull) {
      if (group.count > 0) yield group.put(isOfSame);
      group.clear(!isOfSame);
    }
    group.add(rows);
  }
  if (group.count > 0) yield group.put(false);
}

/** Rows of a script that will share a record. */
class RowGroup {
  readonly #buffer = new WriteBuffer();
  /** For each row with its head, the bytes that hold it, its start and its end. */
  readonly #bytes: Buffer[] = [];
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  /** Length of the rows without their heads. */
  #length = 0;
  #isFirst = true;

  get count(): number {
    return this.#bytes.length;
  }

  get isFull(): boolean {
    return this.count === MOST_ROWS;
  }

  /** Whether the current row of the stream is of the script of those that were added. @throws IndexError when it belongs before one of them */
  isOfScript({ bytes, start }: RowStream): boolean {
    const [lastBytes, lastStart] = [this.#bytes.at(-1), this.#starts.at(-1)];
    if (lastBytes === undefined || lastStart === undefined) return false;
    const order = compareHashes(bytes, start, lastBytes, lastStart);
    if (order > 0) return false;
    const [before, position] = [positionAt(lastBytes, lastStart), positionAt(bytes, start)];
    if (order < 0 || position.height < before.height || (position.height === before.height && position.index <= before.index))
      throw new IndexError(`a row of block ${position.height} is not in its order`);
    return true;
  }

  add({ bytes, start, end }: RowStream): void {
    this.#bytes.push(bytes);
    this.#starts.push(start);
    this.#ends.push(end);
    this.#length += end - start - ROW_HEAD_LENGTH;
  }

  /** `isContinued`: the next record is of the same script. */
  put(isContinued: boolean): StoreWrite {
    const target = this.#buffer.reserve(ROW_KEY_LENGTH + this.#length + this.count * FURTHER_ROW_OVERHEAD);
    const keyLength = this.#isFirst ? FIRST_KEY_LENGTH : ROW_KEY_LENGTH;
    let height = 0;
    let at = 0;
    for (let row = 0; row < this.count; row++) {
      const bytes = this.#bytes[row] as Buffer; // row < count; likewise below
      const start = this.#starts[row] as number;
      const position = positionAt(bytes, start);
      if (row > 0) at = writeFurther(target, at, position.height - height, position.index);
      else if (this.#isFirst) at = writeFirstHead(target, writeFirstKey(target, bytes, start), position, !isContinued);
      else at = writeRowKey(target, bytes, start, position.height, position.index);
      at += bytes.copy(target, at, start + ROW_HEAD_LENGTH, this.#ends[row]);
      height = position.height;
    }
    return this.#buffer.put(keyLength, at - keyLength);
  }

  /** `isFirst`: the next record is the first one of its script. */
  clear(isFirst: boolean): void {
    this.#isFirst = isFirst;
    this.#bytes.length = this.#starts.length = this.#ends.length = this.#length = 0;
  }
}
