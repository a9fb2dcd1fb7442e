// What an address stands for, or what is wrong with it (validateaddress of Bitcoin Core; DecodeDestination of key_io.cpp).

import { scriptOfDestination, type AddressPrefixes } from '../bitcoin/address';
import { base58Within, readAnyBase58 } from '../bitcoin/base58';
import { bytesOfSymbols, readBech32 } from '../bitcoin/bech32';
import { locateErrors } from '../bitcoin/bech32-errors';
import { scriptTypeOf, witnessProgramOf } from '../bitcoin/script-type';
import { anyOf, described, listOf, named, object, type Schema } from '../describe/schema';
import { COUNT, FLAG, HEX, TEXT } from '../describe/values';

/** `prefixes`: those that are accepted; the first are the node's own. */
export function validatedAddress(asked: string, prefixes: readonly AddressPrefixes[]): object {
  const script = scriptOfDestination(asked, prefixes);
  if (typeof script === 'string') {
    const { message, places } = faultOf(asked, prefixes);
    return { isvalid: false, error_locations: places, error: message };
  }
  const type = scriptTypeOf(script);
  const program = witnessProgramOf(script);
  const isShown = program !== undefined && type !== 'anchor';
  // The script of an unknown witness version may be anything.
  const isScript = type === 'witness_unknown' ? undefined : !['pubkeyhash', 'witness_v0_keyhash'].includes(type);
  return {
    isvalid: true,
    address: program === undefined ? base58Within(asked) : asked.toLowerCase(),
    scriptPubKey: script.toString('hex'),
    ...(isScript !== undefined && { isscript: isScript }),
    iswitness: program !== undefined,
    ...(isShown && { witness_version: program.version, witness_program: program.program.toString('hex') })
  };
}

interface Fault {
  readonly message: string;
  readonly places: readonly number[];
}

const UNREADABLE = 'Invalid or unsupported Segwit (Bech32) or Base58 encoding.';
const BASE58CHECK_LENGTH = 25;
/** More bytes are not looked at. */
const MOST_BASE58_BYTES = 100;

const fault = (message: string): Fault => ({ message, places: [] });

/** The human-readable parts with which the text begins. */
function prefixesOf(text: string, prefixes: readonly AddressPrefixes[]): string[] {
  const lower = text.toLowerCase();
  return prefixes.map(({ bech32 }) => bech32).filter((prefix) => lower.startsWith(prefix));
}

function faultOf(text: string, prefixes: readonly AddressPrefixes[]): Fault {
  const known = prefixesOf(text, prefixes);
  return known.length === 0 ? base58Fault(text, prefixes) : bech32Fault(text, known);
}

function base58Fault(text: string, prefixes: readonly AddressPrefixes[]): Fault {
  const read = readAnyBase58(base58Within(text), MOST_BASE58_BYTES);
  if (read === undefined) return fault(UNREADABLE);
  if (!read.hasChecksum || read.bytes.length > BASE58CHECK_LENGTH)
    return fault('Invalid checksum or length of Base58 address (P2PKH or P2SH)');
  const isKnown = prefixes.some(({ pubkeyhash, scripthash }) => [pubkeyhash, scripthash].includes(read.bytes[0] ?? -1));
  return fault(isKnown ? 'Invalid length for Base58 address (P2PKH or P2SH)' : 'Invalid or unsupported Base58-encoded address.');
}

function bech32Fault(text: string, known: readonly string[]): Fault {
  const read = readBech32(text);
  if (read === undefined) {
    // Bitcoin Core counts bytes.
    const { message, places } = locateErrors(Buffer.from(text).toString('latin1'));
    return { message, places };
  }
  const [version] = read.symbols;
  if (version === undefined) return fault('Empty Bech32 data section');
  if (!known.includes(read.prefix))
    return fault(`Invalid or unsupported prefix for Segwit (Bech32) address (expected ${known[0] ?? ''}, got ${read.prefix}).`);
  if (version === 0 && read.variant !== 'bech32') return fault('Version 0 witness address must use Bech32 checksum');
  if (version !== 0 && read.variant !== 'bech32m') return fault('Version 1+ witness address must use Bech32m checksum');
  const program = bytesOfSymbols(read.symbols.subarray(1));
  if (program === undefined) return fault('Invalid padding in Bech32 data section');
  const size = `(${program.length} ${program.length === 1 ? 'byte' : 'bytes'})`;
  if (version === 0) return fault(`Invalid Bech32 v0 address program size ${size}, per BIP141`);
  return fault(version > 16 ? 'Invalid Bech32 address witness version' : `Invalid Bech32 address program size ${size}`);
}

/** What `validatedAddress` gives. */
export const validatedAddressSchema = (): Schema =>
  anyOf(
    named(
      'ValidAddress',
      object(
        { isvalid: { const: true }, address: TEXT, scriptPubKey: HEX, iswitness: FLAG },
        { isscript: described('Lacking where it is not known.', FLAG), witness_version: COUNT, witness_program: HEX }
      )
    ),
    named(
      'InvalidAddress',
      object({
        isvalid: { const: false },
        error_locations: described('Characters that are wrong, as far as they are known.', listOf(COUNT)),
        error: TEXT
      })
    )
  );
