// Which x coordinates are on the curve of Bitcoin's keys, secp256k1 (SEC 2): those for which x^3 + 7 is a square modulo P.

const P = 2n ** 256n - 2n ** 32n - 977n;

/** True for a public key of BIP340 from `start` on: 32 bytes, big endian, the x coordinate of a point. */
export function isXOnlyKey(bytes: Buffer, start = 0): boolean {
  const x = BigInt(`0x${bytes.toString('hex', start, start + 32)}`);
  return x < P && isSquare((x * x * x + 7n) % P);
}

/** By the Jacobi symbol of the number modulo P, which is quicker than a square root. The number must not be 0. */
function isSquare(value: bigint): boolean {
  let [top, bottom, symbol] = [value, P, 1];
  while (top !== 0n) {
    for (; (top & 1n) === 0n; top >>= 1n) {
      // 2 is not a square modulo a number that is 3 or 5 modulo 8.
      const rest = bottom & 7n;
      if (rest === 3n || rest === 5n) symbol = -symbol;
    }
    // Quadratic reciprocity: the sign changes where both are 3 modulo 4.
    if ((top & bottom & 3n) === 3n) symbol = -symbol;
    [top, bottom] = [bottom % top, top];
  }
  return symbol === 1;
}
