// What a command says, as text or as one line of JSON, and its exit code.

import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { describeRecord } from '../../../lib/index/records/describe-record';
import { describeScriptRecord } from '../../../lib/scripts/records/describe-record';
import type { BlockPoint } from '../../../lib/node/types/chain';
import type { StoreDifference } from '../../../lib/store/compare';

/** Exit codes, for scripts. */
export const EXIT = { done: 0, different: 1, usage: 2, impossible: 3, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface Report {
  readonly exit: ExitCode;
  /** The output with `--json`, where undefined values are left out; `text` is the output without it. */
  readonly json: object;
  readonly text: string;
}

/** What an index is called. */
export interface IndexNames {
  /** In sentences. */
  readonly name: string;
  /** In JSON, where its block stands. */
  readonly key: string;
  readonly describe: (recordKey: Buffer, value?: Buffer) => string;
}

export const MAIN: IndexNames = { name: 'index', key: 'index', describe: describeRecord };
export const BY_SCRIPT: IndexNames = { name: 'index by script', key: 'scripts', describe: describeScriptRecord };

/** A record that differs, or a sentence about another difference. */
export type Difference = StoreDifference | string;

interface Comparison {
  readonly tip: BlockPoint;
  readonly difference: Difference | undefined;
  /** For JSON. */
  readonly counts: object;
  /** Goes on after `The index is right: `. */
  readonly right: string;
  /** Goes on after `The index is wrong`. */
  readonly wrong?: string;
}

/** The report of `verify`. */
export function verdict({ name, key, describe }: IndexNames, { tip, difference, counts, right, wrong = '' }: Comparison): Report {
  const isRight = difference === undefined;
  const { text, json } = typeof difference === 'object' ? described(difference, describe) : { text: difference, json: difference };
  return {
    exit: isRight ? EXIT.done : EXIT.different,
    json: { verified: isRight, [key]: blockJson(tip), ...counts, difference: json },
    text: text === undefined ? `The ${name} is right: ${right}` : `The ${name} is wrong${wrong}: ${text}.`
  };
}

/** How many bytes of two records are shown from their first difference. */
const SHOWN_BYTES = 16;

/** A difference in words, with the first byte that differs, and for programs. */
export function described(
  { key, expected, found }: StoreDifference,
  describe: IndexNames['describe']
): { readonly text: string; readonly json: object } {
  const record = describe(key, expected ?? found);
  const json = { record, key: key.toString('hex') };
  if (found === undefined) return { text: `${record}: missing`, json: { ...json, kind: 'missing' } };
  if (expected === undefined) return { text: `${record}: expected no such record`, json: { ...json, kind: 'extra' } };
  let byte = 0;
  while (byte < expected.length && expected[byte] === found[byte]) byte++;
  const shown = (value: Buffer): string => value.toString('hex', byte, byte + SHOWN_BYTES) || 'its end';
  const difference = `at byte ${byte}: expected ${shown(expected)}, got ${shown(found)}`;
  return {
    text: `${record}: expected ${expected.length} bytes, got ${found.length}; ${difference}`,
    json: { ...json, kind: 'different', byte }
  };
}

/** `block 7 (00ab…)`. */
export const blockText = ({ height, hash }: BlockPoint): string => `block ${height} (${toDisplayHex(hash)})`;

export const blockJson = ({ height, hash }: BlockPoint): object => ({ height, hash: toDisplayHex(hash) });
