// Doubles as Rust's JSON prints them (ryu): the shortest digits that are read as the same double, `.0` after whole numbers.

/** Between these places of the decimal point a double has no exponent. */
const LOWEST_POINT = -4;
const HIGHEST_POINT = 16;

/** `value`: a finite double. */
export function rustDoubleText(value: number): string {
  if (value < 0) return `-${rustDoubleText(-value)}`;
  if (value === 0) return '0.0';
  const [mantissa = '', exponent = ''] = value.toExponential().split('e');
  const digits = mantissa.replace('.', '');
  const point = Number(exponent) + 1;
  if (point < LOWEST_POINT || point > HIGHEST_POINT) return `${mantissa}e${point - 1}`;
  if (point <= 0) return `0.${'0'.repeat(-point)}${digits}`;
  return `${digits.slice(0, point).padEnd(point, '0')}.${digits.slice(point) || '0'}`;
}
