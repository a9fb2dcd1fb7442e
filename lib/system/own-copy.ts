/** A copy with memory of its own: a view, or unused space at its end, would keep more memory for as long as the bytes are kept. */
export function ownCopy(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}
