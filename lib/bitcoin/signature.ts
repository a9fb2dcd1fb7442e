// What Bitcoin Core takes for a signature when it prints a scriptSig: strict DER (BIP66)
// with a defined hash type behind it. The values of R and S are not looked at.

const HASH_TYPES: ReadonlyMap<number, string> = new Map([
  [0x01, '[ALL]'],
  [0x02, '[NONE]'],
  [0x03, '[SINGLE]'],
  [0x81, '[ALL|ANYONECANPAY]'],
  [0x82, '[NONE|ANYONECANPAY]'],
  [0x83, '[SINGLE|ANYONECANPAY]']
]);

const MIN_LENGTH = 9;
const MAX_LENGTH = 73;
const DER_SEQUENCE = 0x30;
const DER_INTEGER = 0x02;

/** A DER integer of `length` bytes at `at`: not empty, not negative, not padded. */
function isStrictInteger(bytes: Buffer, at: number, length: number): boolean {
  const first = bytes[at] as number; // the caller has checked the bounds
  const second = bytes[at + 1] as number;
  return length > 0 && first < 0x80 && !(length > 1 && first === 0 && second < 0x80);
}

/** IsValidSignatureEncoding of Bitcoin Core: 0x30 [length] 0x02 [R length] R 0x02 [S length] S [hash type]. */
function isStrictSignature(bytes: Buffer, start: number, length: number): boolean {
  if (length < MIN_LENGTH || length > MAX_LENGTH || bytes[start] !== DER_SEQUENCE || bytes[start + 1] !== length - 3)
    return false;
  const lengthOfR = bytes[start + 3] as number; // at least MIN_LENGTH bytes are there
  if (5 + lengthOfR >= length)
    return false;
  const lengthOfS = bytes[start + 5 + lengthOfR] as number; // checked by the line before
  return lengthOfR + lengthOfS + 7 === length
    && bytes[start + 2] === DER_INTEGER && isStrictInteger(bytes, start + 4, lengthOfR)
    && bytes[start + 4 + lengthOfR] === DER_INTEGER && isStrictInteger(bytes, start + 6 + lengthOfR, lengthOfS);
}

/** The name of the hash type, in brackets, of a push that has the form of a signature; undefined for any other push. */
export function signatureHashType(bytes: Buffer, start: number, end: number): string | undefined {
  if (!isStrictSignature(bytes, start, end - start))
    return undefined;
  return HASH_TYPES.get(bytes[end - 1] as number); // a signature is not empty
}
