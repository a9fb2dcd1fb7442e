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

/** The number of members of all objects in a value, which is nested no deeper than the stack allows. */
export function membersIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const isList = Array.isArray(value);
  // A copy of a long list would take longer than the count.
  const items: readonly unknown[] = isList ? value : Object.values(value);
  let members = isList ? 0 : items.length;
  for (const item of items) members += membersIn(item);
  return members;
}

/** Half of a surrogate pair, which is no character. */
export const HALF_A_PAIR = /\p{Surrogate}/u;

/** Whether a text or a name in a value, which is nested no deeper than the stack allows, has one. A reviver of JSON.parse is ten times as slow. */
export function hasHalfAPair(value: unknown): boolean {
  if (typeof value === 'string') return HALF_A_PAIR.test(value);
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasHalfAPair);
  return Object.keys(value).some(hasHalfAPair) || Object.values(value).some(hasHalfAPair);
}
