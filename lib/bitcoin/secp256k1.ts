// Which x coordinates are on the curve of Bitcoin's keys, secp256k1 (SEC 2): those for which x^3 + 7 is a square modulo P. Whether it is
// one, its Jacobi symbol says, by the law of quadratic reciprocity and in the steps of Euclid's algorithm; a root would cost several times as much.

const P = 2n ** 256n - 2n ** 32n - 977n;

/** Of which trailing zeros are counted at once. */
const LOW_ZEROS = 30;
const LOW_BITS = (1n << BigInt(LOW_ZEROS)) - 1n;

/** True for a public key of BIP340 from `start` on: 32 bytes, big endian, the x coordinate of a point. */
export function isXOnlyKey(bytes: Buffer, start = 0): boolean {
  const x = BigInt(`0x${bytes.toString('hex', start, start + 32)}`);
  return x < P && jacobi((x * x * x + 7n) % P, P) === 1;
}

/** The Jacobi symbol of `top` over an odd `bottom`: modulo a prime, 1 for squares but zero, -1 for what is none. */
function jacobi(top: bigint, bottom: bigint): number {
  let symbol = 1;
  while (top !== 0n) {
    // 2 is a square modulo what is 1 or 7 modulo 8.
    for (let low = Number(top & LOW_BITS); (low & 1) === 0; low = Number(top & LOW_BITS)) {
      const zeros = low === 0 ? LOW_ZEROS : 31 - Math.clz32(low & -low);
      const remainder = Number(bottom & 7n);
      if ((zeros & 1) === 1 && (remainder === 3 || remainder === 5)) symbol = -symbol;
      top >>= BigInt(zeros);
    }
    if ((top & bottom & 3n) === 3n) symbol = -symbol;
    [top, bottom] = [bottom % top, top];
  }
  return bottom === 1n ? symbol : 0;
}
