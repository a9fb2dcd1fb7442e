// A process with a real node and everything that the plugin serves, which measures how long its event loop is held and how much memory
// it keeps, so that clients in another process do not count.
//
//   metered-node.ts <settings as JSON>

import { hash } from 'node:crypto';
import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { bcoin, type HostFullBlock } from '../bcoin/bcoin';
import { COINBASE_SATS } from '../chain/coinbases';
import { LoopMeter } from '../process/loop-meter';
import { freePort, mine } from '../bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../node/rest-node';
import { signed } from '../chain/signed';
import { until } from '../expectations/until';
import { collectGarbage } from '../process/garbage';
import type { HostTransaction } from '../../../lib/node/host';

/** What clients may ask for, as texts. */
export interface MeteredFacts {
  readonly http: number;
  readonly electrum: number;
  readonly txid: string;
  readonly raw: string;
  readonly pooledTxid: string;
  readonly blockHash: string;
  readonly height: number;
  readonly address: string;
  /** Script and hash of a script with a long history, the hash as in Esplora's API and as in the Electrum protocol. */
  readonly script: string;
  readonly scripthash: string;
  readonly electrumHash: string;
  /** A transaction in a block with many outputs that anybody may spend (OP_1). */
  readonly openTxid: string;
  /** What each of them is worth. */
  readonly openValue: number;
}

export interface Measured {
  /** The longest time for which the event loop was held by work since the last measurement, in ms. */
  readonly heldMs: number;
  /** Memory in use after collecting garbage: heap and buffers. */
  readonly bytes: number;
}

export type MeteredReply = { readonly facts: MeteredFacts } | { readonly measured: Measured };

const OPEN_SCRIPT = Buffer.from('51', 'hex');
const OPEN_VALUE = 4_500_000;
const OPEN_OUTPUTS = 1_000;

const TICK_MS = 5;
const MATURE = 101;
const OUTPUTS = 1_000;
const VALUE = 10_000;
const FEE = 1_000_000;

const say = (reply: MeteredReply): void => {
  process.send?.(reply);
};

async function main(): Promise<void> {
  const electrum = await freePort();
  const settings = JSON.parse(process.argv[2] ?? '{}') as Record<string, unknown>;
  const served = await openRestNode({ settings: { 'rest-addresses': true, 'rest-electrum': electrum, ...settings } });
  const facts = await prepared(served, electrum);
  const meter = new LoopMeter(TICK_MS);
  process.on(
    'message',
    () =>
      void measured(meter).then((measured) => {
        say({ measured });
      })
  );
  process.on('disconnect', () => void served.node.close().then(() => process.exit()));
  say({ facts });
}

async function measured(meter: LoopMeter): Promise<Measured> {
  const heldMs = meter.take();
  await new Promise(setImmediate);
  collectGarbage();
  meter.take();
  const { heapUsed, external } = process.memoryUsage();
  return { heldMs, bytes: heapUsed + external };
}

/** Mines a chain in which one script has a long history, and leaves a transaction in the pool. */
async function prepared({ node, rest, port: http }: RestNode, electrum: number): Promise<MeteredFacts> {
  const ring = bcoin.KeyRing.generate();
  const address = ring.getAddress();
  const blocks = await mine(node, MATURE + 3, undefined, address);
  await untilReady({ node, rest, port: http, baseUrl: '' });
  const script = Buffer.concat([Buffer.from([0x00, 20]), hash('sha256', 'a busy script', 'buffer').subarray(0, 20)]);
  const send = async (block: HostFullBlock | undefined, outputs: readonly (readonly [unknown, number])[]): Promise<HostTransaction> => {
    const coinbase = block?.txs[0] as HostTransaction; // every block has one
    const transaction = signed(ring, [coinbase], outputs);
    await node.mempool.addTX(transaction);
    return transaction;
  };
  const pay = (block: HostFullBlock | undefined): Promise<HostTransaction> => {
    const paid = Array.from({ length: OUTPUTS }, () => [script, VALUE] as const);
    return send(block, [...paid, [address, COINBASE_SATS - OUTPUTS * VALUE - FEE]]);
  };
  const confirmed = await pay(blocks[0]);
  const open = await send(blocks[2], [
    ...Array.from({ length: OPEN_OUTPUTS }, () => [OPEN_SCRIPT, OPEN_VALUE] as const),
    [address, COINBASE_SATS - OPEN_OUTPUTS * OPEN_VALUE - FEE]
  ]);
  const [block] = await mine(node, 1);
  const pooled = await pay(blocks[1]);
  const { height } = node.chain;
  const ready = rest.scripts;
  if (block === undefined || ready === undefined) throw new Error('expected a block and an index by script');
  const digest = hash('sha256', script, 'buffer');
  await until(() =>
    ready.history(script).then(
      (history) => history.length >= 2,
      () => false
    )
  );
  return {
    http,
    electrum,
    txid: toDisplayHex(confirmed.hash()),
    raw: pooled.toRaw().toString('hex'),
    pooledTxid: toDisplayHex(pooled.hash()),
    blockHash: toDisplayHex(block.hash()),
    height,
    address: ring.getAddress('string', 'regtest'),
    script: script.toString('hex'),
    scripthash: digest.toString('hex'),
    electrumHash: toDisplayHex(digest),
    openTxid: toDisplayHex(open.hash()),
    openValue: OPEN_VALUE
  };
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
