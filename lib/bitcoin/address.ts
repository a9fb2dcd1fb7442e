// Addresses of scripts: base58check, bech32 (BIP173), bech32m (BIP350).

import { writeBase58Check } from './base58';
import { writeSegwitAddress } from './bech32';
import { hash160 } from './hash';
import { OP_0, OP_1 } from './script';
import type { ScriptType } from './script-type';
import type { TextWriter } from './text-writer';

/** How the addresses of a network begin. */
export interface AddressPrefixes {
  readonly pubkeyhash: number;
  readonly scripthash: number;
  /** Human-readable part of witness addresses. */
  readonly bech32: string;
}

/** Writes the address of a public key: that of its hash, also where the script names the key itself. */
export function writeKeyAddress(writer: TextWriter, key: Buffer, prefixes: AddressPrefixes): void {
  writeBase58Check(writer, prefixes.pubkeyhash, hash160(key));
}

/** Writes the one address of the script of this type from `start` to before `end`; false, and nothing, for types with none or several. */
export function writeAddress(
  writer: TextWriter,
  bytes: Buffer,
  start: number,
  end: number,
  type: ScriptType,
  prefixes: AddressPrefixes
): boolean {
  switch (type) {
    case 'pubkeyhash':
      writeBase58Check(writer, prefixes.pubkeyhash, bytes, start + 3);
      return true;
    case 'scripthash':
      writeBase58Check(writer, prefixes.scripthash, bytes, start + 2);
      return true;
    case 'pubkey':
      writeKeyAddress(writer, bytes.subarray(start + 1, end - 1), prefixes);
      return true;
    case 'witness_v0_keyhash':
    case 'witness_v0_scripthash':
      writeSegwitAddress(writer, prefixes.bech32, OP_0, bytes, start + 2, end);
      return true;
    case 'witness_v1_taproot':
    case 'anchor':
    case 'witness_unknown':
      writeSegwitAddress(writer, prefixes.bech32, (bytes[start] as number) - OP_1 + 1, bytes, start + 2, end); // the type has a first byte
      return true;
    default:
      return false;
  }
}
