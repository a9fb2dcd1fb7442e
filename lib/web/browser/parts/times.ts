// Times: Unix seconds, shown in the reader's zone and in the way of the reader's own language.

/** Made when they are first used: browsers take some milliseconds for each. */
let exact: Intl.DateTimeFormat | undefined;
let relative: Intl.RelativeTimeFormat | undefined;

const UNITS = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60]
] as const;

/** `12 Nov 2026, 14:03:21`. */
export function exactTime(seconds: number): string {
  exact ??= new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
  return exact.format(seconds * 1_000);
}

/** `5 minutes ago`; within a minute `just now`. */
export function relativeTime(seconds: number, now = Date.now() / 1_000): string {
  relative ??= new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  const ago = now - seconds;
  for (const [unit, length] of UNITS) if (Math.abs(ago) >= length) return relative.format(-Math.trunc(ago / length), unit);
  return 'just now';
}

/** A span of time, rounded up: `45 s`, `12 min`, `3 h 20 min`, `2 d 4 h`. */
export function duration(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
