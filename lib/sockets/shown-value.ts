/**
 * A JSON value that a client sent, as an error shows it: its first characters. Clients nest arrays deeper than `JSON.stringify` can follow,
 * which is recursive, while `JSON.parse` is not.
 */
export function shownValue(value: unknown, mostCharacters: number): string {
  const text = typeof value === 'string' ? value : textOf(value);
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text;
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return 'a value that is nested too deep';
  }
}
