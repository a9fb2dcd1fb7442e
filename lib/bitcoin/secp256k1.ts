// Which x coordinates are on the curve of Bitcoin's keys, secp256k1 (SEC 2): those for which x^3 + 7 is a square modulo P.

const P = 2n ** 256n - 2n ** 32n - 977n;

/** Of 32 low bits this many are shifted out at once: of the others, three are needed. */
const MOST_ZEROS = 25;

/** True for a public key of BIP340 from `start` on: 32 bytes, big endian, the x coordinate of a point. */
export function isXOnlyKey(bytes: Buffer, start = 0): boolean {
  const x = BigInt(`0x${bytes.toString('hex', start, start + 32)}`);
  return x < P && isSquare((x * x * x + 7n) % P);
}

/** A compressed public key. */
export const KEY_LENGTH = 33;
/** An uncompressed or hybrid one. */
export const LONG_KEY_LENGTH = 65;

/** True for a public key in any of the forms of SEC 1: compressed, uncompressed, or hybrid. */
export function isPublicKey(key: Buffer): boolean {
  const [form = 0] = key;
  if (key.length === KEY_LENGTH) return (form === 2 || form === 3) && isXOnlyKey(key, 1);
  if (key.length !== LONG_KEY_LENGTH || (form !== 4 && form !== 6 && form !== 7)) return false;
  const x = BigInt(`0x${key.toString('hex', 1, KEY_LENGTH)}`);
  const y = BigInt(`0x${key.toString('hex', KEY_LENGTH)}`);
  const isOdd = (y & 1n) === 1n;
  return x < P && y < P && (y * y - x * x * x - 7n) % P === 0n && (form === 4 || isOdd === (form === 7));
}

const lowBits = (value: bigint): number => Number(BigInt.asUintN(32, value)) | 0;

/** By the Jacobi symbol of the number modulo P, which is quicker than a square root. The number must not be 0. */
function isSquare(value: bigint): boolean {
  let [top, bottom, low] = [value, P, lowBits(P)];
  /** The lowest bit says whether the symbol is negative. */
  let sign = 0;
  while (top !== 0n) {
    const bits = lowBits(top);
    const zeros = bits === 0 ? MOST_ZEROS : Math.min(MOST_ZEROS, 31 - Math.clz32(bits & -bits));
    top >>= BigInt(zeros);
    // 2 is not a square modulo a number that is 3 or 5 modulo 8.
    sign ^= zeros & ((low >>> 1) ^ (low >>> 2));
    const odd = bits >>> zeros;
    if ((odd & 1) === 0) continue;
    // Quadratic reciprocity: the sign changes where both are 3 modulo 4.
    sign ^= (odd & low) >>> 1;
    [top, bottom, low] = [bottom % top, top, odd];
  }
  return (sign & 1) === 0;
}
