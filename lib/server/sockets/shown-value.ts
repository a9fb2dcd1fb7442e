/** Values that are nested deeper are not shown: `JSON.stringify` follows them in some versions of Node.js alone. */
const MOST_DEPTH = 512;

/** A JSON value that a client sent, as an error shows it: its first characters. */
export function shownValue(value: unknown, mostCharacters: number): string {
  const text = typeof value === 'string' ? value : textOf(value);
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text;
}

function textOf(value: unknown): string {
  return isTooDeep(value) ? 'a value that is nested too deep' : JSON.stringify(value);
}

function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MOST_DEPTH) return true;
    level = level.flatMap((one): unknown[] => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
}
