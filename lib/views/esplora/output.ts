// An output of a transaction, as Esplora shows it.

import { OBJECT_END, JsonWriter } from '../json-writer';

import { writeAddress, type AddressPrefixes } from '../../bitcoin/address';
import { writeRustAsm } from '../../bitcoin/rust-asm';
import { OP_CHECKSIG, OP_RETURN } from '../../bitcoin/script';
import { scriptTypeOf, type ScriptType } from '../../bitcoin/script-type';
import { named, object, type Schema } from '../../describe/schema';
import { HEX, SATOSHIS, TEXT } from '../../describe/values';

/** Esplora's names of the types with an address. Witness programs have one, except those of version 0 that nobody can spend. */
const TYPES_WITH_ADDRESS: Readonly<Partial<Record<ScriptType, string>>> = {
  pubkeyhash: 'p2pkh',
  scripthash: 'p2sh',
  witness_v0_keyhash: 'v0_p2wpkh',
  witness_v0_scripthash: 'v0_p2wsh',
  witness_v1_taproot: 'v1_p2tr',
  anchor: 'unknown',
  witness_unknown: 'unknown'
};

/** The address of a script, where Esplora shows one. */
export function addressText(script: Buffer, prefixes: AddressPrefixes): string | undefined {
  const type = scriptTypeOf(script);
  if (TYPES_WITH_ADDRESS[type] === undefined) return undefined;
  const writer = new JsonWriter();
  writeAddress(writer, script, 0, script.length, type, prefixes);
  return writer.toBuffer().toString('latin1');
}

/** Whether a script is a key of 33 or 65 bytes and OP_CHECKSIG; the key may be any bytes. */
function isKey(bytes: Buffer, start: number, end: number): boolean {
  const length = end - start - 2;
  return (length === 33 || length === 65) && bytes[start] === length && bytes[end - 1] === OP_CHECKSIG;
}

/** The type of scripts without an address. */
function typeWithoutAddress(bytes: Buffer, start: number, end: number): string {
  if (start === end) return 'empty';
  if (bytes[start] === OP_RETURN) return 'op_return';
  return isKey(bytes, start, end) ? 'p2pk' : 'unknown';
}

/**
 * Writes `{scriptpubkey, scriptpubkey_asm, scriptpubkey_type, scriptpubkey_address?, value}` of the script from `start` to before `end`,
 * `value` in satoshis.
 */
export function writeEsploraOutput(
  writer: JsonWriter,
  bytes: Buffer,
  start: number,
  end: number,
  value: number,
  prefixes: AddressPrefixes
): void {
  writer.ascii('{"scriptpubkey":"');
  writer.hex(bytes, start, end);
  writer.ascii('","scriptpubkey_asm":"');
  writeRustAsm(writer, bytes, start, end);
  writer.ascii('","scriptpubkey_type":"');
  const type = scriptTypeOf(bytes, start, end);
  const name = TYPES_WITH_ADDRESS[type];
  writer.ascii(name ?? typeWithoutAddress(bytes, start, end));
  if (name !== undefined) {
    writer.ascii('","scriptpubkey_address":"');
    writeAddress(writer, bytes, start, end, type, prefixes);
  }
  writer.integerField('","value":', value);
  writer.char(OBJECT_END);
}

/** What `writeEsploraOutput` writes. */
export const ESPLORA_OUTPUT: Schema = named(
  'Output',
  object(
    {
      scriptpubkey: HEX,
      scriptpubkey_asm: TEXT,
      scriptpubkey_type: { enum: [...new Set([...Object.values(TYPES_WITH_ADDRESS), ...['empty', 'op_return', 'p2pk', 'unknown']])] },
      value: SATOSHIS
    },
    { scriptpubkey_address: { ...TEXT, description: 'For scripts that have an address.' } }
  )
);
