// As chai's `deep.equal`, which a walk would ask for millions of times: chai is asked only where something differs.

import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';

export function expectSame(found: unknown, expected: unknown, message?: string): void {
  if (found !== expected && !isDeepStrictEqual(found, expected)) expect(found, message).to.deep.equal(expected);
}

/** The same of buffers, or of none. */
export function expectSameBytes(found: Buffer | undefined, expected: Buffer | undefined, message?: string): void {
  if (found === undefined || expected?.equals(found) !== true) expect(found, message).to.deep.equal(expected);
}
