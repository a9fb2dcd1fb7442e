// The scripts that one client tracks, in the three kinds of lists that it may send. A list replaces the one of its kind that came before.

import { HistoryTooLongError } from '../../scripts/errors';
import { TooManySubscriptionsError, type ClientSubscriptionMemory } from '../../server/bounds/subscription-memory';
import { piecesOf, type Field } from '../messages';
import type { Update } from './next-message';
import type { NamedScripts, PushRequest, Tracking } from './request';
import type { ScriptListener, ScriptUpdate, ScriptUpdates } from './script-updates';

/** mempool's limit, for each kind of list. */
const MOST_TRACKED = 100;

/** The cost of reading a name. */
const NAME_POINTS = 0.1;
/** The cost of tracking a script: its history is counted. */
const TRACK_POINTS = 3;

const KINDS = ['address', 'addresses', 'scripts'] as const;
type Kind = (typeof KINDS)[number];

const ERROR_FIELDS = { address: 'track-address-error', addresses: 'track-addresses-error', scripts: 'track-scriptpubkeys-error' } as const;

/** What the entries of a list are called in errors. */
const NOUNS = { address: 'addresses', addresses: 'addresses', scripts: 'scriptpubkeys' } as const;

const NONE: NamedScripts = new Map();

/** The client whose lists these are. */
export interface TrackingClient extends ScriptListener {
  readonly isGone: boolean;
  charge(points: number): void;
}

export class TrackedLists {
  readonly #client: TrackingClient;
  readonly #updates: ScriptUpdates;
  readonly #memory: ClientSubscriptionMemory;
  /** The longest list that is read. */
  readonly most: number;
  readonly #lists: Record<Kind, NamedScripts> = { address: NONE, addresses: NONE, scripts: NONE };
  /** The scripts that are tracked. */
  readonly #tracked = new Set<string>();

  /** `maxSubscriptions`: the most scripts that one client may track. */
  constructor(client: TrackingClient, updates: ScriptUpdates, memory: ClientSubscriptionMemory, maxSubscriptions: number) {
    this.#client = client;
    this.#updates = updates;
    this.#memory = memory;
    this.most = Math.min(MOST_TRACKED, maxSubscriptions);
  }

  /** Number of scripts that are tracked. */
  get size(): number {
    return this.#tracked.size;
  }

  /** Takes in the lists of a request. Gives the errors that the client gets. @throws ScriptsUnavailableError, IndexUnavailableError */
  async take(request: PushRequest): Promise<Field[]> {
    const fields: Field[] = [];
    for (const kind of KINDS) {
      const tracking = request[kind];
      const fault = tracking && (await this.#replace(kind, tracking));
      if (fault !== undefined) fields.push([ERROR_FIELDS[kind], JSON.stringify(fault)]);
    }
    return fields;
  }

  /** What the client gets of news of a script: as mempool words it for each kind of list. */
  updatesOf(script: string, { pooled, confirmed, removed }: ScriptUpdate): Update[] {
    const { address, addresses, scripts } = this.#lists;
    const updates: Update[] = [];
    if (address.has(script)) {
      if (removed !== undefined) updates.push(['address-removed-transactions', removed]);
      if (pooled !== undefined) updates.push(['address-transactions', pooled]);
      if (confirmed !== undefined) updates.push(['block-transactions', confirmed]);
    }
    const lists = [
      ['multi-address-transactions', addresses.get(script)],
      ['multi-scriptpubkey-transactions', scripts.get(script)]
    ] as const;
    for (const [field, names] of lists) {
      if (names === undefined) continue;
      const update = piecesOf([
        ['mempool', pooled ?? '[]'],
        ['confirmed', confirmed ?? '[]'],
        ['removed', removed ?? '[]']
      ]);
      for (const name of names) updates.push([field, update, name]);
    }
    return updates;
  }

  /** Tracks nothing any more. */
  clear(): void {
    for (const kind of KINDS) this.#lists[kind] = NONE;
    for (const script of this.#tracked) this.#updates.untrack(script, this.#client);
    this.#tracked.clear();
    this.#memory.close();
  }

  /** Gives the error, if there is one. The list is empty then, unless the only error is that some entries could not be read. */
  async #replace(kind: Kind, { entries, scripts, unreadable }: Tracking): Promise<string | undefined> {
    const { most } = this;
    const client = this.#client;
    this.#lists[kind] = scripts;
    let fault = unreadable === undefined ? undefined : `cannot be read: ${unreadable}`;
    if (entries > most) fault = `too many ${NOUNS[kind]} requested, this connection supports tracking a maximum of ${most} ${NOUNS[kind]}`;
    client.charge(Math.min(entries, most) * NAME_POINTS);
    try {
      for (const script of this.#lists[kind].keys()) {
        if (this.#tracked.has(script) || client.isGone) continue;
        client.charge(TRACK_POINTS);
        this.#memory.take();
        await this.#updates.track(script, client).catch((error: unknown) => {
          this.#memory.giveBack();
          throw error;
        });
        this.#tracked.add(script);
      }
    } catch (error) {
      const known = faultOf(error);
      if (known === undefined) throw error;
      this.#lists[kind] = NONE;
      fault = known;
    }
    // Those of no list any more: if the client has gone meanwhile, all of them.
    for (const script of this.#tracked) {
      if (KINDS.some((one) => this.#lists[one].has(script))) continue;
      this.#updates.untrack(script, client);
      this.#tracked.delete(script);
      this.#memory.giveBack();
    }
    return fault;
  }
}

/** The error that a client gets if a list cannot be tracked; undefined if the reason is not in the list. */
function faultOf(error: unknown): string | undefined {
  if (error instanceof HistoryTooLongError) return 'history too large';
  return error instanceof TooManySubscriptionsError ? error.message : undefined;
}
