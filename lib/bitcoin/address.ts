// Addresses of scripts: base58check, bech32 (BIP173), bech32m (BIP350).

import { base58Within, readBase58Check, writeBase58Check } from './base58';
import { readSegwitAddress, writeSegwitAddress } from './bech32';
import { hash160 } from './hash';
import { OP_0, OP_1, OP_CHECKSIG, OP_DUP, OP_EQUAL, OP_EQUALVERIFY, OP_HASH160 } from './script';
import { scriptTypeOf, type ScriptType } from './script-type';
import { TextWriter } from './text-writer';

/** How the addresses of a network begin. */
export interface AddressPrefixes {
  readonly pubkeyhash: number;
  readonly scripthash: number;
  /** Human-readable part of witness addresses. */
  readonly bech32: string;
}

/** Why an address names no script of this network. */
export type AddressFault = 'unreadable' | 'of another network';

const CORE_TESTNET: AddressPrefixes = { pubkeyhash: 0x6f, scripthash: 0xc4, bech32: 'tb' };
const CORE_REGTEST: AddressPrefixes = { ...CORE_TESTNET, bech32: 'bcrt' };

/**
 * The address prefixes that are accepted on a network: the node's own; on test networks also those of Bitcoin Core's testnet; on regtest
 * also those of Bitcoin Core's regtest. bcoin's own prefixes may differ from these. `chain`: Bitcoin Core's name of the network.
 */
export function acceptedPrefixes(chain: string, own: AddressPrefixes): readonly AddressPrefixes[] {
  const accepted = networkPrefixes(chain, own);
  return chain === 'regtest' ? [...accepted, CORE_TESTNET] : accepted;
}

/** The node's own prefixes, and those of Bitcoin Core for the same network. `chain`: as above. */
export function networkPrefixes(chain: string, own: AddressPrefixes): readonly AddressPrefixes[] {
  if (chain === 'main') return [own];
  return [own, chain === 'regtest' ? CORE_REGTEST : CORE_TESTNET];
}

/** The locking script that an address with one of these prefixes stands for, or what is wrong with the address. */
export function scriptOfAddress(address: string, prefixes: readonly AddressPrefixes[]): Buffer | AddressFault {
  const witness = readSegwitAddress(address);
  if (witness !== undefined) {
    if (!prefixes.some(({ bech32 }) => bech32 === witness.prefix)) return 'of another network';
    const { version, program } = witness;
    return Buffer.from([version === 0 ? OP_0 : OP_1 + version - 1, program.length, ...program]);
  }
  return scriptOfBase58(address, prefixes);
}

/** As `scriptOfAddress`, for what Bitcoin Core takes for an address (DecodeDestination): Base58 may have white space around it. */
export function scriptOfDestination(text: string, prefixes: readonly AddressPrefixes[]): Buffer | AddressFault {
  const inner = base58Within(text);
  return inner === text ? scriptOfAddress(text, prefixes) : scriptOfBase58(inner, prefixes);
}

function scriptOfBase58(address: string, prefixes: readonly AddressPrefixes[]): Buffer | AddressFault {
  const read = readBase58Check(address);
  if (read === undefined) return 'unreadable';
  const { version, hash } = read;
  if (prefixes.some(({ pubkeyhash }) => pubkeyhash === version))
    return Buffer.from([OP_DUP, OP_HASH160, hash.length, ...hash, OP_EQUALVERIFY, OP_CHECKSIG]);
  if (prefixes.some(({ scripthash }) => scripthash === version)) return Buffer.from([OP_HASH160, hash.length, ...hash, OP_EQUAL]);
  return 'of another network';
}

/** The address of a script; undefined: it has not exactly one. */
export function addressOf(script: Buffer, prefixes: AddressPrefixes): string | undefined {
  const writer = new TextWriter();
  return writeAddress(writer, script, 0, script.length, scriptTypeOf(script), prefixes) ? writer.toString() : undefined;
}

/** Writes the address of a public key, which is the address of its hash, even where the script holds the key itself. */
export function writeKeyAddress(writer: TextWriter, key: Buffer, prefixes: AddressPrefixes): void {
  writeBase58Check(writer, prefixes.pubkeyhash, hash160(key));
}

/** Writes the address of the script of this type from `start` to before `end`; without exactly one, writes nothing and returns false. */
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
      writeSegwitAddress(writer, prefixes.bech32, (bytes[start] as number) - OP_1 + 1, bytes, start + 2, end); // not empty
      return true;
    default:
      return false;
  }
}
