// A small regtest chain to try requests on: outputs of every standard kind, a spend of each that can be spent, and a few transactions
// that wait in the pool.

import { createHash } from 'node:crypto';
import type { Bcoin, HostFullNode, HostKeyRing, HostMutableTransaction } from '../bcoin';

/** The block that creates outputs of every kind. bcoin 1.0.2 activates segwit by signalling, after three periods of 144 blocks. */
const FAN_HEIGHT = 433;
/** The last block spends some of these outputs. */
const LAST_HEIGHT = FAN_HEIGHT + 1;
/** How many of the outputs are spent in the last block; the spends of the others wait in the pool. */
const SPENT_IN_BLOCK = 4;
const SUBSIDY_SATS = 5_000_000_000;
const OUTPUT_SATS = 500_000_000;
const FEE_SATS = 10_000;

/** bcoin's error for a transaction that does not fit the chain or the pool. */
const REFUSED = 'VerifyError';

/** A kind of output: where to pay to, and the keys that can spend it (none: unspendable). */
interface OutputKind {
  readonly target: unknown;
  readonly valueSats: number;
  readonly rings: readonly HostKeyRing[];
}

/**
 * Mines what is missing of the demonstration: all of it on an empty chain, the rest if it was interrupted. If the pool is empty, sends
 * the transactions that are to wait in it. A chain that its user has continued may have spent their coins.
 * @param signal stops the work between two blocks.
 */
export async function demonstrate(node: HostFullNode, bcoin: Bcoin, signal: AbortSignal): Promise<void> {
  const kinds = outputKinds(bcoin);
  const miner = minerOf(bcoin);
  if (node.chain.height < LAST_HEIGHT)
    console.log(`Mining a demonstration chain, from block ${node.chain.height + 1} to ${LAST_HEIGHT} ...`);
  while (node.chain.height < LAST_HEIGHT && !signal.aborted) {
    if (node.chain.height === FAN_HEIGHT - 1) await makeFan(node, bcoin, kinds, miner);
    if (node.chain.height === FAN_HEIGHT) await spendFan(node, bcoin, kinds, 0, SPENT_IN_BLOCK);
    const block = await node.miner.cpu.mineBlock(null, miner.getAddress());
    if (block === null) throw new Error('the miner was stopped');
    await node.chain.add(block);
  }
  if (node.mempool.map.size === 0 && node.chain.height >= LAST_HEIGHT) await spendFan(node, bcoin, kinds, SPENT_IN_BLOCK, kinds.length);
}

/** The owner of the coinbases. */
export function minerOf(bcoin: Bcoin): HostKeyRing {
  return keyRing(bcoin, 'miner');
}

/** The outputs of every kind, paid for by the first block. */
async function makeFan(node: HostFullNode, bcoin: Bcoin, kinds: readonly OutputKind[], miner: HostKeyRing): Promise<void> {
  const coinbase = (await node.chain.getBlock(1))?.txs[0];
  if (coinbase === undefined) throw new Error('the chain has no first block');
  const fan = new bcoin.MTX();
  fan.addTX(coinbase, 0);
  for (const { target, valueSats } of kinds) fan.addOutput(target, valueSats);
  const paid = kinds.reduce((sum, { valueSats }) => sum + valueSats, 0);
  fan.addOutput(miner.getAddress(), SUBSIDY_SATS - paid - FEE_SATS);
  await send(node, fan, [miner]);
}

/** Spends the fan's outputs from `start` to before `end`, except unspendable ones. */
async function spendFan(node: HostFullNode, bcoin: Bcoin, kinds: readonly OutputKind[], start: number, end: number): Promise<void> {
  const fan = (await node.chain.getBlock(FAN_HEIGHT))?.txs[1];
  if (fan === undefined) return;
  for (const [index, { rings, target }] of kinds.entries()) {
    if (rings.length === 0 || index < start || index >= end) continue;
    const transaction = new bcoin.MTX();
    transaction.addTX(fan, index);
    transaction.addOutput(target, OUTPUT_SATS - FEE_SATS);
    await send(node, transaction, rings);
  }
}

/** Sends a transaction, unless the chain has it or another one that spends its coin. */
async function send(node: HostFullNode, transaction: HostMutableTransaction, rings: readonly HostKeyRing[]): Promise<void> {
  transaction.sign(rings);
  try {
    await node.mempool.addTX(transaction.toTX());
  } catch (error) {
    if ((error as { readonly type?: unknown }).type !== REFUSED) throw error;
  }
}

function outputKinds(bcoin: Bcoin): OutputKind[] {
  const kind = (target: unknown, rings: readonly HostKeyRing[], valueSats = OUTPUT_SATS): OutputKind => ({ target, valueSats, rings });
  const single = (name: string, shape: Partial<HostKeyRing>): OutputKind => {
    const owner = Object.assign(keyRing(bcoin, name), shape);
    return kind(owner.getAddress(), [owner]);
  };
  /** A script with three keys, two of which sign; with a shape, an address of that script. */
  const twoOfThree = (name: string, shape?: Partial<HostKeyRing>): OutputKind => {
    const owners = [1, 2, 3].map((number) => keyRing(bcoin, `${name} ${number}`));
    const script = bcoin.Script.fromMultisig(
      2,
      3,
      owners.map((owner) => owner.getPublicKey())
    );
    const signers = owners.slice(0, 2).map((owner) => Object.assign(owner, shape, { script }));
    return kind(shape === undefined ? script : signers[0]?.getAddress(), signers);
  };
  const pubkey = keyRing(bcoin, 'pubkey');
  return [
    kind(bcoin.Script.fromPubkey(pubkey.getPublicKey()), [pubkey]),
    single('pubkeyhash', {}),
    twoOfThree('multisig'),
    twoOfThree('scripthash', {}),
    single('witness_v0_keyhash', { witness: true }),
    twoOfThree('witness_v0_scripthash', { witness: true }),
    single('witness_v0_keyhash in scripthash', { witness: true, nested: true }),
    kind(bcoin.Script.fromProgram(1, sha256('witness_unknown')), []),
    kind(bcoin.Script.fromNulldata(Buffer.from('bcoin-rest demonstration')), [], 0)
  ];
}

/** The keys are the same in every demonstration: nothing of value may ever be sent to them. */
function keyRing(bcoin: Bcoin, name: string): HostKeyRing {
  return bcoin.KeyRing.fromPrivate(sha256(name), true);
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(`bcoin-rest demonstration: ${text}`).digest();
}
