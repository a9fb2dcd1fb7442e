import { scanShortJson } from '../../server/json/scan';
import type { HttpError } from '../../server/errors';

export interface ListErrors {
  /** The body is no list of strings. */
  readonly none: () => HttpError;
  readonly tooMany: (most: number) => HttpError;
}

/** The strings of a body, which is a JSON array of `most` strings at most. What has more values is not parsed. @throws HttpError */
export function stringsIn(body: Buffer, most: number, { none, tooMany }: ListErrors): string[] {
  const scan = scanShortJson(body, { items: most, values: 1, names: 0, allValues: most + 1 });
  if (scan === 'items') throw tooMany(most);
  const list = typeof scan === 'string' ? undefined : parsed(body);
  if (!Array.isArray(list) || !list.every((item) => typeof item === 'string')) throw none();
  return list;
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
