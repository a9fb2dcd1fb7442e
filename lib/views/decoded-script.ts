// A locking script as JSON, with the scripts that wrap it (decodescript of Bitcoin Core).

import { addressOf } from '../bitcoin/address';
import { writeDescriptorChecksum } from '../bitcoin/descriptor-checksum';
import { hash160, scriptHashOf } from '../bitcoin/hash';
import { hasValidOpcodes, isSuccess, isUnspendable, OP_0, OP_EQUAL, OP_HASH160, ScriptWalker } from '../bitcoin/script';
import { multisigOf, scriptTypeOf, type ScriptType } from '../bitcoin/script-type';
import { KEY_LENGTH } from '../bitcoin/secp256k1';
import { TextWriter } from '../bitcoin/text-writer';
import { described, named, object, type Schema } from '../describe/schema';
import { HEX, TEXT } from '../describe/values';
import { JsonWriter } from './json-writer';
import { scriptPubKeySchema, writeScriptPubKey, type JsonStyle } from './script';
import type { ProfileFields } from './profile';

/** Kinds of scripts that P2SH can wrap. */
const WRAPPED: readonly ScriptType[] = [
  ...(['multisig', 'nonstandard', 'pubkey', 'pubkeyhash'] as const),
  ...(['witness_v0_keyhash', 'witness_v0_scripthash'] as const)
];

/** `{asm, desc, address?, type, p2sh?, segwit?}` */
export function decodedScript(script: Buffer, style: JsonStyle): Buffer {
  const type = scriptTypeOf(script);
  const { prefixes } = style;
  const shown = { ...scriptPubKey(script, style) };
  delete shown['hex'];
  if (!WRAPPED.includes(type) || !canBeWrapped(script)) return Buffer.from(JSON.stringify(shown));
  const inWitness = witnessScriptOf(script, type);
  const segwit = inWitness && {
    ...scriptPubKey(inWitness, style),
    ...(type === 'multisig' && { desc: wshDescriptor(String(shown['desc'])) }),
    'p2sh-segwit': addressOf(scriptHashScript(inWitness), prefixes)
  };
  return Buffer.from(JSON.stringify({ ...shown, p2sh: addressOf(scriptHashScript(script), prefixes), ...(segwit && { segwit }) }));
}

function scriptPubKey(script: Buffer, style: JsonStyle): Record<string, unknown> {
  const writer = new JsonWriter(script.length * 4 + 1_024);
  writeScriptPubKey(writer, script, 0, script.length, style);
  return JSON.parse(writer.toString()) as Record<string, unknown>;
}

function canBeWrapped(script: Buffer): boolean {
  if (isUnspendable(script) || !hasValidOpcodes(script)) return false;
  const walker = new ScriptWalker(script);
  while (walker.next()) if (isSuccess(walker.opcode)) return false;
  return true;
}

/** The witness program in the place of a script; undefined where it could not be spent. */
function witnessScriptOf(script: Buffer, type: ScriptType): Buffer | undefined {
  if (type === 'witness_v0_keyhash' || type === 'witness_v0_scripthash') return undefined;
  if (type === 'pubkeyhash') return Buffer.concat([Buffer.of(OP_0, 20), script.subarray(3, 23)]);
  if (type === 'pubkey') {
    const key = script.subarray(1, -1);
    return key.length === KEY_LENGTH ? Buffer.concat([Buffer.of(OP_0, 20), hash160(key)]) : undefined;
  }
  if (type === 'multisig' && multisigOf(script)?.keys.every(({ length }) => length === KEY_LENGTH) !== true) return undefined;
  return Buffer.concat([Buffer.of(OP_0, 32), scriptHashOf(script)]);
}

const scriptHashScript = (script: Buffer): Buffer => Buffer.concat([Buffer.of(OP_HASH160, 20), hash160(script), Buffer.of(OP_EQUAL)]);

/** Of a descriptor with its checksum. */
function wshDescriptor(descriptor: string): string {
  const writer = new TextWriter();
  writer.ascii(`wsh(${descriptor.slice(0, descriptor.lastIndexOf('#'))})`);
  writeDescriptorChecksum(writer, 0);
  return writer.toString();
}

export function decodedScriptSchema(fields: ProfileFields): Schema {
  const { properties } = plain(scriptPubKeySchema(fields));
  const { hex, ...shown } = properties;
  const segwit = object({ ...shown, hex: hex ?? HEX, 'p2sh-segwit': described('The address of the script of this in P2SH.', TEXT) }, {});
  const { address, ...always } = shown;
  return named(
    'DecodedScript',
    object(always, {
      ...(address && { address }),
      p2sh: described('The address of the script in P2SH.', TEXT),
      segwit: described('The witness program in its place.', named('SegwitScript', segwit))
    })
  );
}

const plain = (schema: Schema): { readonly properties: Readonly<Record<string, Schema>> } => {
  const { properties = {} } = 'is' in schema ? schema.is : schema;
  return { properties };
};
