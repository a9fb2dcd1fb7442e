// Amounts in satoshis: the maximum, the dust threshold, and conversion from and to text.

/** 21 million coins. */
export const MAX_MONEY = 21_000_000n * 100_000_000n;

const SATOSHIS_PER_COIN = 100_000_000n;

/** Satoshis per 1,000 bytes. An output that is worth less than spending it at this rate costs is dust (Bitcoin Core's `dustrelayfee`). */
const DUST_RELAY_FEE = 3_000n;
/** Outpoint, length of the script, signature with key, sequence, as in Bitcoin Core's `GetDustThreshold`. */
const INPUT_SIZE = 32 + 4 + 1 + 107 + 4;
const WITNESS_INPUT_SIZE = 32 + 4 + 1 + Math.floor(107 / 4) + 4;

const OP_RETURN = 0x6a;
const MAX_SCRIPT_SIZE = 10_000;

/**
 * The fewest satoshis that an output with this script may hold to be relayed; Bitcoin
 * Core's `GetDustThreshold`.
 */
export function dustThreshold(script: Buffer): bigint {
  if (isUnspendable(script)) return 0n;
  const outputSize = 8 + compactSizeLength(script.length) + script.length;
  const inputSize = isWitnessProgram(script) ? WITNESS_INPUT_SIZE : INPUT_SIZE;
  return (BigInt(outputSize + inputSize) * DUST_RELAY_FEE) / 1_000n;
}

/** Whether an output with this script can never be spent; Bitcoin Core's `IsUnspendable`. */
export function isUnspendable(script: Buffer): boolean {
  return script[0] === OP_RETURN || script.length > MAX_SCRIPT_SIZE;
}

function compactSizeLength(value: number): number {
  return value < 0xfd ? 1 : 3;
}

/** BIP141: a version opcode and one push of 2 to 40 bytes. */
function isWitnessProgram(script: Buffer): boolean {
  const [version = -1, push] = script;
  return script.length >= 4 && script.length <= 42 && push === script.length - 2 && (version === 0 || (version >= 0x51 && version <= 0x60));
}

/**
 * Whole coins in decimals, without zeros at the end (BIP21).
 * @param amount satoshis.
 */
export function formatCoins(amount: bigint): string {
  const decimals = (amount % SATOSHIS_PER_COIN).toString().padStart(8, '0').replace(/0+$/, '');
  return `${amount / SATOSHIS_PER_COIN}${decimals && '.'}${decimals}`;
}

/**
 * Parses an amount in coins. Digits on one side of the point are enough (BIP21: `*digit [ "." *digit ]`).
 * @returns satoshis; undefined when the text is not up to 21 million coins with up to eight decimals.
 */
export function parseCoins(text: string): bigint | undefined {
  const match = /^(?=\.?\d)(\d{0,8})(?:\.(\d{0,8}))?$/.exec(text);
  if (!match) return undefined;
  const amount = BigInt(match[1] ?? '') * SATOSHIS_PER_COIN + BigInt((match[2] ?? '').padEnd(8, '0'));
  return amount <= MAX_MONEY ? amount : undefined;
}
