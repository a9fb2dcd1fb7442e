// Where a text that should be bech32 or bech32m has its errors, in Bitcoin Core's words (bech32::LocateErrors). The checksum is linear: what
// is left over of a text with one or two wrong symbols is the sum of what each of them adds, and all such sums are tried.

import { BECH32_CONSTANT, BECH32M_CONSTANT, checksumOfPrefix, step, symbolOf, CHECKSUM_SYMBOLS, MAX_LENGTH } from './bech32';

export interface LocatedErrors {
  readonly message: string;
  /** Characters, from 0, in rising order; empty: not known. */
  readonly places: readonly number[];
}

const SYMBOLS = 32;

/** Characters behind the longest text that are named: the text may have millions. */
const MOST_PLACES = 1_000;

/** Where a text that is no valid bech32 or bech32m has its errors. */
export function locateErrors(text: string): LocatedErrors {
  if (text.length > MAX_LENGTH) {
    const count = Math.min(text.length - MAX_LENGTH, MOST_PLACES);
    return { message: 'Bech32 string too long', places: Array.from({ length: count }, (_, i) => MAX_LENGTH + i) };
  }
  const misplaced = wrongCharacters(text);
  if (misplaced.length > 0) return { message: 'Invalid character or mixed case', places: misplaced };
  const separator = text.lastIndexOf('1');
  if (separator < 0) return { message: 'Missing separator', places: [] };
  if (separator === 0 || separator + CHECKSUM_SYMBOLS >= text.length) return { message: 'Invalid separator position', places: [separator] };
  const lower = text.toLowerCase();
  const symbols: number[] = [];
  for (let i = separator + 1; i < text.length; i++) {
    const symbol = symbolOf(lower.charCodeAt(i));
    if (symbol === undefined) return { message: 'Invalid Base 32 character', places: [i] };
    symbols.push(symbol);
  }
  const checksum = symbols.reduce(step, checksumOfPrefix(lower.slice(0, separator)));
  let found: LocatedErrors = { message: 'Invalid checksum', places: [] };
  for (const [name, constant] of [
    ['Bech32', BECH32_CONSTANT],
    ['Bech32m', BECH32M_CONSTANT]
  ] as const) {
    const places = wrongSymbols(checksum ^ constant, symbols.length).map((place) => separator + 1 + place);
    if (places.length > 0 && (found.places.length === 0 || places.length < found.places.length))
      found = { message: `Invalid ${name} checksum`, places };
  }
  return found;
}

/** Characters that cannot be there, and those of the case that comes second. */
function wrongCharacters(text: string): number[] {
  const places: number[] = [];
  let [hasLower, hasUpper] = [false, false];
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i);
    if (/[a-z]/.test(character)) {
      if (hasUpper) places.push(i);
      else hasLower = true;
    } else if (/[A-Z]/.test(character)) {
      if (hasLower) places.push(i);
      else hasUpper = true;
    } else if (!/[!-~]/.test(character)) places.push(i);
  }
  return places;
}

/** One or two places among `count` symbols where other ones would leave nothing over. */
function wrongSymbols(left: number, count: number): number[] {
  /** By what an error adds. */
  const places = new Map<number, number>();
  for (let error = 1; error < SYMBOLS; error++) {
    let added = error;
    for (let place = count - 1; place >= 0; place--) {
      places.set(added, place);
      added = step(added, 0);
    }
  }
  const alone = places.get(left);
  if (alone !== undefined) return [alone];
  for (const [added, place] of places) {
    const other = places.get(left ^ added);
    if (other !== undefined && other !== place) return [place, other].sort((a, b) => a - b);
  }
  return [];
}
