// The `scriptPubKey` object of an output (ScriptToUniv of Bitcoin Core, ScriptPubKeyToUniv of 0.17).

import { writeAddress, writeKeyAddress, type AddressPrefixes } from '../bitcoin/address';
import { writeDescriptor } from '../bitcoin/descriptor';
import { OLD_OPCODE_NAMES, OPCODE_NAMES, writeAsm, type OpcodeNames } from '../bitcoin/script';
import { multisigOf, scriptTypeOf, type Multisig, type ScriptType } from '../bitcoin/script-type';
import type { ProfileFields } from '../profile/profile';
import type { JsonWriter } from './json-writer';

/** How values are shown: what JSON depends on beside them. */
export interface JsonStyle {
  readonly prefixes: AddressPrefixes;
  readonly fields: ProfileFields;
}

/** Multisig of more keys was no type of its own once. */
const MOST_KEYS_ONCE = 16;

export function opcodeNames({ newScripts }: ProfileFields): OpcodeNames {
  return newScripts ? OPCODE_NAMES : OLD_OPCODE_NAMES;
}

/**
 * Writes `{asm, desc, hex, address?, type}` of the script from `start` to before `end`, or `{asm, hex, reqSigs?, type, addresses?}`; what is
 * optional where there are addresses.
 */
export function writeScriptPubKey(writer: JsonWriter, bytes: Buffer, start: number, end: number, style: JsonStyle): void {
  writer.ascii('{"asm":"');
  writeAsm(writer, opcodeNames(style.fields), bytes, start, end);
  if (style.fields.descriptors) writeWithDescriptor(writer, bytes, start, end, style);
  else writeWithAddresses(writer, bytes, start, end, style);
}

/** Bitcoin Core shows no address of a bare key. */
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
  writer.char(0x22);
  let type = scriptTypeOf(bytes, start, end);
  if (type === 'multisig') {
    const multisig = multisigOf(bytes, start, end);
    if (multisig !== undefined && (fields.newScripts || multisig.keys.length <= MOST_KEYS_ONCE)) {
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
