// A request, and the check of its answer.

import { strict as assert } from 'node:assert';
import { compareFields, readJson } from './expected';

export interface Question {
  readonly path: string;
  readonly contentType: string;
  /** @throws AssertionError for a wrong answer. */
  readonly check: (body: Buffer) => void;
}

const TYPES = { bin: 'application/octet-stream', hex: 'text/plain', json: 'application/json' } as const;
export type Format = keyof typeof TYPES;

/** `query`: the part after the suffix. */
export const ask = (path: string, format: Format, check: Question['check'], query = ''): Question => ({
  path: `/rest/${path}.${format}${query}`,
  contentType: TYPES[format],
  check
});

/** The same bytes in bin and hex. */
export const asBytes = (path: string, format: 'bin' | 'hex', bytes: () => Buffer, query?: string): Question =>
  ask(
    path,
    format,
    (body) => {
      const right = bytes();
      assert.ok(
        body.equals(format === 'bin' ? right : Buffer.from(`${right.toString('hex')}\n`)),
        `${path}.${format}: other bytes than bcoin's`
      );
    },
    query
  );

export const asFields = (path: string, fields: () => unknown, query?: string): Question =>
  ask(
    path,
    'json',
    (body) => {
      assert.equal(body.at(-1), 0x0a);
      compareFields(readJson(body), fields());
    },
    query
  );
