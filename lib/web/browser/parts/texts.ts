// Texts that strangers have written, as in outputs with data and in coinbases: what cannot be seen, or would change how the rest is shown, is
// replaced by a sign of its own.

/** Control and format characters, lone surrogates, line separators, and whatever has no width. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Marks on one character beyond those that writing needs: they would be drawn over the lines above and below. */
const PILED = /(\p{M}{4})\p{M}+/gu;

/** The text with `·` in the place of each such character, and of piles of marks, cut after `most` characters. */
export function safeText(text: string, most = 2_000): string {
  const shown = text.slice(0, most).replace(UNSEEN, '·').replace(PILED, '$1·');
  return text.length > most ? `${shown}…` : shown;
}

/** What bytes in hex say as UTF-8, made safe; undefined: it is no text, or next to none of it is readable. */
export function textOfHex(hex: string, most?: number): string | undefined {
  const bytes = bytesOfHex(hex);
  if (bytes === undefined || bytes.length === 0) return undefined;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  const readable = text.replace(UNSEEN, '').replaceAll('\ufffd', '');
  return readable.length * 4 < text.length * 3 ? undefined : safeText(text, most);
}

/** The runs of at least four printable ASCII characters, as in `strings`: for coinbases. */
export function readableRuns(hex: string): string {
  const bytes = bytesOfHex(hex) ?? new Uint8Array();
  const text = Array.from(bytes, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '\n')).join('');
  return text
    .split('\n')
    .filter((run) => run.length >= 4)
    .join(' ');
}

function bytesOfHex(hex: string): Uint8Array | undefined {
  if (!/^([0-9a-f]{2})*$/i.test(hex)) return undefined;
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}
