// Output descriptors of locking scripts (BIP380) as Bitcoin Core infers them from the script alone (InferDescriptor, script/descriptor.cpp).

import { writeAddress, type AddressPrefixes } from './address';
import { writeDescriptorChecksum } from './descriptor-checksum';
import { multisigOf, type Multisig, type ScriptType } from './script-type';
import { isXOnlyKey } from './secp256k1';
import type { TextWriter } from './text-writer';

/** First byte of an uncompressed key. Hybrid keys (6 and 7) can spend, but descriptors do not allow them. */
const UNCOMPRESSED = 4;

const COMMA = 0x2c;
const END = 0x29;

/** How far the address of `addr(...)` is from the beginning of a descriptor, and from its end. */
const BEFORE_ADDRESS = 'addr('.length;
const AFTER_ADDRESS = ')#12345678'.length;

/** Where in a text an address is. */
export interface AddressPlace {
  readonly start: number;
  readonly end: number;
}

/**
 * Writes the descriptor, with its checksum, of the locking script of this type from `start` to before `end`: `addr`, `rawtr` (BIP386),
 * `pk` (BIP381), `multi` (BIP383), or else `raw` (BIP385). Like Bitcoin Core, checks only of taproot keys whether they are points.
 * Returns where it wrote the script's address, if it did.
 */
export function writeDescriptor(
  writer: TextWriter,
  bytes: Buffer,
  start: number,
  end: number,
  type: ScriptType,
  prefixes: AddressPrefixes
): AddressPlace | undefined {
  const from = writer.length;
  const hasAddress = writeExpression(writer, bytes, start, end, type, prefixes);
  writer.char(END);
  writeDescriptorChecksum(writer, from);
  return hasAddress ? { start: from + BEFORE_ADDRESS, end: writer.length - AFTER_ADDRESS } : undefined;
}

/** Writes everything before the closing parenthesis. Returns whether the parentheses hold the script's address. */
function writeExpression(
  writer: TextWriter,
  bytes: Buffer,
  start: number,
  end: number,
  type: ScriptType,
  prefixes: AddressPrefixes
): boolean {
  switch (type) {
    case 'pubkey':
      if (!isDescribedKey(bytes[start + 1])) return writeRaw(writer, bytes, start, end);
      writer.ascii('pk(');
      writer.hex(bytes, start + 1, end - 1);
      return false;
    case 'multisig': {
      const multisig = multisigOf(bytes, start, end);
      if (multisig?.keys.every(([header]) => isDescribedKey(header)) !== true) return writeRaw(writer, bytes, start, end);
      writeMultisig(writer, multisig);
      return false;
    }
    case 'witness_v1_taproot':
      if (!isXOnlyKey(bytes, start + 2)) break;
      writer.ascii('rawtr(');
      writer.hex(bytes, start + 2, end);
      return false;
    case 'nulldata':
    case 'nonstandard':
      return writeRaw(writer, bytes, start, end);
    default:
  }
  writer.ascii('addr(');
  return writeAddress(writer, bytes, start, end, type, prefixes);
}

/** Writes the whole script as hex. Returns false, since this is no address. */
function writeRaw(writer: TextWriter, bytes: Buffer, start: number, end: number): false {
  writer.ascii('raw(');
  writer.hex(bytes, start, end);
  return false;
}

/** `header`: the first byte of a key of the right length. */
function isDescribedKey(header: number | undefined): boolean {
  return header !== undefined && header <= UNCOMPRESSED;
}

function writeMultisig(writer: TextWriter, { required, keys }: Multisig): void {
  writer.ascii('multi(');
  writer.integer(required);
  for (const key of keys) {
    writer.char(COMMA);
    writer.hex(key);
  }
}
