// Texts and JSON for a difference between two records.

import { describeRecord } from '../../../lib/index/records/describe-record';
import type { StoreDifference } from '../../../lib/store/compare';

/** How many bytes of two records are shown from their first difference. */
const SHOWN_BYTES = 16;

/** Describes a record in words. */
type Describe = (key: Buffer, value?: Buffer) => string;

export function differenceText({ key, expected, found }: StoreDifference, describe: Describe = describeRecord): string {
  const what = describe(key, expected ?? found);
  if (found === undefined) return `${what}: missing`;
  if (expected === undefined) return `${what}: expected no such record`;
  const at = firstDifferentByte(expected, found);
  const shown = (value: Buffer): string => value.toString('hex', at, at + SHOWN_BYTES) || 'its end';
  return `${what}: expected ${expected.length} bytes, got ${found.length}; at byte ${at}: expected ${shown(expected)}, got ${shown(found)}`;
}

export function differenceJson({ key, expected, found }: StoreDifference, describe: Describe = describeRecord): object {
  return {
    record: describe(key, expected ?? found),
    key: key.toString('hex'),
    kind: found === undefined ? 'missing' : expected === undefined ? 'extra' : 'different',
    ...(expected && found && { byte: firstDifferentByte(expected, found) })
  };
}

function firstDifferentByte(a: Buffer, b: Buffer): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}
