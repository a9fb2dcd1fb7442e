// Fields of a PSBT as values of JSON (decodepsbt of Bitcoin Core 31).

import { PROPRIETARY, type PsbtField, type PsbtMap } from '../bitcoin/psbt/psbt';
import { readBytes } from '../bitcoin/psbt/values';
import { KEY_LENGTH } from '../bitcoin/secp256k1';
import { sortedFields, unknownFields } from '../bitcoin/psbt/write';
import { ByteReader } from '../bitcoin/reader';
import { described, listOf, mapOf, object } from '../describe/schema';
import { COUNT, HEX, TEXT } from '../describe/values';

export const hexOf = (bytes: Buffer): string => bytes.toString('hex');

/** A fingerprint, and numbers of which the highest bit says that they are hardened. */
export function pathOf(path: Buffer): { readonly master_fingerprint: string; readonly path: string } {
  const steps = Array.from({ length: path.length / 4 - 1 }, (_, i) => path.readUInt32LE(4 + i * 4));
  const shown = steps.map((step) => `/${step & 0x7fff_ffff}${step >= 0x8000_0000 ? 'h' : ''}`);
  return { master_fingerprint: hexOf(path.subarray(0, 4)), path: `m${shown.join('')}` };
}

export const PATH = { master_fingerprint: { ...TEXT, pattern: '^[0-9a-f]{8}$' }, path: { ...TEXT, pattern: '^m(?:/\\d+h?)*$' } };

/** The way to a key. */
export const derivationOf = ({ key, value }: PsbtField): object => ({ pubkey: hexOf(key.subarray(1)), ...pathOf(value) });

export const DERIVATIONS = described('Keys, with the way to them.', listOf(object({ pubkey: HEX, ...PATH })));

/** The way to a key of taproot, and the leaves that it signs. */
export function tapPathOf({ key, value }: PsbtField): object {
  const reader = new ByteReader(value);
  const hashes: string[] = [];
  for (let count = reader.compactSize(); count > 0; count--) hashes.push(hexOf(reader.bytes(32)));
  return { pubkey: hexOf(key.subarray(1)), ...pathOf(reader.bytes(reader.remaining)), leaf_hashes: hashes };
}

export const TAP_DERIVATIONS = described(
  'Keys of taproot, with the way to them.',
  listOf(object({ pubkey: HEX, ...PATH, leaf_hashes: listOf(HEX) }))
);

/** `fields`: those of one leaf stand together. */
export function leafScripts(fields: readonly PsbtField[]): object[] {
  const leaves = new Map<string, { script: string; leaf_ver: number; control_blocks: string[] }>();
  for (const { key, value } of fields) {
    const name = hexOf(value);
    const leaf = leaves.get(name) ?? { script: hexOf(value.subarray(0, -1)), leaf_ver: value.at(-1) ?? 0, control_blocks: [] };
    leaf.control_blocks.push(hexOf(key.subarray(1)));
    leaves.set(name, leaf);
  }
  return [...leaves.values()];
}

export const LEAF_SCRIPTS = listOf(object({ script: HEX, leaf_ver: COUNT, control_blocks: listOf(HEX) }));

/** The keys that an aggregate key of MuSig2 is made of. */
export function participantsOf({ key, value }: PsbtField): object {
  const keys = Array.from({ length: value.length / KEY_LENGTH }, (_, i) => hexOf(value.subarray(i * KEY_LENGTH, (i + 1) * KEY_LENGTH)));
  return { aggregate_pubkey: hexOf(key.subarray(1)), participant_pubkeys: keys };
}

export const PARTICIPANTS = listOf(object({ aggregate_pubkey: HEX, participant_pubkeys: listOf(HEX) }));

/** Whose nonce or signature of MuSig2 it is; without a leaf it is for the key path. */
export function participantOf({ key }: PsbtField): object {
  const leaf = key.subarray(1 + 2 * KEY_LENGTH);
  return {
    participant_pubkey: hexOf(key.subarray(1, 1 + KEY_LENGTH)),
    aggregate_pubkey: hexOf(key.subarray(1 + KEY_LENGTH, 1 + 2 * KEY_LENGTH)),
    ...(leaf.some((byte) => byte !== 0) && { leaf_hash: hexOf(leaf) })
  };
}

export const MEMBER = { participant_pubkey: HEX, aggregate_pubkey: HEX };

/** Fields of others, by their identifiers. */
export function proprietaryOf(fields: PsbtMap, of: 'global' | 'input' | 'output'): object[] {
  return sortedFields(fields, PROPRIETARY, of).map(({ key, value }) => {
    const reader = new ByteReader(key, 1);
    return { identifier: hexOf(readBytes(reader)), subtype: reader.compactSize(), key: hexOf(key), value: hexOf(value) };
  });
}

export const PROPRIETARIES = described('Fields of others.', listOf(object({ identifier: HEX, subtype: COUNT, key: HEX, value: HEX })));

/** Fields of no known type, by their keys. */
export const unknownOf = (fields: PsbtMap, of: 'global' | 'input' | 'output'): Record<string, string> =>
  Object.fromEntries(unknownFields(fields, of).map(({ key, value }) => [hexOf(key), hexOf(value)]));

export const UNKNOWN = mapOf(HEX, HEX);
