// The `scriptPubKey` object of an output (ScriptPubKeyToUniv of Bitcoin Core 0.17).

import { writeAddress, writeKeyAddress, type AddressPrefixes } from '../bitcoin/address';
import { writeAsm } from '../bitcoin/script';
import { multisigOf, scriptTypeOf, type Multisig } from '../bitcoin/script-type';
import type { JsonWriter } from './json-writer';

function writeMultisig(writer: JsonWriter, { required, keys }: Multisig, prefixes: AddressPrefixes): void {
  writer.integerField(',"reqSigs":', required);
  writer.ascii(',"type":"multisig","addresses":["');
  keys.forEach((key, i) => {
    if (i > 0) writer.ascii('","');
    writeKeyAddress(writer, key, prefixes);
  });
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
  if (multisig !== undefined) {
    writeMultisig(writer, multisig, prefixes);
    return;
  }
  writer.ascii(',"reqSigs":1,"type":"');
  writer.ascii(type);
  writer.ascii('","addresses":["');
  writeAddress(writer, bytes, start, end, type, prefixes);
  writer.ascii('"]}');
}
