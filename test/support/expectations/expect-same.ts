// Like chai's `deep.equal`, but fast enough for the millions of calls of a walk: chai is called only if something differs.

import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';

export function expectSame(found: unknown, expected: unknown, message?: string): void {
  if (found !== expected && !isDeepStrictEqual(found, expected)) expect(found, message).to.deep.equal(expected);
}

/** The same for buffers or undefined. */
export function expectSameBytes(found: Buffer | undefined, expected: Buffer | undefined, message?: string): void {
  if (found === undefined || expected?.equals(found) !== true) expect(found, message).to.deep.equal(expected);
}
