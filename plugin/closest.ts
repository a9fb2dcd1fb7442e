// The word that somebody probably meant.

/** Of a word with so many letters one may be wrong. */
const LETTERS_PER_MISTAKE = 4;

/** The word with the fewest letters to change, add or leave out; undefined when none is near. */
export function closest(word: string, words: readonly string[]): string | undefined {
  const near = words
    .map((candidate) => ({ candidate, distance: distance(word, candidate) }))
    .filter((found) => found.distance <= Math.ceil(word.length / LETTERS_PER_MISTAKE))
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.candidate;
}

/** Levenshtein's. */
function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of Array.from(a).entries()) {
    const row = [i + 1];
    for (const [j, other] of Array.from(b).entries())
      row.push(Math.min((row[j] ?? 0) + 1, (above[j + 1] ?? 0) + 1, (above[j] ?? 0) + (letter === other ? 0 : 1)));
    above = row;
  }
  return above[b.length] ?? 0;
}
