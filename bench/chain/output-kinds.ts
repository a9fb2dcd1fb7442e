// The kinds of outputs in the synthetic chain, in about the shares that they have on the main
// network, and the inputs that spend them. Sizes and shapes are the real ones; keys, hashes
// and the numbers in signatures are random bytes.

import type { ByteWriter } from './byte-writer';
import type { Random } from './random';

export interface OutputKind {
  /** Share of all outputs, in percent. */
  readonly share: number;
  lockingScript(random: Random): Buffer;
  /** The scriptSig of an input that spends it. */
  scriptSig(random: Random): Buffer;
  /** Writes the witness stack of an input that spends it; undefined: it has none. */
  readonly witness?: (writer: ByteWriter, random: Random) => void;
}

const NOTHING = Buffer.alloc(0);
/** Share of P2TR spends that reveal a script, which usually holds data. */
const SCRIPT_PATH_SHARE = 0.12;
const LARGEST_REVEALED_SCRIPT = 3_000;

const bytes = (...values: readonly number[]): Buffer => Buffer.from(values);
const push = (data: Buffer): Buffer => Buffer.concat(data.length < 0x4c ? [bytes(data.length), data] : [bytes(0x4c, data.length), data]);

/** Looks like a compressed public key. */
const publicKey = (random: Random): Buffer => Buffer.concat([bytes(2 + random.below(2)), random.bytes(32)]);

/** Looks like a DER signature with hash type ALL; half of them have a padded r. */
function signature(random: Random): Buffer {
  const padded = random.below(2) === 1;
  const [r, s] = [Buffer.from(random.bytes(32)), Buffer.from(random.bytes(32))];
  r[0] = ((r[0] as number) & 0x7f) | (padded ? 0x80 : 0x01); // 32 bytes each
  s[0] = ((s[0] as number) & 0x7f) | 0x01;
  const rField = padded ? bytes(0x02, 33, 0) : bytes(0x02, 32);
  return Buffer.concat([bytes(0x30, padded ? 69 : 68), rField, r, bytes(0x02, 32), s, bytes(0x01)]);
}

function multisigScript(random: Random, required: number, keys: number): Buffer {
  const pushes = Array.from({ length: keys }, () => push(publicKey(random)));
  return Buffer.concat([bytes(0x50 + required), ...pushes, bytes(0x50 + keys, 0xae)]);
}

/** Witness of an input that spends P2WPKH. */
export function writeKeyWitness(writer: ByteWriter, random: Random): void {
  writer.u8(2).varBytes(signature(random)).varBytes(publicKey(random));
}

function writeMultisigWitness(writer: ByteWriter, random: Random): void {
  writer
    .u8(4)
    .u8(0)
    .varBytes(signature(random))
    .varBytes(signature(random))
    .varBytes(multisigScript(random, 2, 3));
}

function writeTaprootWitness(writer: ByteWriter, random: Random): void {
  if (random.unit() >= SCRIPT_PATH_SHARE) {
    writer.u8(1).varBytes(random.bytes(64));
    return;
  }
  const script = random.bytes(100 + random.below(LARGEST_REVEALED_SCRIPT));
  writer.u8(3).varBytes(random.bytes(64)).varBytes(script).varBytes(random.bytes(33));
}

export const OUTPUT_KINDS: readonly OutputKind[] = [
  {
    // P2WPKH
    share: 40,
    lockingScript: (random) => Buffer.concat([bytes(0x00, 20), random.bytes(20)]),
    scriptSig: () => NOTHING,
    witness: writeKeyWitness
  },
  {
    // P2PKH
    share: 17,
    lockingScript: (random) => Buffer.concat([bytes(0x76, 0xa9, 20), random.bytes(20), bytes(0x88, 0xac)]),
    scriptSig: (random) => Buffer.concat([push(signature(random)), push(publicKey(random))])
  },
  {
    // P2TR
    share: 19,
    lockingScript: (random) => Buffer.concat([bytes(0x51, 32), random.bytes(32)]),
    scriptSig: () => NOTHING,
    witness: writeTaprootWitness
  },
  {
    // P2SH of P2WPKH
    share: 12,
    lockingScript: (random) => Buffer.concat([bytes(0xa9, 20), random.bytes(20), bytes(0x87)]),
    scriptSig: (random) => push(Buffer.concat([bytes(0x00, 20), random.bytes(20)])),
    witness: writeKeyWitness
  },
  {
    // P2SH of 2-of-3
    share: 3,
    lockingScript: (random) => Buffer.concat([bytes(0xa9, 20), random.bytes(20), bytes(0x87)]),
    scriptSig: (random) =>
      Buffer.concat([bytes(0x00), push(signature(random)), push(signature(random)), push(multisigScript(random, 2, 3))])
  },
  {
    // P2WSH of 2-of-3
    share: 8,
    lockingScript: (random) => Buffer.concat([bytes(0x00, 32), random.bytes(32)]),
    scriptSig: () => NOTHING,
    witness: writeMultisigWitness
  },
  {
    // bare 1-of-2
    share: 1,
    lockingScript: (random) => multisigScript(random, 1, 2),
    scriptSig: (random) => Buffer.concat([bytes(0x00), push(signature(random))])
  }
];

/** A random kind according to the shares, as an index in OUTPUT_KINDS. */
export function drawKind(random: Random): number {
  let left = random.unit() * 100;
  const found = OUTPUT_KINDS.findIndex(({ share }) => (left -= share) < 0);
  return Math.max(found, 0);
}

/** The script of an OP_RETURN output, which is not a coin. */
export function dataScript(random: Random): Buffer {
  return Buffer.concat([bytes(0x6a), push(random.bytes(20 + random.below(60)))]);
}
