// The arithmetic on the curve secp256k1 that taproot needs. It comes from a library and is handed to `verifyInput`: a node that has a
// compiled one is several times as fast as WebAssembly (docs/decisions/packages.md).

/** All arguments have the stated lengths. What is no point of the curve or out of range makes the answer false; nothing is thrown. */
export interface Curve {
  /** Verifies a signature of BIP340: 64 bytes, over a message of 32 bytes, by an x-only key of 32 bytes. */
  verifySchnorr(signature: Buffer, message: Buffer, key: Buffer): boolean;
  /** Whether x-only key `tweaked`, with a y that is odd or not, is the point `key` plus `tweak` times the generator. 32 bytes each. */
  isTweaked(tweaked: Buffer, isOdd: boolean, key: Buffer, tweak: Buffer): boolean;
}

/** The order of the generator, big endian. */
const ORDER = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex');

const isBelowOrder = (bytes: Buffer, start = 0): boolean => bytes.compare(ORDER, 0, ORDER.length, start, start + ORDER.length) < 0;

/** libsecp256k1 in WebAssembly, which runs everywhere. Loading takes about 12 ms. */
export async function loadWasmCurve(): Promise<Curve> {
  const { isXOnlyPoint, verifySchnorr, xOnlyPointAddTweakCheck } = await import('tiny-secp256k1');
  // Each error that the library throws for a key that is no point leaves some of the module's stack in use: after 3,368 of them every call
  // fails. So keys are looked at first, and the library is never made to throw.
  return {
    verifySchnorr: (signature, message, key) =>
      // The first half may be up to the size of the field, which is 2^128 larger: nobody can make a signature that shows the difference.
      isBelowOrder(signature) && isBelowOrder(signature, 32) && isXOnlyPoint(key) && verifySchnorr(message, key, signature),
    isTweaked: (tweaked, isOdd, key, tweak) =>
      isBelowOrder(tweak) && isXOnlyPoint(key) && isXOnlyPoint(tweaked) && xOnlyPointAddTweakCheck(key, tweak, tweaked, isOdd ? 1 : 0)
  };
}
