// The `scriptPubKey` object of an output (ScriptPubKeyToUniv of Bitcoin Core 0.17).

import { writeAddress, writeKeyAddress, type AddressPrefixes } from '../bitcoin/address';
import { writeAsm } from '../bitcoin/script';
import { multisigOf, scriptTypeOf, type Multisig, type ScriptType } from '../bitcoin/script-type';
import type { JsonWriter } from './json-writer';

function writeMultisig(writer: JsonWriter, { required, keys }: Multisig, prefixes: AddressPrefixes): void {
  writer.ascii(',"reqSigs":');
  writer.integer(required);
  writer.ascii(',"type":"multisig","addresses":["');
  keys.forEach((key, i) => {
    if (i > 0)
      writer.ascii('","');
    writeKeyAddress(writer, key, prefixes);
  });
  writer.ascii('"]}');
}

function writeOneAddress(writer: JsonWriter, bytes: Buffer, start: number, end: number, type: ScriptType, prefixes: AddressPrefixes): void {
  writer.ascii(',"reqSigs":1,"type":"');
  writer.ascii(type);
  writer.ascii('","addresses":["');
  writeAddress(writer, bytes, start, end, type, prefixes);
  writer.ascii('"]}');
}

/**
 * Writes `{asm, hex, reqSigs?, type, addresses?}` of the script from `start` to before `end`; the
 * optional two where there are addresses.
 */
export function writeScriptPubKey(writer: JsonWriter, bytes: Buffer, start: number, end: number, prefixes: AddressPrefixes): void {
  writer.ascii('{"asm":"');
  writeAsm(writer, bytes, start, end);
  writer.ascii('","hex":"');
  writer.hex(bytes, start, end);
  writer.char(0x22);
  const type = scriptTypeOf(bytes, start, end);
  if (type === 'nulldata' || type === 'nonstandard') {
    writer.ascii(',"type":"');
    writer.ascii(type);
    writer.ascii('"}');
    return;
  }
  const multisig = type === 'multisig' ? multisigOf(bytes, start, end) : undefined;
  if (multisig === undefined)
    writeOneAddress(writer, bytes, start, end, type, prefixes);
  else
    writeMultisig(writer, multisig, prefixes);
}
