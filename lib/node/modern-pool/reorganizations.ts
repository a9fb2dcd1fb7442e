// The pool after blocks: transactions of disconnected blocks come back; after a reorganization those leave that no longer fit the chain
// (MaybeUpdateMempoolForReorg of Bitcoin Core).

import { setImmediate } from 'node:timers/promises';
import { COINBASE_MATURITY } from '../../bitcoin/consensus';
import { PolicyRefusal } from '../../policy/refusal';
import { Slice } from '../../turns/slices';
import { spentView } from './spent-view';
import { LOCK_FLAGS, type Admission, type Terms } from './admission';
import type {
  HostChain,
  HostCoinView,
  HostEntry,
  HostHash,
  HostMempool,
  HostNode,
  HostPoolEntry,
  HostTransaction,
  ToHostHash
} from '../host';
import type { PooledEntries } from './pooled-entries';

const FROM_BLOCK: Terms = { isFromBlock: true, mayReplace: true, mayEvictSibling: false };

/** BIP68: with this bit a sequence number is no relative lock time. */
const NO_RELATIVE_LOCK = 0x8000_0000;

export interface ReorganizationsParts {
  readonly mempool: HostMempool;
  readonly chain: HostChain;
  readonly entries: PooledEntries;
  readonly admission: Admission;
  readonly logger: HostNode['logger'];
  readonly toHost: ToHostHash;
}

export class Reorganizations {
  readonly #parts: ReorganizationsParts;
  /** Whether the last block of a new branch is still to be connected: bcoin announces a reorganization before that. */
  #isUnderWay = false;

  constructor(parts: ReorganizationsParts) {
    this.#parts = parts;
  }

  /** Takes the place of bcoin's methods. */
  follow(): void {
    const { mempool, entries } = this.#parts;
    const addBlock = mempool._addBlock.bind(mempool);
    mempool._addBlock = async (block, transactions) => {
      const isEmpty = mempool.map.size === 0;
      await addBlock(block, transactions);
      if (isEmpty) await this.#note(block.hash);
      entries.blockCame();
      if (this.#isUnderWay) await this.#settle();
      this.#isUnderWay = false;
      await entries.expire();
    };
    mempool._removeBlock = (block, transactions) => this.#takeBack(block, transactions);
    mempool._handleReorg = () => {
      this.#isUnderWay = true;
      return Promise.resolve();
    };
  }

  async #takeBack(block: HostEntry, transactions: readonly HostTransaction[]): Promise<void> {
    const { mempool, admission, entries, logger, toHost } = this.#parts;
    const slice = new Slice();
    for (const [i, transaction] of transactions.entries()) {
      if (slice.isOver()) await setImmediate();
      if (mempool.hasEntry(toHost(transaction.hash()))) continue;
      try {
        if (i === 0) throw new PolicyRefusal('invalid', 'coinbase');
        await entries.carryOut(await admission.single(transaction, FROM_BLOCK));
        mempool.emit('unconfirmed', transaction, block);
      } catch (error) {
        if (!(error instanceof PolicyRefusal)) throw error;
        if (i > 0) logger.debug('A transaction of a disconnected block does not come back to the pool: %s.', error.message);
        await this.#evictSpenders(transaction);
      }
    }
    await this.#note(block.prevBlock);
  }

  /** The pool is up to date with a block. The pool on the disk is of no use without knowing that, which bcoin forgets for an empty one. */
  async #note(tip: HostHash): Promise<void> {
    const { mempool } = this.#parts;
    mempool.rejects.reset();
    mempool.cache.sync(tip);
    await mempool.cache.flush();
    mempool.tip = tip;
  }

  /** A transaction that is gone takes those along that spend from it. */
  async #evictSpenders(transaction: HostTransaction): Promise<void> {
    const { mempool, entries, toHost } = this.#parts;
    const hash = toHost(transaction.hash());
    for (const index of transaction.outputs.keys()) {
      const spender = mempool.getSpent(hash, index);
      if (spender !== undefined) await entries.evict(spender);
    }
  }

  async #settle(): Promise<void> {
    const { mempool, entries } = this.#parts;
    const slice = new Slice();
    for (const entry of [...mempool.map.values()]) {
      const isThere = mempool.getEntry(this.#parts.toHost(entry.tx.hash())) === entry;
      if (isThere && !(await this.#stillFits(entry))) await entries.evict(entry);
      if (slice.isOver()) await setImmediate();
    }
    await entries.trimClusters();
    await entries.limitSize();
  }

  /** Whether the next block could have the transaction, as far as the chain is concerned. */
  async #stillFits({ tx, coinbase }: HostPoolEntry): Promise<boolean> {
    const { mempool, chain } = this.#parts;
    if (!(await chain.verifyFinal(chain.tip, tx, LOCK_FLAGS))) return false;
    const hasRelativeLocks = tx.version >= 2 && tx.inputs.some(({ sequence }) => (sequence & NO_RELATIVE_LOCK) === 0);
    if (!coinbase && !hasRelativeLocks) return true;
    const view = await spentView(mempool, tx);
    return this.#areMature(tx, view) && (await chain.verifyLocks(chain.tip, tx, view, LOCK_FLAGS));
  }

  #areMature({ inputs }: HostTransaction, view: HostCoinView): boolean {
    const next = this.#parts.chain.tip.height + 1;
    return inputs.every(
      ({ prevout }) => view.hasEntry(prevout) && (!view.isCoinbase(prevout) || next - view.getHeight(prevout) >= COINBASE_MATURITY)
    );
  }
}
