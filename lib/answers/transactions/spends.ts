// Which transactions of the chain or of the pool spend outputs.
//
// No index lists spends. The main index knows which outputs are unspent. The transaction that spends an output is in the history of the
// output's script: the index by script names the most likely ones, which are read until one spends it. In a long history this takes long,
// so it is bounded, and what was found is cached: it holds as long as the block of the spend is in the chain.

import { keyOf, keyOfOutpoint, scriptHashOf } from '../../bitcoin/hash';
import { isUnspendable } from '../../bitcoin/script';
import { HistoryTooLongError } from '../../scripts/errors';
import { MadeOnce } from '../../server/cache/made-once';
import { Slice, nextTurn } from '../../turns/slices';
import { mayBeReplaced, type Bases, type BasesAt } from '../scripts/bases';
import { unlessGone } from '../scripts/totals';
import { confirmationAt, positionOf, type Confirmation, type Transactions } from './transactions';
import type { ScannedOutput } from '../../bitcoin/transaction';
import type { Position, IndexSnapshot } from '../../index/types';
import type { BlockPoint } from '../../node/types/chain';
import type { ScriptPool } from '../../pool/by-script/script-pool';
import type { ScriptReader, ScriptSnapshot } from '../../scripts/types';
import type { AnswerCache, Cached, CacheSection } from '../../server/cache/answer-cache';
import type { Basis } from '../../server/http/reply';
import type { Client } from '../../turns/client';
import type { EsploraSpend } from '../../views/esplora/coins';
import type { Placed } from './placed-transaction';

/** Undefined: nothing spends the output, or there is no such output. */
export type Outspend = EsploraSpend | undefined;

/** `basis`: what this depends on, if no block spends the output; undefined: on more than can be said. */
export interface FoundSpend {
  readonly spend: Outspend;
  readonly basis?: Basis | undefined;
  /** How many rows of histories were walked through to find it. */
  readonly rows?: number;
}

/** The spends of all outputs of a transaction. `basis`: what this depends on; undefined: on more than can be said. */
export interface FoundSpends {
  readonly spends: readonly Outspend[];
  readonly basis?: Basis | undefined;
}

/** How many rows of histories are walked through for one reply, and how many transactions are read. */
export interface SpendLimits {
  readonly mostRows: number;
  readonly mostReads: number;
}

const LIMITS: SpendLimits = { mostRows: 1_000_000, mostReads: 20_000 };

/** Spends that took more than this many rows to find are cached at once, others when they are asked for a second time. */
const MANY_ROWS = 2_048;

/** Scripts of outputs, by output index. */
type Scripts = ReadonlyMap<number, Buffer>;

type SpendsByIndex = ReadonlyMap<number, EsploraSpend>;

interface Found {
  readonly spends: SpendsByIndex;
  /** What finding them cost. */
  readonly effort: Effort;
}

interface CachedSpend extends Cached {
  /** The height of the output: a txid that is in the chain twice (before BIP30) has outputs at two heights. */
  readonly height: number;
  /** The block of the spend, or the tip up to which none was found. The entry holds while it is in the chain. */
  readonly block: { readonly height: number; readonly key: string };
  /** Undefined: the spend is too far away to be found. `txid`: latin1, because a small Buffer would keep a larger one in memory. */
  readonly spender: { readonly txid: string; readonly input: number } | undefined;
}

export interface SpendsParts {
  readonly scripts: ScriptReader;
  readonly pool: ScriptPool;
  readonly transactions: Transactions;
  readonly bases: Bases;
  readonly cache: AnswerCache;
}

export class Spends {
  readonly #parts: SpendsParts;
  readonly #limits: SpendLimits;
  /** By outpoint. */
  readonly #cached: CacheSection<CachedSpend>;
  /** By tip and outpoint, or by tip and txid. */
  readonly #searching = new MadeOnce<Found>();

  constructor(parts: SpendsParts, limits = LIMITS) {
    this.#parts = parts;
    this.#limits = limits;
    this.#cached = parts.cache.section('spend');
  }

  /** The spend of one output, which need not exist. @throws HistoryTooLongError */
  async of(txid: Buffer, index: number, snapshot: ScriptSnapshot, client: Client): Promise<FoundSpend> {
    // Pool and snapshot must be of one moment: both are read before anything waits.
    const position = positionOf(txid, snapshot.index);
    const pooled = this.#inPool(txid, index);
    if (position === undefined) return { spend: pooled };
    const coin = snapshot.index.coin(txid, index);
    if (coin !== undefined) {
      const basis = this.#parts.bases.at(snapshot).ofSpends(position.height, [scriptHashOf(coin.script)]);
      return { spend: pooled, basis };
    }
    const placed = { txid, position };
    const known = this.#known(placed, index, snapshot.index);
    if (known !== undefined) return { spend: known };
    const { spends, effort } = await this.#shared(keyOfOutpoint(txid, index), snapshot, client, async (everybody) => {
      const { outputs } = await this.#parts.transactions.at(placed, snapshot.index, everybody);
      const script = outputs[index]?.script;
      return this.#search(placed, new Map(script && [[index, script]]), snapshot, everybody);
    });
    return { spend: spends.get(index), rows: effort.rows };
  }

  /** The spends of all outputs of a transaction. Undefined: neither chain nor pool has the transaction. @throws HistoryTooLongError */
  ofAll(txid: Buffer, client: Client): Promise<FoundSpends | undefined> {
    return this.#ofAll(txid, client, new Effort(this.#limits));
  }

  /** As `ofAll`, for many transactions. */
  async ofMany(txids: readonly (Buffer | undefined)[], client: Client): Promise<(readonly Outspend[] | undefined)[]> {
    const effort = new Effort(this.#limits);
    const lists: (readonly Outspend[] | undefined)[] = [];
    for (const txid of txids) lists.push(txid && (await this.#ofAll(txid, client, effort))?.spends);
    return lists;
  }

  async #ofAll(txid: Buffer, client: Client, effort: Effort): Promise<FoundSpends | undefined> {
    const { scripts, pool, transactions } = this.#parts;
    // The number of outputs must be known before pool and snapshot are read together.
    const outputs = await scripts.read(async (snapshot) => {
      const position = positionOf(txid, snapshot.index);
      if (position === undefined) return pool.get(txid)?.transaction.outputs;
      return (await transactions.at({ txid, position }, snapshot.index, client)).outputs;
    });
    return (
      outputs &&
      scripts.read(async (snapshot) => {
        const bases = this.#parts.bases.at(snapshot);
        const position = positionOf(txid, snapshot.index);
        const pooled = outputs.map((_, n) => this.#inPool(txid, n));
        if (position === undefined) return { spends: pooled };
        const unspent = new Set((await snapshot.index.coinsOf(txid, position)).map(({ index }) => index));
        const spent = new Map(outputs.flatMap(({ script }, n) => (unspent.has(n) ? [] : [[n, script] as const])));
        const found = await this.#shared(keyOf(txid), snapshot, client, (everybody) =>
          this.#search({ txid, position }, spent, snapshot, everybody)
        );
        effort.add(found.effort);
        const spends = outputs.map((_, n) => (unspent.has(n) ? pooled[n] : found.spends.get(n)));
        const ofOutputs = outputs.filter((_, n) => unspent.has(n) || mayBeReplaced(position));
        return { spends, basis: basisOf(position, spends, ofOutputs, bases) };
      })
    );
  }

  #inPool(txid: Buffer, index: number): Outspend {
    const spender = this.#parts.pool.spender(txid, index);
    return spender && { txid: spender.transaction.txid, input: spender.input, status: undefined };
  }

  /** Searches once for all clients that ask about the same outputs in the same state. */
  #shared(outputs: string, snapshot: ScriptSnapshot, client: Client, search: (everybody: Client) => Promise<Found>): Promise<Found> {
    return this.#searching.get(keyOf(snapshot.index.tip.hash) + outputs, client, (everybody) => snapshot.during(search(everybody)));
  }

  /** Searches for the spends of outputs that the main index does not have as coins. @throws HistoryTooLongError */
  async #search(placed: Placed, scripts: Scripts, snapshot: ScriptSnapshot, client: Client): Promise<Found> {
    const spends = new Map<number, EsploraSpend>();
    /** Outputs of each script, so that a history is walked through only once. */
    const wanted = new Map<string, { readonly script: Buffer; readonly indexes: number[] }>();
    const slice = new Slice();
    for (const [index, script] of scripts) {
      if (slice.isOver()) await nextTurn();
      // Unspendable scripts and the outputs of the genesis block are not spent by anything.
      if (isUnspendable(script) || placed.position.height === 0) continue;
      const known = this.#known(placed, index, snapshot.index);
      const others = wanted.get(keyOf(script));
      if (known !== undefined) spends.set(index, known);
      else if (others === undefined) wanted.set(keyOf(script), { script, indexes: [index] });
      else others.indexes.push(index);
    }
    const effort = new Effort(this.#limits);
    for (const { script, indexes } of wanted.values()) {
      const left = new Set(indexes.filter((index) => !spends.has(index)));
      if (left.size > 0) await this.#walk(placed, script, left, { spends, effort, snapshot, client });
    }
    return { spends, effort };
  }

  /** Walks through the history of a script until all outputs in `left` have their spends. @throws HistoryTooLongError */
  async #walk(placed: Placed, script: Buffer, left: Set<number>, { spends, effort, snapshot, client }: Walk): Promise<void> {
    const { txid, position } = placed;
    const goOn = unlessGone(client);
    const ofWalk = new Effort(this.#limits);
    const count = (more: Cost): void => {
      goOn();
      ofWalk.add(more);
      effort.add(more);
    };
    const walked = (rows: number): void => {
      try {
        count({ rows, reads: 0 });
      } catch (error) {
        // Even a request for these outputs alone would not find their spends.
        if (ofWalk.rows > this.#limits.mostRows) for (const index of left) this.#keepTooFar(placed, index, snapshot.index.tip);
        throw error;
      }
    };
    const outputs = { txid, position, indexes: [...left] };
    for await (const at of snapshot.spenders(scriptHashOf(script), outputs, { walked })) {
      count({ rows: 0, reads: 1 });
      const spender = snapshot.txidAt(at);
      if (spender === undefined) continue;
      const { inputs } = await this.#parts.transactions.at({ txid: spender, position: at }, snapshot.index, client);
      const status = confirmationAt(at.height, snapshot.index);
      for (const [i, input] of inputs.entries()) {
        if (!input.txid.equals(txid)) continue;
        const spend = { txid: spender, input: i, status };
        spends.set(input.index, spend);
        left.delete(input.index);
        this.#cache(placed, input.index, spend, ofWalk.rows);
      }
      // Stops here: finding the next candidate may take the rest of the history.
      if (left.size === 0) return;
    }
    throw new Error(`no transaction of the chain spends outputs ${[...left].join()} of ${txid.toString('hex')}, which are not unspent`);
  }

  /** @throws HistoryTooLongError if the spend is known to be too far away */
  #known({ txid, position }: Placed, index: number, snapshot: IndexSnapshot): EsploraSpend | undefined {
    const cached = this.#cached.get(keyOfOutpoint(txid, index));
    if (cached?.height !== position.height || cached.block.height > snapshot.tip.height) return undefined;
    const status = confirmationAt(cached.block.height, snapshot);
    if (keyOf(status.hash) !== cached.block.key) return undefined;
    if (cached.spender === undefined) throw tooFar(this.#limits);
    return { txid: Buffer.from(cached.spender.txid, 'latin1'), input: cached.spender.input, status };
  }

  #cache({ txid, position }: Placed, index: number, spend: EsploraSpend & { readonly status: Confirmation }, rows: number): void {
    const key = keyOfOutpoint(txid, index);
    const spender = { txid: keyOf(spend.txid), input: spend.input };
    const entry = cacheEntry(position, spend.status, spender);
    if (rows > MANY_ROWS) this.#cached.set(key, entry);
    else this.#cached.setIfAskedBefore(key, () => entry);
  }

  #keepTooFar({ txid, position }: Placed, index: number, tip: BlockPoint): void {
    this.#cached.set(keyOfOutpoint(txid, index), cacheEntry(position, tip, undefined));
  }
}

/** `outputs`: those whose spends may change while the blocks of the transaction and of the spends are in the chain. */
function basisOf({ height }: Position, spends: readonly Outspend[], outputs: readonly ScannedOutput[], bases: BasesAt): Basis | undefined {
  const highest = spends.reduce((most, spend) => Math.max(most, spend?.status?.height ?? 0), height);
  const scripts = new Map(outputs.map(({ script }) => [keyOf(script), script]));
  return bases.ofSpends(highest, [...scripts.values()].map(scriptHashOf));
}

/** What a walk has to do with: where spends go, whom it is for, and what it may cost. */
interface Walk {
  readonly spends: Map<number, EsploraSpend>;
  readonly effort: Effort;
  readonly snapshot: ScriptSnapshot;
  readonly client: Client;
}

interface Cost {
  readonly rows: number;
  readonly reads: number;
}

/** Adds up what a reply costs. */
class Effort implements Cost {
  rows = 0;
  reads = 0;
  readonly #limits: SpendLimits;

  constructor(limits: SpendLimits) {
    this.#limits = limits;
  }

  /** @throws HistoryTooLongError */
  add({ rows, reads }: Cost): void {
    this.rows += rows;
    this.reads += reads;
    if (this.rows > this.#limits.mostRows || this.reads > this.#limits.mostReads) throw tooFar(this.#limits);
  }
}

const tooFar = ({ mostRows, mostReads }: SpendLimits): Error =>
  new HistoryTooLongError(`more than ${mostRows} transactions of scripts, or ${mostReads} spends, are between outputs and their spends`);

const cacheEntry = ({ height }: Position, block: BlockPoint, spender: CachedSpend['spender']): CachedSpend => ({
  height,
  block: { height: block.height, key: keyOf(block.hash) },
  spender,
  byteLength: 0
});
