// Parts of states in words, for the log and for clients that are refused meanwhile.

const COUNT = new Intl.NumberFormat('en-US');

/** `412,000`. */
export const grouped = (count: number): string => COUNT.format(count);

/** `4.5 MB`. */
export const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;

/** `412,000 of 900,000 (45%)`. */
export function reached({ height, target }: { readonly height: number; readonly target: number }): string {
  return `${grouped(height)} of ${grouped(target)} (${percent(height, target)})`;
}

/** Truncated, not rounded: 100 % is shown only when the work is done. */
export const percent = (part: number, whole: number): string => `${whole > 0 ? Math.floor((part / whole) * 100) : 0}%`;

/** A text as a line of the log. */
export const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
