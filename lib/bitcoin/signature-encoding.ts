// Whether an ECDSA signature is encoded as consensus demands, in strict DER (BIP66), and has one of the known kinds of signature hashes behind
// it, which Bitcoin Core demands of what it relays (SCRIPT_VERIFY_STRICTENC) and of a PSBT. What is in strict DER it shows as a signature.

const SEQUENCE = 0x30;
const INTEGER = 0x02;
const LEAST_LENGTH = 9;
const MOST_LENGTH = 73;

/** SIGHASH_ANYONECANPAY */
export const ANYONE_CAN_PAY = 0x80;
const FIRST_KIND = 1;
const LAST_KIND = 3;

/** Bitcoin Core's names of the kinds of hashes, by the byte behind the DER. */
export const SIGHASH_NAMES: ReadonlyMap<number | undefined, string> = new Map([
  [0x01, 'ALL'],
  [0x02, 'NONE'],
  [0x03, 'SINGLE'],
  [0x81, 'ALL|ANYONECANPAY'],
  [0x82, 'NONE|ANYONECANPAY'],
  [0x83, 'SINGLE|ANYONECANPAY']
]);

/** In strict DER, with a known kind of hash, whose byte is behind the DER (IsDefinedHashtypeSignature of Bitcoin Core). */
export function isSignatureEncoding(signature: Buffer): boolean {
  const kind = (signature.at(-1) ?? 0) & ~ANYONE_CAN_PAY;
  return kind >= FIRST_KIND && kind <= LAST_KIND && isStrictSignature(signature, 0, signature.length);
}

/** A DER integer of `length` bytes at `at`: not empty, not negative, not padded. */
function isStrictInteger(bytes: Buffer, at: number, length: number): boolean {
  const first = bytes[at] as number; // the caller has checked the bounds
  const second = bytes[at + 1] as number;
  return length > 0 && first < 0x80 && !(length > 1 && first === 0 && second < 0x80);
}

/**
 * Whether the bytes from `start` to before `end` are in strict DER (IsValidSignatureEncoding): 0x30 [length] 0x02 [R length] R 0x02
 * [S length] S [hash type]. The values of R and S do not matter.
 */
export function isStrictSignature(bytes: Buffer, start: number, end: number): boolean {
  const length = end - start;
  if (length < LEAST_LENGTH || length > MOST_LENGTH) return false;
  if (bytes[start] !== SEQUENCE || bytes[start + 1] !== length - 3) return false;
  const lengthOfR = bytes[start + 3] as number; // at least LEAST_LENGTH bytes are there
  if (5 + lengthOfR >= length) return false;
  const lengthOfS = bytes[start + 5 + lengthOfR] as number; // checked by the line before
  return (
    lengthOfR + lengthOfS + 7 === length &&
    bytes[start + 2] === INTEGER &&
    isStrictInteger(bytes, start + 4, lengthOfR) &&
    bytes[start + 4 + lengthOfR] === INTEGER &&
    isStrictInteger(bytes, start + 6 + lengthOfR, lengthOfS)
  );
}
