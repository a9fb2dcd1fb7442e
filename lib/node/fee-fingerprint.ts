// A fingerprint of fees, one after the other: by it a pool tells whether they are still those that somebody has seen.

/** FNV's prime; odd, so that no bit of a fee is lost. */
const FACTOR = 0x0100_0193;
const TWO_TO_32 = 0x1_0000_0000;

export class FeeFingerprint {
  /** 32 bits. */
  value = 0;

  /** `fee`: satoshis; it may be negative and longer than 32 bits, so both halves count. */
  take(fee: number): void {
    this.#mix(fee);
    this.#mix(Math.floor(fee / TWO_TO_32));
  }

  #mix(word: number): void {
    this.value = (Math.imul(this.value, FACTOR) + word) | 0;
  }
}
