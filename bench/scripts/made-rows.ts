// Blocks for a separate store: made of only the bytes that an index by script reads, with scripts that recur as on the main network.
// Their work and signatures are not checked.

import { hash256 } from '../../lib/bitcoin/hash';
import { ByteWriter } from '../chain/byte-writer';
import { Random } from '../chain/random';
import type { ScriptBlock } from '../../lib/scripts/scan/rows';

const SEED = 23;
const TRANSACTIONS = 1_000;
const INPUTS = 2;
const OUTPUTS = 3;
/** The share of rows with a new script; the others use a script that already has rows, popular scripts more often. */
const NEW_SHARE = 1 / 3.5;
const LARGEST_VALUE = 1_000_000_000;
const SCRIPT_LENGTH = 22;

/** `rows`: the store gets a few more rows than that. */
export function* madeBlocks(rows: number): Generator<ScriptBlock> {
  const random = new Random(SEED);
  /** Scripts of all rows so far: a script occurs as often as it has rows. */
  const used = new Uint32Array(rows + 2 * TRANSACTIONS * (INPUTS + OUTPUTS));
  let [count, scripts] = [0, 0];
  const draw = (): number => {
    const script = count === 0 || random.unit() < NEW_SHARE ? scripts++ : (used[random.below(count)] ?? 0);
    used[count++] = script;
    return script;
  };
  const writeOutput = (writer: ByteWriter): void => {
    const script = Buffer.alloc(SCRIPT_LENGTH);
    script[1] = SCRIPT_LENGTH - 2;
    script.writeUInt32LE(draw(), 2);
    writer.u64(random.below(LARGEST_VALUE)).varBytes(script);
  };
  let previousHash: Buffer = Buffer.alloc(32);
  for (let height = 0; count < rows; height++) {
    const block = new ByteWriter(1 << 19).u32(1).bytes(previousHash).bytes(Buffer.alloc(32)).u32(height).u32(0).u32(0);
    const spent = new ByteWriter(1 << 18);
    // The genesis block has no rows.
    const transactions = height === 0 ? 0 : TRANSACTIONS;
    for (const writer of [block, spent]) writer.compactSize(1 + transactions);
    block.u32(1).u8(1).bytes(Buffer.alloc(32)).u32(0xffff_ffff).u8(4).u32(height).u32(0).u8(1).u64(0).u8(1).u8(0x51).u32(0);
    spent.u8(0);
    for (let i = 0; i < transactions; i++) {
      block.u32(2).u8(INPUTS);
      for (let n = 0; n < INPUTS; n++) block.bytes(random.bytes(32)).u32(n).u8(0).u32(0);
      block.u8(OUTPUTS);
      for (let n = 0; n < OUTPUTS; n++) writeOutput(block);
      block.u32(0);
      spent.u8(INPUTS);
      for (let n = 0; n < INPUTS; n++) writeOutput(spent);
    }
    const raw = Buffer.from(block.toBuffer());
    const hash = hash256(raw.subarray(0, 80));
    yield { point: { hash, height }, raw, spent: transactions === 0 ? undefined : Buffer.from(spent.toBuffer()) };
    previousHash = hash;
  }
}
