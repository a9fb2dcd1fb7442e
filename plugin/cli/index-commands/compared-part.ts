// How far a comparison of an index in the order of its keys has come.

/** Kinds of records in the order of their letters, and about how much of the work they are on a long chain. */
const KINDS: readonly { readonly letter: string; readonly share: number; readonly next: 'hash' | 'height' }[] = [
  { letter: 'b', share: 0.02, next: 'hash' },
  { letter: 'd', share: 0.03, next: 'height' },
  { letter: 'h', share: 0.02, next: 'height' },
  { letter: 'l', share: 0.03, next: 'height' },
  { letter: 'o', share: 0.3, next: 'height' },
  { letter: 'p', share: 0.6, next: 'hash' }
];

/** From 0 to 1, estimated: hashes are spread evenly, and so are heights, up to that of the tip. */
export function comparedPart(key: Buffer, tipHeight: number): number {
  const letter = key.toString('latin1', 0, 1);
  let part = 0;
  for (const kind of KINDS) {
    if (letter < kind.letter) break;
    const within = letter !== kind.letter ? 1 : kind.next === 'hash' ? key.readUInt16BE(1) / 0x1_0000 : key.readUInt32BE(1) / (tipHeight + 1);
    part += kind.share * within;
  }
  return Math.min(part, 1);
}
