// Addresses of scripts: base58check, bech32 (BIP173), bech32m (BIP350).

/** How the addresses of a network begin. */
export interface AddressPrefixes {
  readonly pubkeyhash: number;
  readonly scripthash: number;
  /** Human-readable part of witness addresses. */
  readonly bech32: string;
}
