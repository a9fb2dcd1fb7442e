// Numbers and truth values as items of the stack (CScriptNum, CastToBool).

import { scriptNumber } from '../../bitcoin/script';
import { ScriptFailure } from '../script-error';

const LONGEST_NUMBER = 4;

const FALSE = Buffer.alloc(0);
export const TRUE = Buffer.of(1);

/** `isMinimal`: whether only the shortest form is a number. @throws ScriptFailure for another form, and for more bytes than `longest` */
export function readNumber(item: Buffer, isMinimal: boolean, longest = LONGEST_NUMBER): number {
  if (item.length > longest || (isMinimal && !isShortest(item))) throw new ScriptFailure('SCRIPTNUM');
  return scriptNumber(item, 0, item.length);
}

/** The last byte is needed for more than the sign, or for the sign. */
function isShortest(item: Buffer): boolean {
  const last = item.at(-1);
  return last === undefined || (last & 0x7f) !== 0 || ((item.at(-2) ?? 0) & 0x80) !== 0;
}

/** An integer in its shortest form. */
export function numberItem(value: number): Buffer {
  const bytes: number[] = [];
  for (let left = Math.abs(value); left > 0; left = Math.floor(left / 256)) bytes.push(left % 256);
  if (((bytes.at(-1) ?? 0) & 0x80) !== 0) bytes.push(0);
  if (value < 0) bytes.push((bytes.pop() ?? 0) | 0x80);
  return Buffer.from(bytes);
}

/** 01, or no bytes. Shared by all stacks: not to be changed. */
export const booleanItem = (value: boolean): Buffer => (value ? TRUE : FALSE);

/** Zero of any length is false, and so is negative zero. */
export function isTrue(item: Buffer): boolean {
  const last = item.length - 1;
  for (let at = 0; at <= last; at++) if (item[at] !== 0) return at < last || item[at] !== 0x80;
  return false;
}
