// What values of JSON-RPC are once they are parsed.

/** Parameters by position in an array, or by name in an object. */
export type Params = readonly unknown[] | Readonly<Record<string, unknown>>;

export function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/** Whether parameters are given by position. */
export function isPositional(params: Params): params is readonly unknown[] {
  return Array.isArray(params);
}

/** A value as Bitcoin Core (UniValue) prints it: it escapes DEL, too. */
export const jsonText = (value: unknown): string => JSON.stringify(value).replaceAll('\u007f', '\\u007f');

/** The number of names in all objects of a value, which is nested no deeper than the stack allows. */
export function namesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) for (const item of value) count += namesIn(item);
  // Neither entries nor values: making them takes three times as long.
  else for (const name of Object.keys(value)) count += 1 + namesIn((value as Readonly<Record<string, unknown>>)[name]);
  return count;
}

/** Half of a surrogate pair, which is no character. */
export const HALF_A_PAIR = /\p{Surrogate}/u;
