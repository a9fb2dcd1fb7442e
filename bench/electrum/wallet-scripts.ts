// The scripts of the chain on which the Electrum protocol is measured, by the length of their histories. Nothing about them is stored: a
// script follows from its name.

import { hash } from 'node:crypto';
import { toDisplayHex } from '../../lib/bitcoin/hash';

/** Scripts that are alike. */
export interface ScriptClass {
  readonly name: string;
  readonly scripts: number;
  /** Transactions of each script. */
  readonly rows: number;
  /** Whether payments are spent: then only the first one, and the last one of an even number of rows, are coins at the end. */
  readonly isSpent: boolean;
}

const classOf = (rows: number, scripts: number): ScriptClass => ({ name: `${rows} rows`, scripts, rows, isSpent: true });

export const SCRIPTS = {
  one: classOf(1, 160_000),
  ten: classOf(10, 24_000),
  hundred: classOf(100, 12_700),
  thousand: classOf(1_000, 260),
  tenThousand: classOf(10_000, 15),
  /** Only paid, never spent from. */
  coins: { name: 'coins', scripts: 180, rows: 500, isSpent: false }
} as const satisfies Record<string, ScriptClass>;

export const CLASSES: readonly ScriptClass[] = Object.values(SCRIPTS);

/** P2WPKH of the hash of a name. */
export function scriptOf(name: string): Buffer {
  return Buffer.concat([Buffer.from([0x00, 20]), hash('sha256', name, 'buffer').subarray(0, 20)]);
}

/** The hash of the script with this name, as the protocol writes it: reversed hex. */
export const hashOf = (name: string): string => toDisplayHex(hash('sha256', scriptOf(name), 'buffer'));

/** The name of a script; `index`: counted from 0. */
export const nameOf = ({ name }: ScriptClass, index: number): string => `${name} ${index}`;

/** The hashes of all scripts of a class. */
export const hashesOf = (kind: ScriptClass): string[] => Array.from({ length: kind.scripts }, (_, i) => hashOf(nameOf(kind, i)));
