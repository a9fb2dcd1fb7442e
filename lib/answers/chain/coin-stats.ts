// What all coins of the chain add up to. That takes minutes on the main network: threads and slices do it, for one client after the other, and
// clients that ask for the same share it. What was found last is kept: a block's hash says which coins there are.

import { keyOf } from '../../bitcoin/hash';
import { MadeOnce } from '../../server/cache/made-once';
import { ClientGoneError, type Client } from '../../turns/client';
import { Lock } from '../../turns/lock';
import type { HeaderRecord, IndexReader, IndexSnapshot, UtxoHash, UtxoSums } from '../../index/types';
import type { TxidsOf } from '../scripts/txids';

/** `none`: without a hash. */
export type CoinStatsHash = 'muhash' | 'none';

export type CoinSums = UtxoSums & Partial<Pick<UtxoHash, 'muhash'>> & { readonly tip: HeaderRecord };

/** Nothing has the txids that the hash needs. */
export class TxidsMissingError extends Error {
  override readonly name = 'TxidsMissingError';
}

export class CoinStats {
  readonly #reader: IndexReader;
  readonly #txidsOf: TxidsOf | undefined;
  readonly #making = new MadeOnce<CoinSums>();
  readonly #found = new Map<CoinStatsHash, CoinSums>();
  readonly #lock = new Lock();

  /** `txidsOf`: undefined when no index has txids. */
  constructor(reader: IndexReader, txidsOf: TxidsOf | undefined) {
    this.#reader = reader;
    this.#txidsOf = txidsOf;
  }

  /** Of the present tip. @throws TxidsMissingError, ClientGoneError when all who wait have left */
  async sums(hash: CoinStatsHash, client: Client): Promise<CoinSums> {
    for (;;) {
      const { tip, sums } = this.#reader.read((snapshot) => ({ tip: snapshot.tip, sums: this.#sumsAt(hash, snapshot, client) }));
      try {
        return await sums;
      } catch (error) {
        // The txids of a block are gone once a reorganization has disconnected it.
        const isActive = this.#reader.read((snapshot) => snapshot.headerAt(tip.height)?.hash.equals(tip.hash) === true);
        if (isActive || !(error instanceof TxidsMissingError)) throw error;
      }
    }
  }

  #sumsAt(hash: CoinStatsHash, snapshot: IndexSnapshot, client: Client): Promise<CoinSums> {
    const found = this.#found.get(hash);
    if (found?.tip.hash.equals(snapshot.tip.hash) === true) return Promise.resolve(found);
    return this.#making.get(`${hash}${keyOf(snapshot.tip.hash)}`, client, (everybody) =>
      snapshot.during(this.#inTurn(hash, snapshot, everybody))
    );
  }

  #inTurn(hash: CoinStatsHash, snapshot: IndexSnapshot, client: Client): Promise<CoinSums> {
    return this.#lock.run(async () => {
      const sums = await this.#make(hash, snapshot, client);
      this.#found.set(hash, sums);
      return sums;
    });
  }

  async #make(hash: CoinStatsHash, snapshot: IndexSnapshot, client: Client): Promise<CoinSums> {
    const goOn = (): void => {
      if (client.isGone) throw new ClientGoneError('the client left before all coins were read');
    };
    const { tip } = snapshot;
    goOn();
    if (hash === 'none') return { ...(await snapshot.utxoSums(goOn)), tip };
    return { ...(await snapshot.utxoHash((height) => this.#txidsAt(height, snapshot), goOn)), tip };
  }

  async #txidsAt(height: number, snapshot: IndexSnapshot): Promise<Buffer> {
    const block = snapshot.headerAt(height);
    const txids = block && (await this.#txidsOf?.(block));
    if (txids === undefined) throw new TxidsMissingError('the hash of all coins needs the txids of the index by script (--rest-addresses)');
    return Buffer.concat(txids);
  }
}
