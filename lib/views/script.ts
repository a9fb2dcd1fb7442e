// The `scriptPubKey` object of an output (ScriptToUniv of Bitcoin Core, ScriptPubKeyToUniv of 0.17).

import { writeAddress, writeKeyAddress, type AddressPrefixes } from '../bitcoin/address';
import { writeDescriptor } from '../bitcoin/descriptor';
import { OLD_OPCODE_NAMES, OPCODE_NAMES, writeAsm, type OpcodeNames } from '../bitcoin/script';
import { multisigOf, scriptTypeOf, type Multisig, type ScriptType } from '../bitcoin/script-type';
import { QUOTE, type JsonWriter } from './json-writer';
import { anyOf, named, object, type Schema } from '../describe/schema';
import { COUNT, HEX, TEXT } from '../describe/values';
import type { ProfileFields } from './profile';

/** Settings of the JSON, beside the values that it shows. */
export interface JsonStyle {
  readonly prefixes: AddressPrefixes;
  readonly fields: ProfileFields;
}

/** In 0.17 multisig scripts with more keys are `nonstandard`. */
const MOST_OLD_KEYS = 16;

/** Bitcoin Core's, by the edition. */
export function opcodeNames({ newScripts }: ProfileFields): OpcodeNames {
  return newScripts ? OPCODE_NAMES : OLD_OPCODE_NAMES;
}

/**
 * Writes `{asm, desc, hex, address?, type}` of the script from `start` to before `end`, or as in 0.17 `{asm, hex, reqSigs?, type,
 * addresses?}`; optional fields are those of scripts with addresses.
 */
export function writeScriptPubKey(writer: JsonWriter, bytes: Buffer, start: number, end: number, style: JsonStyle): void {
  writer.ascii('{"asm":"');
  writeAsm(writer, opcodeNames(style.fields), bytes, start, end);
  if (style.fields.descriptors) writeWithDescriptor(writer, bytes, start, end, style);
  else writeWithAddresses(writer, bytes, start, end, style);
}

/** Like Bitcoin Core, shows no address for a bare key. */
function writeWithDescriptor(writer: JsonWriter, bytes: Buffer, start: number, end: number, { prefixes, fields }: JsonStyle): void {
  const type = scriptTypeOf(bytes, start, end);
  writer.ascii('","desc":"');
  const address = writeDescriptor(writer, bytes, start, end, type, prefixes);
  writer.ascii('","hex":"');
  writer.hex(bytes, start, end);
  if (address !== undefined || type === 'witness_v1_taproot') {
    writer.ascii('","address":"');
    if (address === undefined) writeAddress(writer, bytes, start, end, type, prefixes);
    else writer.again(address.start, address.end);
  }
  writer.ascii('","type":"');
  writer.ascii(shownType(type, fields));
  writer.ascii('"}');
}

function writeWithAddresses(writer: JsonWriter, bytes: Buffer, start: number, end: number, { prefixes, fields }: JsonStyle): void {
  writer.ascii('","hex":"');
  writer.hex(bytes, start, end);
  writer.char(QUOTE);
  let type = scriptTypeOf(bytes, start, end);
  if (type === 'multisig') {
    const multisig = multisigOf(bytes, start, end);
    if (multisig !== undefined && multisig.keys.length <= MOST_OLD_KEYS) {
      writeMultisig(writer, multisig, prefixes);
      return;
    }
    type = 'nonstandard';
  }
  if (type === 'nulldata' || type === 'nonstandard') {
    writer.ascii(',"type":"');
    writer.ascii(type);
    writer.ascii('"}');
    return;
  }
  writer.ascii(',"reqSigs":1,"type":"');
  writer.ascii(shownType(type, fields));
  writer.ascii('","addresses":["');
  writeAddress(writer, bytes, start, end, type, prefixes);
  writer.ascii('"]}');
}

function shownType(type: ScriptType, { newScripts }: ProfileFields): ScriptType {
  return newScripts || (type !== 'witness_v1_taproot' && type !== 'anchor') ? type : 'witness_unknown';
}

function writeMultisig(writer: JsonWriter, { required, keys }: Multisig, prefixes: AddressPrefixes): void {
  writer.integerField(',"reqSigs":', required);
  writer.ascii(',"type":"multisig","addresses":["');
  keys.forEach((key, i) => {
    if (i > 0) writer.ascii('","');
    writeKeyAddress(writer, key, prefixes);
  });
  writer.ascii('"]}');
}

const OLD_TYPES = [
  ...['pubkey', 'pubkeyhash', 'scripthash', 'multisig', 'nulldata', 'nonstandard'],
  ...['witness_v0_keyhash', 'witness_v0_scripthash', 'witness_unknown']
];
const NEW_TYPES = [...OLD_TYPES, 'witness_v1_taproot', 'anchor'];

const ASM = { ...TEXT, description: 'The script as opcodes and data in hex.' };

/** What `writeScriptPubKey` writes. */
export function scriptPubKeySchema({ descriptors, newScripts }: ProfileFields): Schema {
  const type = { enum: newScripts ? NEW_TYPES : OLD_TYPES, description: 'The kind of script.' };
  if (descriptors)
    return named(
      'ScriptPubKey',
      object(
        { asm: ASM, desc: { ...TEXT, description: 'An output descriptor with its checksum.' }, hex: HEX, type },
        { address: { ...TEXT, description: 'The address, for kinds of scripts that have one.' } }
      )
    );
  const addresses = { type: 'array', items: TEXT, minItems: 1, description: 'The addresses of the keys.' } as const;
  const plain = { ...type, enum: ['nulldata', 'nonstandard'] };
  const payable = { ...type, enum: type.enum.filter((name) => !plain.enum.includes(name)) };
  return named(
    'ScriptPubKeyWithAddresses',
    anyOf(
      object({ asm: ASM, hex: HEX, type: plain }),
      object({ asm: ASM, hex: HEX, reqSigs: { ...COUNT, description: 'How many keys have to sign.' }, type: payable, addresses })
    )
  );
}
