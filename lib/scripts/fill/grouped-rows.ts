// Packs sorted rows into records of the store: up to 64 rows of a script share one.

import { IndexError } from '../../follow/errors';
import { WriteBuffer } from '../../index/records/layout';
import { FURTHER_ROW_OVERHEAD, MOST_ROWS, ROW_KEY_LENGTH, writeFurther, writeRowKey } from '../records/row';
import { ROW_HEAD_LENGTH } from './partition-files';
import { compareHashes, positionAt, type RowStream } from './row-order';
import type { StoreWrite } from '../../store/store';

/** The writes of all records. The bytes of a write are valid until the next. @throws IndexError when the rows are not sorted */
export function* groupedRows(rows: RowStream): Generator<StoreWrite, void> {
  const group = new RowGroup();
  while (rows.next()) {
    if (!group.takes(rows)) {
      yield group.put();
      group.clear();
    }
    group.add(rows);
  }
  if (group.count > 0) yield group.put();
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

  get count(): number {
    return this.#bytes.length;
  }

  /** Whether the current row of the stream belongs in this record. @throws IndexError when it belongs before one that was added */
  takes({ bytes, start }: RowStream): boolean {
    const [lastBytes, lastStart] = [this.#bytes.at(-1), this.#starts.at(-1)];
    if (lastBytes === undefined || lastStart === undefined) return true;
    const order = compareHashes(bytes, start, lastBytes, lastStart);
    if (order > 0) return false;
    const [before, position] = [positionAt(lastBytes, lastStart), positionAt(bytes, start)];
    if (order < 0 || position.height < before.height || (position.height === before.height && position.index <= before.index))
      throw new IndexError(`a row of block ${position.height} is not in its order`);
    return this.count < MOST_ROWS;
  }

  add({ bytes, start, end }: RowStream): void {
    this.#bytes.push(bytes);
    this.#starts.push(start);
    this.#ends.push(end);
    this.#length += end - start - ROW_HEAD_LENGTH;
  }

  put(): StoreWrite {
    const target = this.#buffer.reserve(ROW_KEY_LENGTH + this.#length + this.count * FURTHER_ROW_OVERHEAD);
    let height = 0;
    let at = 0;
    for (let row = 0; row < this.count; row++) {
      const bytes = this.#bytes[row] as Buffer; // row < count; likewise below
      const start = this.#starts[row] as number;
      const position = positionAt(bytes, start);
      at =
        row === 0
          ? writeRowKey(target, 0, bytes, start, position.height, position.index)
          : writeFurther(target, at, position.height - height, position.index);
      at += bytes.copy(target, at, start + ROW_HEAD_LENGTH, this.#ends[row]);
      height = position.height;
    }
    return this.#buffer.put(ROW_KEY_LENGTH, at - ROW_KEY_LENGTH);
  }

  clear(): void {
    this.#bytes.length = this.#starts.length = this.#ends.length = this.#length = 0;
  }
}
