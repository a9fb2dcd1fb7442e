// The values of fields: how each is read, and what Bitcoin Core refuses. A value is read from where it stands, and must end where its length
// says. Where the bytes end too early the reader throws MalformedBytesError, of which `psbtIn` makes a PsbtError.

import { MAX_BLOCK_WEIGHT } from '../consensus';
import { HASH_LENGTH } from '../hash';
import { isPublicKey, KEY_LENGTH, LONG_KEY_LENGTH } from '../secp256k1';
import { isSignatureEncoding } from '../signature-encoding';
import { compactSizeOf, type ByteReader } from '../reader';
import { readTransaction, ScannedTransaction, WEIGHT_PER_VBYTE } from '../transaction';
import { broken, PsbtError } from './errors';

const XPUB_LENGTH = 78;
/** Where an extended public key has its depth, and behind it its parent's fingerprint and its own number, four bytes each. */
const XPUB_DEPTH_AT = 4;
const XPUB_PARENT_LENGTH = 8;
/** Where the key begins in an extended public key. */
export const XPUB_KEY_AT = 45;
const NONCE_LENGTH = 66;
const LEAST_SCHNORR = 64;
const MOST_SCHNORR = 65;
const MOST_DEPTH = 128;
const LEAF_VERSION = 0xfe;

/** A transaction with more does not fit into a block. */
const MOST_STRIPPED_BYTES = MAX_BLOCK_WEIGHT / WEIGHT_PER_VBYTE;
/** Leaves of a tree, and hashes of leaves on the way to a key. */
const MOST_LEAVES = 10_000;
/** Keys of an aggregate one: checking one takes some microseconds. */
const MOST_PARTICIPANTS = 1_000;
/** Steps of a path: an extended key has one byte for how many it is away from the first (BIP32). */
const MOST_STEPS = 255;
/** A script that is shown with its opcodes. */
const MOST_SCRIPT_BYTES = 100_000;

/** Bytes behind their length. */
export const readBytes = (reader: ByteReader): Buffer => reader.bytes(reader.compactSize());

/** A value that is read by its form: what `read` takes must be as long as is said. Gives its bytes, or others that `read` gives. */
function readForm(reader: ByteReader, read: (reader: ByteReader, length: number) => Buffer | undefined): Buffer {
  const length = reader.compactSize();
  const start = reader.offset;
  const given = read(reader, length);
  if (reader.offset - start !== length) throw broken('Size of value was not the stated size');
  return given ?? reader.buffer.subarray(start, start + length);
}

/** A value of exactly `length` bytes. */
export const readExactly = (reader: ByteReader, length: number): Buffer =>
  readForm(reader, (inner) => {
    inner.skip(length);
    return undefined;
  });

/** @throws PsbtError for more than is read at all */
function requireNoMore(count: number, most: number, what: string): void {
  if (count > most) throw new PsbtError(`more than ${most} ${what}`);
}

/** A transaction. It is read in one go. */
export const readWholeOutput = (reader: ByteReader): Buffer =>
  readForm(reader, (inner, length) => {
    requireNoMore(length, MAX_BLOCK_WEIGHT, 'bytes in a transaction with its witnesses');
    return readTransaction(inner).raw;
  });

/** Of an unsigned transaction. @throws PsbtError */
export const requireFits = (length: number): void => {
  requireNoMore(length, MOST_STRIPPED_BYTES, 'bytes in a transaction');
};

/** A script. @throws PsbtError for more than 100,000 bytes */
export function readScript(reader: ByteReader): Buffer {
  const script = readBytes(reader);
  requireNoMore(script.length, MOST_SCRIPT_BYTES, 'bytes in a script');
  return script;
}

/** A transaction without witnesses and scripts. */
export function readUnsigned(reader: ByteReader): Buffer {
  return readForm(reader, (inner, length) => {
    requireFits(length);
    const { inputs } = new ScannedTransaction(inner, undefined, true);
    if (inputs.some(({ scriptLength }) => scriptLength > 0))
      throw broken('Unsigned tx does not have empty scriptSigs and scriptWitnesses.');
    return undefined;
  });
}

/** An output of a transaction: 8 bytes of value and the script. @throws PsbtError */
export const readOutput = (reader: ByteReader): Buffer =>
  readForm(reader, (inner) => {
    inner.skip(8);
    inner.skip(inner.compactSize());
    return undefined;
  });

/** A witness: the number of its items, and the items. @throws PsbtError, also for more than 4,000,000 bytes */
export const readWitness = (reader: ByteReader): Buffer =>
  readForm(reader, (inner, length) => {
    requireNoMore(length, MAX_BLOCK_WEIGHT, 'bytes in a witness');
    for (let left = inner.compactSize(); left > 0; left--) inner.skip(inner.compactSize());
    return undefined;
  });

/** A compact size. @throws PsbtError */
export const readCount = (reader: ByteReader): Buffer =>
  readForm(reader, (inner) => {
    inner.compactSize();
    return undefined;
  });

/** @throws PsbtError unless the key is as long */
export function requireKeyLength(name: string, key: Buffer, length: number): void {
  if (key.length !== length) throw broken(`Size of key was not ${length} for the type ${name}`);
}

/** A public key behind the type of a key. @throws PsbtError */
export function requirePublicKey(name: string, key: Buffer): void {
  if (key.length !== 1 + KEY_LENGTH && key.length !== 1 + LONG_KEY_LENGTH)
    throw broken(`Size of key was not the expected size for the type ${name}`);
  if (!isPublicKey(key.subarray(1))) throw broken('Invalid pubkey');
}

/** An ECDSA signature and its kind of hash. @throws PsbtError unless it is encoded as BIP66 demands */
export function readSignature(reader: ByteReader): Buffer {
  const signature = readBytes(reader);
  if (!isSignatureEncoding(signature)) throw broken('Signature is not a valid encoding');
  return signature;
}

/** The fingerprint of a key, and a path from it. @throws PsbtError, also for more steps than any key is away from the first */
export function readPath(reader: ByteReader, length = reader.compactSize()): Buffer {
  if (length % 4 !== 0 || length === 0) throw broken('Invalid length for HD key path');
  requireNoMore(length / 4 - 1, MOST_STEPS, 'steps in a path');
  return reader.bytes(length);
}

/**
 * `key`: its type, and an extended public key (BIP32), 78 bytes, which ends with the public key.
 * @throws PsbtError, also for a key of depth 0 that names a parent or is not its first child
 */
export function requireXpub(key: Buffer): void {
  requireKeyLength('Global XPUB', key, 1 + XPUB_LENGTH);
  const xpub = key.subarray(1);
  const parent = xpub.subarray(XPUB_DEPTH_AT + 1, XPUB_DEPTH_AT + 1 + XPUB_PARENT_LENGTH);
  if (xpub[XPUB_DEPTH_AT] === 0 && parent.some((byte) => byte !== 0)) throw broken('Invalid pubkey');
  if (!isPublicKey(xpub.subarray(XPUB_KEY_AT))) throw broken('Invalid pubkey');
}

/** Hashes of leaves, each once, and a path. */
export function readTapPath(reader: ByteReader, name: string): Buffer {
  const length = reader.compactSize();
  const start = reader.offset;
  const hashes: Buffer[] = [];
  for (let count = reader.compactSize(); count > 0; count--) {
    hashes.push(reader.bytes(HASH_LENGTH));
    requireNoMore(hashes.length, MOST_LEAVES, 'hashes of leaves');
  }
  const left = length - (reader.offset - start);
  if (left < 0) throw broken(`${name} Taproot BIP32 keypath has an invalid length`);
  const path = readPath(reader, left);
  const sorted = [...new Map(hashes.map((hash) => [hash.toString('latin1'), hash])).values()].sort((a, b) => a.compare(b));
  return Buffer.concat([compactSizeOf(sorted.length), ...sorted, path]);
}

/** `name`: `key` or `script`. */
export function readSchnorr(reader: ByteReader, name: string): Buffer {
  const signature = readBytes(reader);
  if (signature.length < LEAST_SCHNORR) throw broken(`Input Taproot ${name} path signature is shorter than 64 bytes`);
  if (signature.length > MOST_SCHNORR) throw broken(`Input Taproot ${name} path signature is longer than 65 bytes`);
  return signature;
}

/** `key`: its type, and a control block (BIP341), 33 bytes and 32 for each level; only the length is checked. @throws PsbtError */
export function requireControlBlock(key: Buffer): void {
  if (key.length < 34) throw broken('Input Taproot leaf script key is not at least 34 bytes');
  if ((key.length - 2) % 32 !== 0) throw broken("Input Taproot leaf script key's control block size is not valid");
}

/** A script and, as the last byte, its leaf version (BIP371). @throws PsbtError for no bytes */
export function readLeaf(reader: ByteReader): Buffer {
  const script = readBytes(reader);
  if (script.length === 0) throw broken('Input Taproot leaf script must be at least 1 byte');
  return script;
}

/** The public keys that make up an aggregate one. `name`: `Input` or `Output`. */
export function readParticipants(reader: ByteReader, key: Buffer, name: string): Buffer {
  if (!isPublicKey(key.subarray(1))) throw broken(`${name} musig2 aggregate pubkey is invalid`);
  const keys = readBytes(reader);
  requireNoMore(keys.length, MOST_PARTICIPANTS * KEY_LENGTH, 'bytes of keys that make up one');
  for (let at = 0; at + KEY_LENGTH <= keys.length; at += KEY_LENGTH)
    if (!isPublicKey(keys.subarray(at, at + KEY_LENGTH))) throw broken(`${name} musig2 participant pubkey is invalid`);
  if (keys.length % KEY_LENGTH !== 0) throw broken(`${name} musig2 participants pubkeys value size is not a multiple of 33`);
  return keys;
}

/** A participant, the aggregate key, and perhaps a leaf. `name`: what it is of. */
export function requireParticipant(key: Buffer, name: string): void {
  const length = 1 + 2 * KEY_LENGTH;
  if (key.length !== length && key.length !== length + HASH_LENGTH)
    throw broken(`Input musig2 ${name} key is not expected size of 67 or 99 bytes`);
  if (!isPublicKey(key.subarray(1 + KEY_LENGTH, length))) throw broken('musig2 aggregate pubkey is invalid');
  if (!isPublicKey(key.subarray(1, 1 + KEY_LENGTH))) throw broken('musig2 participant pubkey is invalid');
}

/** A public nonce of MuSig2 (BIP327): two points, which are not checked. @throws PsbtError unless it has 66 bytes */
export function readNonce(reader: ByteReader): Buffer {
  const nonce = readBytes(reader);
  if (nonce.length !== NONCE_LENGTH) throw broken('Input musig2 pubnonce value is not 66 bytes');
  return nonce;
}

/** A leaf of a tree. */
export interface TapLeaf {
  readonly depth: number;
  readonly version: number;
  readonly script: Buffer;
}

/** The leaves of a tree, from the left. @throws MalformedBytesError */
export function* leavesIn(reader: ByteReader): Generator<TapLeaf, void> {
  for (let count = 1; reader.remaining > 0; count++) {
    requireNoMore(count, MOST_LEAVES, 'leaves in a tree');
    yield { depth: reader.u8(), version: reader.u8(), script: readBytes(reader) };
  }
}

/** Looks at each leaf before the next one is read. @throws PsbtError unless the leaves make up one tree */
export function requireTree(leaves: Iterable<TapLeaf>): void {
  /** Whether there is a left half at each depth that waits for its right one. */
  const open: boolean[] = [];
  let isWrong = false;
  for (const { depth, version } of leaves) {
    if (depth > MOST_DEPTH) throw broken('Output Taproot tree has as leaf greater than Taproot maximum depth');
    if ((version & ~LEAF_VERSION) !== 0) throw broken('Output Taproot tree has a leaf with an invalid leaf version');
    let at = depth;
    isWrong ||= at + 1 < open.length;
    while (!isWrong && open.length > at && open[at] === true) {
      open.pop();
      isWrong = at === 0;
      at--;
    }
    while (!isWrong && open.length <= at) open.push(false);
    if (!isWrong) open[at] = true;
  }
  if (!isWrong && open.length === 0) throw broken('Output Taproot tree must not be empty');
  if (isWrong || open.length !== 1) throw broken('Output Taproot tree is malformed');
}
