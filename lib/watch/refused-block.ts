// A block of the node's chain that other nodes refuse, and the file in which it is kept: after a restart it may lie deeper than blocks are
// looked at, and a node that prunes may no longer have it.

import { readFile, rm } from 'node:fs/promises';
import { isMissingFile } from '../system/system-errors';
import { fromDisplayHex, toDisplayHex } from '../bitcoin/hash';
import { messageOf } from '../system/error-text';
import { writePrivate } from '../system/private-file';
import type { BlockPoint } from '../node/types/chain';

export interface RefusedBlock extends BlockPoint {
  /** Which input of which transaction, and why, in words. */
  readonly fault: string;
}

/** For operators. */
export const refusedText = ({ height, hash, fault }: RefusedBlock): string =>
  `Block ${height} (${toDisplayHex(hash)}) of this node's chain is refused by other nodes (${fault}).`;

export class RefusedBlockFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Undefined: there is none. @throws RefusedBlockFileError when the file cannot be read, or has something else in it */
  async read(): Promise<RefusedBlock | undefined> {
    try {
      return parsed(await readFile(this.#path, 'utf8'));
    } catch (error) {
      if (isMissingFile(error)) return undefined;
      throw new RefusedBlockFileError(`${this.#path} cannot be read: ${messageOf(error)}`, { cause: error });
    }
  }

  /** `block`: the one to keep; undefined: none. @throws errors of the file system */
  async write(block: RefusedBlock | undefined): Promise<void> {
    if (block === undefined) {
      await rm(this.#path, { force: true });
      return;
    }
    const { height, hash, fault } = block;
    await writePrivate(this.#path, `${JSON.stringify({ height, hash: toDisplayHex(hash), fault })}\n`);
  }
}

export class RefusedBlockFileError extends Error {
  override readonly name = 'RefusedBlockFileError';
}

/** @throws SyntaxError, TypeError */
function parsed(text: string): RefusedBlock {
  const { height, hash, fault } = JSON.parse(text) as Record<string, unknown>;
  if (!Number.isSafeInteger(height) || typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash) || typeof fault !== 'string')
    throw new TypeError('expected a block');
  return { height: height as number, hash: fromDisplayHex(hash), fault };
}
