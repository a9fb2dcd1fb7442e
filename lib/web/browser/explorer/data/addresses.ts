// Addresses: whether one is right, which network it is of, and the script behind it. All in the browser, so that the node is only asked
// about addresses that are some.

import { base58, bech32, bech32m, hex } from '@scure/base';
import { sha256 } from '@noble/hashes/sha2.js';

/** The beginnings of addresses that the node takes. */
export interface Prefixes {
  readonly pubkeyhash: number;
  readonly scripthash: number;
  readonly bech32: string;
}

export type AddressReading =
  | { readonly kind: 'right' }
  /** `networks`: what it may be of. */
  | { readonly kind: 'elsewhere'; readonly networks: string }
  | { readonly kind: 'mistyped' };

const HASH_BYTES = 20;
const CHECKSUM_BYTES = 4;

const VERSIONS: Readonly<Record<number, string>> = {
  0x00: 'the main network',
  0x05: 'the main network',
  0x6f: 'testnet or regtest',
  0xc4: 'testnet or regtest',
  0x3c: 'bcoin’s regtest',
  0x26: 'bcoin’s regtest',
  0x3f: 'simnet',
  0x7b: 'simnet',
  0x30: 'Litecoin',
  0x32: 'Litecoin',
  0x1e: 'Dogecoin',
  0x16: 'Dogecoin'
};

const BEGINNINGS: Readonly<Record<string, string>> = {
  bc: 'the main network',
  tb: 'testnet or signet',
  bcrt: 'regtest',
  rb: 'bcoin’s regtest',
  sb: 'simnet',
  ltc: 'Litecoin'
};

/** `text`: in the form of an address. */
export function readAddress(text: string, accepted: readonly Prefixes[]): AddressReading {
  const witness = witnessPrefix(text);
  if (witness !== undefined)
    return placed(
      BEGINNINGS[witness],
      accepted.some(({ bech32: own }) => own === witness)
    );
  const version = base58Version(text);
  if (version === undefined) return { kind: 'mistyped' };
  return placed(
    VERSIONS[version],
    accepted.some(({ pubkeyhash, scripthash }) => version === pubkeyhash || version === scripthash)
  );
}

/** Whether the node takes the text as an address. */
export const isAddress = (text: string, accepted: readonly Prefixes[]): boolean => readAddress(text, accepted).kind === 'right';

const placed = (networks: string | undefined, isAccepted: boolean): AddressReading =>
  isAccepted ? { kind: 'right' } : { kind: 'elsewhere', networks: networks ?? 'another coin' };

/** The beginning of a witness address whose checksum is right. Version 0 has another checksum than later ones (BIP350). */
function witnessPrefix(text: string): string | undefined {
  for (const coding of [bech32, bech32m]) {
    const decoded = coding.decodeUnsafe(text, 90);
    if (decoded === undefined) continue;
    const { prefix, words } = decoded;
    const [version, ...rest] = words;
    const program = coding.fromWordsUnsafe(rest);
    const isRight = version !== undefined && program instanceof Uint8Array && (version === 0) === (coding === bech32);
    return isRight && program.length >= 2 && program.length <= 40 ? prefix : undefined;
  }
  return undefined;
}

/** The version byte of an address in base 58 whose checksum is right. */
function base58Version(text: string): number | undefined {
  let bytes: Uint8Array;
  try {
    bytes = base58.decode(text);
  } catch {
    return undefined;
  }
  if (bytes.length !== 1 + HASH_BYTES + CHECKSUM_BYTES) return undefined;
  const payload = bytes.subarray(0, 1 + HASH_BYTES);
  const sum = sha256(sha256(payload));
  return bytes.subarray(1 + HASH_BYTES).every((byte, i) => byte === sum[i]) ? payload[0] : undefined;
}

/** SHA-256 of a script in hex: the name of scripts without an address. */
export const scriptHash = (script: string): string => hex.encode(sha256(hex.decode(script)));
