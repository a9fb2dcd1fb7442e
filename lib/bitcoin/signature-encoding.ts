// Whether an ECDSA signature is encoded as consensus demands, in strict DER (BIP66), and has one of the known kinds of signature hashes behind
// it, which Bitcoin Core demands of what it relays (SCRIPT_VERIFY_STRICTENC) and of a PSBT.

const SEQUENCE = 0x30;
const INTEGER = 0x02;
const NEGATIVE = 0x80;
const LEAST_LENGTH = 9;
const MOST_LENGTH = 73;

const ANYONE_CAN_PAY = 0x80;
const FIRST_KIND = 1;
const LAST_KIND = 3;

/** `signature`: with the byte for the kind of hash behind the DER (IsValidSignatureEncoding and IsDefinedHashtypeSignature of Bitcoin Core). */
export function isSignatureEncoding(signature: Buffer): boolean {
  const { length } = signature;
  if (length < LEAST_LENGTH || length > MOST_LENGTH) return false;
  const kind = (signature[length - 1] ?? 0) & ~ANYONE_CAN_PAY;
  if (kind < FIRST_KIND || kind > LAST_KIND) return false;
  // 30 length 02 length R 02 length S kind
  const rLength = signature[3] ?? 0;
  const sAt = 4 + rLength;
  if (signature[0] !== SEQUENCE || signature[1] !== length - 3 || sAt + 2 > length - 1) return false;
  const sLength = signature[sAt + 1] ?? 0;
  return rLength + sLength + 7 === length && isPositive(signature, 2) && isPositive(signature, sAt);
}

/** Whether there is an integer that is not negative, and no longer than needed. */
function isPositive(bytes: Buffer, at: number): boolean {
  const [length = 0, first = 0, second = 0] = bytes.subarray(at + 1, at + 4);
  if (bytes[at] !== INTEGER || length === 0 || (first & NEGATIVE) !== 0) return false;
  return !(length > 1 && first === 0 && (second & NEGATIVE) === 0);
}
