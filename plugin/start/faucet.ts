// The faucet of the demonstration: pays a coin to any address, and mines it. It is a call of the node's RPC, which asks for the key.

import { COINBASE_MATURITY } from '../../lib/bitcoin/consensus';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { fromHost, toHostLike } from '../../lib/node/host';
import { Lock } from '../../lib/turns/lock';
import type { Bcoin, HostFullNode, HostKeyRing, HostMutableTransaction } from '../bcoin';

const PAID_SATS = 100_000_000;
const FEE_SATS = 10_000;
/** The first block's coin pays for the demonstration. */
const FIRST_HEIGHT = 2;

/** Why the faucet does not pay: an error of the call. */
class FaucetError extends Error {
  override readonly name = 'FaucetError';
  /** With these bcoin's RPC shows the message. */
  readonly type = 'RPCError';
  readonly code = -8;
}

/** `miner`: the owner of the demonstration's coinbases. */
export function addFaucet(node: HostFullNode, bcoin: Bcoin, miner: HostKeyRing): void {
  const faucet = new Faucet(node, bcoin, miner);
  node.rpc.add('faucet', ([address], help) =>
    help || typeof address !== 'string' ? Promise.reject(new FaucetError('faucet "address"')) : faucet.pay(address)
  );
}

class Faucet {
  readonly #node: HostFullNode;
  readonly #bcoin: Bcoin;
  readonly #miner: HostKeyRing;
  #height = FIRST_HEIGHT;
  /** Two payments at a time would spend the same coin. */
  readonly #lock = new Lock();

  constructor(node: HostFullNode, bcoin: Bcoin, miner: HostKeyRing) {
    this.#node = node;
    this.#bcoin = bcoin;
    this.#miner = miner;
  }

  /** Resolves when the payment is in a block. @throws FaucetError */
  pay(address: string): Promise<{ readonly txid: string; readonly blockhash: string }> {
    return this.#lock.run(() => this.#pay(address));
  }

  async #pay(address: string): Promise<{ readonly txid: string; readonly blockhash: string }> {
    const { mempool, miner, chain } = this.#node;
    const target = this.#read(address);
    const transaction = await this.#fundedBy((payment, value) => {
      payment.addOutput(target, PAID_SATS);
      payment.addOutput(this.#miner.getAddress(), value - PAID_SATS - FEE_SATS);
    });
    await mempool.addTX(transaction);
    const block = await miner.cpu.mineBlock(null, this.#miner.getAddress());
    if (block === null) throw new FaucetError('the miner was stopped');
    await chain.add(block);
    return { txid: toDisplayHex(fromHost(transaction.hash())), blockhash: toDisplayHex(fromHost(block.hash())) };
  }

  /** The plugin has written all forms of addresses as the node's own. @throws FaucetError */
  #read(address: string): unknown {
    const { network } = this.#node;
    try {
      return this.#bcoin.Address.fromString(address, network);
    } catch (error) {
      throw new FaucetError(`an address of ${network.type} is needed, not '${address}'`, { cause: error });
    }
  }

  /** A signed payment from the first mature coinbase of the miner that is unspent. `addOutputs` gets its value. */
  async #fundedBy(
    addOutputs: (payment: HostMutableTransaction, value: number) => void
  ): Promise<ReturnType<HostMutableTransaction['toTX']>> {
    const { chain, mempool, network } = this.#node;
    const toHost = toHostLike(network.genesis.hash);
    for (; this.#height <= chain.height - COINBASE_MATURITY; this.#height++) {
      const coinbase = (await chain.getBlock(this.#height))?.txs[0];
      if (coinbase === undefined) break;
      const txid = toHost(fromHost(coinbase.hash()));
      const coin = await chain.getCoin(txid, 0);
      if (coin === null || coin.value < PAID_SATS + 2 * FEE_SATS || mempool.isSpent(txid, 0)) continue;
      const payment = new this.#bcoin.MTX();
      payment.addTX(coinbase, 0);
      addOutputs(payment, coin.value);
      // Somebody else's coinbase cannot be signed.
      if (payment.sign([this.#miner]) === 1) return payment.toTX();
    }
    throw new FaucetError('the demonstration has no coins left: npm start -- --reset makes a new one');
  }
}
