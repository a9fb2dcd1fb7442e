// The transactions that one client tracks: one with `track-tx`, many with `track-txs`, and how mempool words for each what happens to it.

import { keyOf, toDisplayHex } from '../../bitcoin/hash';
import { TooManySubscriptionsError, type ClientSubscriptionMemory } from '../../server/bounds/subscription-memory';
import { hashText, objectOf, type Field, type Json } from '../messages';
import { MOST_TRANSACTIONS } from './request';
import type { PlacedTransaction } from '../../pool/projection/projected-blocks';
import type { ScriptSnapshot } from '../../scripts/types';
import type { ProjectedPlaces } from './projected-places';
import type { TransactionListener, TransactionUpdate, TransactionUpdates } from './transaction-updates';

/** The cost of tracking a transaction: it is looked up. */
const TRACK_POINTS = 1;

/** The client whose transactions these are. */
export interface TransactionClient extends TransactionListener {
  readonly isGone: boolean;
  charge(points: number): void;
}

/** What a client gets of an update. */
export interface TransactionFields {
  readonly fields: readonly Field[];
  /** A confirmation, which is told beside the block at its height. */
  readonly confirmed?: { readonly height: number; readonly field: Field } | undefined;
}

/** Fields about one transaction in `tracked-txs`, by name. */
type Facts = Map<string, Json>;

export class TrackedTransactions {
  readonly #client: TransactionClient;
  readonly #updates: TransactionUpdates;
  readonly #memory: ClientSubscriptionMemory;
  #single: Buffer | undefined;
  /** The place of the single one that was told last. */
  #singlePlace: PlacedTransaction | undefined;
  /** By key. */
  readonly #many = new Map<string, Buffer>();
  /** What the next message has of each of the many, by txid. */
  readonly #facts = new Map<string, Facts>();
  /** The position of each of the many that was told last, by key: JSON. */
  readonly #positions = new Map<string, string>();

  constructor(client: TransactionClient, updates: TransactionUpdates, memory: ClientSubscriptionMemory) {
    this.#client = client;
    this.#updates = updates;
    this.#memory = memory;
  }

  /** How many are tracked. */
  get size(): number {
    return this.#many.size + (this.#single === undefined ? 0 : 1);
  }

  /**
   * Tracks a transaction in place of the one before; null: none. `watchesPool`: a transaction that was replaced is not tracked, and the client
   * gets to know that, as from mempool's backend. Gives what the client gets, which may be an error: then none is tracked.
   */
  async trackOne(txid: Buffer | null, watchesPool: boolean, read: Read): Promise<Field[]> {
    this.#leaveSingle();
    if (txid === null) return [];
    this.#client.charge(TRACK_POINTS);
    const fault = this.#takeMemory();
    if (fault !== undefined) return [['track-tx-error', JSON.stringify(fault)]];
    // Updates come from now on, also while the answer is being made.
    this.#single = txid;
    const update = await read((snapshot) => this.#updates.track(txid, this.#client, snapshot));
    if (this.#client.isGone) this.clear();
    else if (update !== undefined) return [fieldOf(txid, update)];
    const replacement = watchesPool ? this.#updates.replacementOf(txid) : undefined;
    if (replacement === undefined) return [];
    this.#leaveSingle();
    return [['txReplaced', objectOf([['txid', hashText(replacement)]])]];
  }

  /** Tracks these in place of those before. Gives the error, if there is one: then none is tracked. What is known of them is told with the round. */
  async trackMany(txids: readonly Buffer[] | null, read: Read): Promise<string | undefined> {
    const fault = faultOf(txids);
    const wanted = new Map((fault === undefined ? (txids ?? []) : []).map((txid) => [keyOf(txid), txid]));
    this.#leaveMany(wanted);
    for (const [key, txid] of wanted) {
      if (this.#many.has(key) || this.#client.isGone) continue;
      const lack = this.#takeMemory();
      if (lack === undefined) await this.#addOne(key, txid, read);
      else {
        this.#leaveMany(new Map());
        return lack;
      }
    }
    return fault;
  }

  /** What the client gets of an update. */
  fieldsOf(txid: Buffer, update: TransactionUpdate): TransactionFields {
    if (this.#many.has(keyOf(txid))) this.#note(txid, update);
    if (this.#single?.equals(txid) !== true) return { fields: [] };
    const field = fieldOf(txid, update);
    return update.type === 'confirmed' ? { fields: [], confirmed: { height: update.height, field } } : { fields: [field] };
  }

  /** Where they are in the next blocks, as far as that was not told yet. */
  placesIn(places: ProjectedPlaces): Field[] {
    for (const [key, txid] of this.#many) {
      const place = places.of(txid);
      const position = place && JSON.stringify(place.position);
      if (position === undefined || this.#positions.get(key) === position) continue;
      this.#positions.set(key, position);
      this.#factsOf(txid).set('position', position);
    }
    const single = this.#single;
    const before = this.#singlePlace;
    const place = (this.#singlePlace = single && places.of(single));
    return single === undefined || place === undefined || isSamePlace(before, place) ? [] : [['txPosition', places.text(single, place)]];
  }

  /** What has gathered for the many since the last round. */
  takeRound(): Field[] {
    if (this.#facts.size === 0) return [];
    const texts = [...this.#facts].map(([txid, facts]): Field => [txid, objectOf([...facts])]);
    this.#facts.clear();
    return [['tracked-txs', objectOf(texts)]];
  }

  /** Tracks nothing any more. The memory of the client is closed by others. */
  clear(): void {
    this.#leaveSingle();
    const all = [...this.#many.values()];
    this.#many.clear();
    for (const txid of all) this.#untrack(txid);
  }

  #leaveSingle(): void {
    const single = this.#single;
    if (single === undefined) return;
    this.#single = undefined;
    this.#singlePlace = undefined;
    this.#memory.giveBack();
    this.#untrack(single);
  }

  /** All but the wanted ones. */
  #leaveMany(wanted: ReadonlyMap<string, Buffer>): void {
    for (const [key, txid] of this.#many) {
      if (wanted.has(key)) continue;
      this.#many.delete(key);
      this.#memory.giveBack();
      this.#untrack(txid);
    }
  }

  /** For one more transaction. Gives the error if there is no memory. */
  #takeMemory(): string | undefined {
    try {
      this.#memory.take();
      return undefined;
    } catch (error) {
      if (error instanceof TooManySubscriptionsError) return error.message;
      throw error;
    }
  }

  async #addOne(key: string, txid: Buffer, read: Read): Promise<void> {
    this.#client.charge(TRACK_POINTS);
    this.#many.set(key, txid);
    const update = await read((snapshot) => this.#updates.track(txid, this.#client, snapshot));
    if (this.#client.isGone) this.clear();
    // What came while the answer was being made is newer.
    else if (this.#hasStanding(txid)) return;
    else if (update !== undefined) this.#note(txid, update);
    else {
      const replacement = this.#updates.replacementOf(txid);
      if (replacement !== undefined) this.#note(txid, { type: 'replaced', txid: replacement });
    }
  }

  #note(txid: Buffer, update: TransactionUpdate): void {
    const facts = this.#factsOf(txid);
    if (update.type === 'confirmed') facts.set('confirmed', 'true');
    else if (update.type === 'pooled') facts.set('confirmed', 'false');
    else if (update.type === 'replaced') facts.set('replacedBy', hashText(update.txid));
    else facts.set('utxoSpent', update.text);
  }

  #hasStanding(txid: Buffer): boolean {
    const facts = this.#facts.get(toDisplayHex(txid));
    return facts?.has('confirmed') === true || facts?.has('replacedBy') === true;
  }

  #factsOf(txid: Buffer): Facts {
    const name = toDisplayHex(txid);
    const facts = this.#facts.get(name) ?? new Map<string, Json>();
    this.#facts.set(name, facts);
    return facts;
  }

  /** Unless it is still tracked in the other way. */
  #untrack(txid: Buffer): void {
    const key = keyOf(txid);
    if (this.#many.has(key) || this.#single?.equals(txid) === true) return;
    this.#positions.delete(key);
    this.#facts.delete(toDisplayHex(txid));
    this.#updates.untrack(txid, this.#client);
  }
}

/** Reads the index by script, or throws if the client has gone. */
type Read = <T>(use: (snapshot: ScriptSnapshot) => Promise<T>) => Promise<T>;

function faultOf(txids: readonly Buffer[] | null): string | undefined {
  if (txids === null) return 'incorrect track-txs format';
  if (txids.length <= MOST_TRANSACTIONS) return undefined;
  return `too many txids requested, this connection supports tracking a maximum of ${MOST_TRANSACTIONS} transactions`;
}

function fieldOf(txid: Buffer, update: TransactionUpdate): Field {
  if (update.type === 'pooled') return ['tx', update.text];
  if (update.type === 'confirmed') return ['txConfirmed', hashText(txid)];
  if (update.type === 'spent') return ['utxoSpent', update.text];
  return ['rbfTransaction', objectOf([['txid', hashText(update.txid)]])];
}

/** Whether a client that knows one place knows the other: a chunk is another object whenever something in its cluster has changed. */
function isSamePlace(before: PlacedTransaction | undefined, { chunk, position }: PlacedTransaction): boolean {
  return before?.chunk === chunk && before.position.block === position.block && before.position.vsize === position.vsize;
}
