// A bcoin node on regtest that feeds a fleet, in a process that may be killed, and ends in order at SIGTERM. It does what its parent tells it.
//
//   fleet-node.ts <folder> <HTTP port> <URLs of NATS> <name> <seconds that its clock is ahead>

import { bcoin, type HostFullBlock } from '../bcoin/bcoin';
import { FeedingNode } from '../fleet/feeding-node';
import { blockWith, entryOf, mine } from '../bcoin/regtest-node';

const [prefix = '', httpPort = '', nats = '', name = '', ahead = '0'] = process.argv.slice(2);

const now = Date.now.bind(Date);
const aheadMs = Number(ahead) * 1_000;
Date.now = () => now() + aheadMs;

/** The hash of a script that is true: `OP_TRUE`. */
const TRUE_HASH = Buffer.from('da1745e9b549bd0bfa1a569971c77eba30cd5a4b', 'hex');

const LEASE_MS = 4_000;

/** What the parent asks for. Blocks and transactions in hex. */
export type NodeRequest =
  | { readonly type: 'mine'; readonly count: number; readonly back: number }
  /** A block on the tip that the node does not get, with these transactions alone. */
  | { readonly type: 'forge'; readonly transactions: readonly string[] }
  | { readonly type: 'add'; readonly blocks: readonly string[] }
  | { readonly type: 'pool'; readonly transactions: readonly string[] }
  | { readonly type: 'tip' };

export interface NodeReply {
  readonly height: number;
  readonly hash: string;
  /** Blocks that were mined, and how many transactions the pool refused. */
  readonly blocks?: readonly string[];
  readonly refused?: number;
  /** Whether it writes the log, and what it has logged. */
  readonly leads?: boolean;
  readonly log?: readonly string[];
}

async function main(): Promise<void> {
  const feeding = await FeedingNode.open(nats, { prefix, settings: { httpPort: Number(httpPort), noAuth: true } });
  feeding.start({ name, leaseMs: LEASE_MS });
  const { node } = feeding;
  node.chain.synced = true;
  /** Everything is paid to who knows no secret: a script that is true, as a P2SH address. */
  const address = bcoin.Address.fromScripthash(TRUE_HASH);

  const blockOf = (hex: string) => bcoin.Block.fromRaw(Buffer.from(hex, 'hex'));
  const hexOf = (block: { toRaw(): Buffer }): string => block.toRaw().toString('hex');

  /**
   * Blocks on one below the tip. The first has the transactions of the block that was there; those of the pool do not leave it while the
   * branch has less work, and would be in each of its blocks.
   */
  async function branch({ count, back }: { readonly count: number; readonly back: number }): Promise<HostFullBlock[]> {
    const { chain } = node;
    let parent = await chain.getEntryByHeight(chain.height - back);
    const above = await chain.getEntryByHeight(chain.height - back + 1);
    let transactions = (above && (await chain.getBlock(above.hash))?.txs.slice(1)) ?? [];
    const blocks: HostFullBlock[] = [];
    for (; blocks.length < count; transactions = []) {
      const block = await blockWith(node, transactions, parent ?? undefined, address);
      await chain.add(block);
      blocks.push(block);
      parent = await entryOf(node, block);
    }
    return blocks;
  }

  async function answer(request: NodeRequest): Promise<Partial<NodeReply>> {
    switch (request.type) {
      case 'mine': {
        const blocks = request.back === 0 ? await mine(node, request.count, undefined, address) : await branch(request);
        return { blocks: blocks.map(hexOf) };
      }
      case 'forge':
        return {
          blocks: [
            hexOf(
              await blockWith(
                node,
                request.transactions.map((hex) => bcoin.TX.fromRaw(Buffer.from(hex, 'hex')))
              )
            )
          ]
        };
      case 'add':
        for (const hex of request.blocks) await node.chain.add(blockOf(hex)).catch(() => undefined);
        return {};
      case 'pool': {
        let refused = 0;
        for (const hex of request.transactions) await node.mempool.addTX(bcoin.TX.fromRaw(Buffer.from(hex, 'hex'))).catch(() => refused++);
        return { refused };
      }
      case 'tip':
        return { leads: feeding.feed.isLeading, log: feeding.log.lines.slice(-10) };
    }
  }

  // One after the other: nobody hears of a block before those that it follows.
  let answered = Promise.resolve();
  process.on('message', ({ id, request }: { readonly id: number; readonly request: NodeRequest }) => {
    answered = answered
      .then(() => answer(request))
      .then(
        (reply) => void process.send?.({ id, reply: { height: node.chain.height, hash: displayed(node.chain.tip.hash), ...reply } }),
        (error: unknown) => void process.send?.({ id, error: String((error as Error).stack) })
      );
  });
  process.on('disconnect', () => process.exit());
  process.once('SIGTERM', () => void feeding.close().then(() => process.exit(0)));
  process.send?.({ id: 0, reply: { height: node.chain.height, hash: displayed(node.chain.tip.hash) } });
}

/** bcoin 1 has hashes as hex in wire order. */
const displayed = (hash: string | Buffer): string =>
  Buffer.from(typeof hash === 'string' ? Buffer.from(hash, 'hex') : hash)
    .reverse()
    .toString('hex');

void main();
