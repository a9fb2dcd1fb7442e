// Transactions that anybody can make: they spend coins that need no signature, to scripts that need none.

import { hash256, fromDisplayHex, toDisplayHex } from '../../../lib/bitcoin/hash';
import { TRUE_P2SH, type KnownCoin } from './known-chain';

const FEE_SATS = 20_000;

export interface Spend {
  readonly raw: Buffer;
  /** As displayed. */
  readonly txid: string;
  readonly outpoint: string;
}

/** A number, dropped, and true: each number is a script of its own. */
const scriptOf = (number: number): Buffer => {
  const script = Buffer.from('04000000007551', 'hex');
  script.writeUInt32LE(number >>> 0, 1);
  return script;
};

/** Spends a coin into `outputs` parts: the first to the true P2SH, the others to scripts with numbers from `number` on. */
export function spendOf(coin: KnownCoin, outputs: number, number: number): Spend {
  const [txid = '', index = ''] = coin.outpoint.split(':');
  const value = Math.floor((coin.value - FEE_SATS) / outputs);
  const input = coin.isTrueP2sh ? Buffer.from('020151', 'hex') : Buffer.from('00', 'hex');
  const scripts = Array.from({ length: outputs }, (_, i) => (i === 0 ? TRUE_P2SH : scriptOf(number + i)));
  const raw = Buffer.concat([
    Buffer.from('0200000001', 'hex'),
    fromDisplayHex(txid),
    u32(Number(index)),
    input,
    Buffer.from('ffffffff', 'hex'),
    Buffer.of(outputs),
    ...scripts.flatMap((script) => [u64(value), Buffer.of(script.length), script]),
    Buffer.alloc(4)
  ]);
  return { raw, txid: toDisplayHex(hash256(raw)), outpoint: coin.outpoint };
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}
