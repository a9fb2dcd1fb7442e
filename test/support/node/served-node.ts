// A real node that answers over all interfaces, put together by the plugin's `Assembly`, in which parts can be replaced.

import { filter, firstValueFrom, type BehaviorSubject } from 'rxjs';
import { BcoinNode } from '../../../lib/node/bcoin';
import { BcoinHttp } from '../../../lib/node/bcoin-http';
import { DiskStore } from '../../../lib/store/disk-store';
import { MemoryStore } from '../../../lib/store/memory-store';
import { Assembly, type ReplacedParts } from '../../../plugin/assemble';
import { readOptions } from '../../../plugin/options/rest-options';
import { placesOf } from '../../../plugin/places';
import { isFleetWanted, TestFleet } from '../fleet/fleet';
import { ask, type RawReply, type RawRequest } from '../client/http';
import { MemoryLog } from '../process/memory-log';
import { openRegtestNode, type RegtestOptions } from '../bcoin/regtest-node';
import { settledAt } from '../client/settled-ports';
import { SHORT_REHEARSAL } from './short-rehearsal';
import type { AddressInfo } from 'node:net';
import type { AddressList } from '../../../lib/addresses/address-list';
import type { ScriptAnswers } from '../../../lib/answers/answers';
import type { ChainIndexer } from '../../../lib/index/chain-index';
import type { NodeSource } from '../../../lib/node/types/source';
import type { ScriptIndexer } from '../../../lib/scripts/script-indexer';
import type { Serving } from '../../../lib/server/serving';
import type { Store } from '../../../lib/store/store';
import type { WalletServices } from '../../../plugin/wallet-services';
import type { TestFullNode } from '../bcoin/bcoin';

/** The version that it says it has. */
export const VERSION = '1.2.3';

/** What is not said here is as in the plugin. */
export interface Replacements extends ReplacedParts {
  readonly scriptStore?: Store;
  /** Whether the indexes of a node on disk are in memory; true unless given. */
  readonly inMemory?: boolean;
}

export interface Assembled {
  readonly parts: Assembly;
  readonly wallets: WalletServices;
  readonly log: MemoryLog;
}

/** The parts for a node, closed. The gate depends only on the index, unless the node's settings say otherwise. */
export function assembled(
  host: TestFullNode,
  { scriptStore, inMemory = true, ...replaced }: Replacements = {},
  fleet?: TestFleet
): Assembled {
  const { config } = host;
  config.inject({ 'rest-addresses': true, 'rest-warmup': config.get('rest-warmup') ?? 'indexed' });
  const places = inMemory ? undefined : placesOf(config);
  const log = new MemoryLog();
  const options = readOptions(config);
  const fed = fleet?.over(host, options, log);
  const parts = new Assembly({
    host: fed?.http ?? new BcoinHttp(host),
    node: fed?.source ?? new BcoinNode(host, options),
    options,
    store: places === undefined ? new MemoryStore() : new DiskStore(places.index),
    scriptStore: scriptStore ?? (places === undefined ? new MemoryStore() : new DiskStore(places.scripts)),
    places,
    version: VERSION,
    logger: log,
    replaced: { rehearsal: { mostMs: SHORT_REHEARSAL.rehearsalMs }, ...replaced }
  });
  if (parts.wallets === undefined) throw new Error('expected the services of --rest-addresses');
  return { parts, wallets: parts.wallets, log };
}

export class ServedNode {
  readonly node: TestFullNode;
  readonly source: NodeSource;
  readonly index: ChainIndexer;
  readonly scripts: ScriptIndexer;
  readonly serving: Serving;
  /** What the interfaces answer from. */
  readonly answers: ScriptAnswers;
  readonly wallets: WalletServices;
  /** Undefined without `--rest-addresses-search`. */
  readonly list: AddressList | undefined;
  readonly log: MemoryLog;
  /** Of the node's HTTP server. */
  readonly port: number;

  constructor(node: TestFullNode, { parts, wallets, log }: Assembled) {
    this.node = node;
    this.source = parts.node;
    this.index = parts.index;
    this.scripts = wallets.scripts;
    this.serving = parts.serving;
    this.answers = wallets.answers;
    this.wallets = wallets;
    this.list = parts.addresses;
    this.log = log;
    ({ port: this.port } = parts.serving.host.server.address() as AddressInfo);
  }

  /** Opens a node that answers. */
  static async open(options: RegtestOptions = {}, replacements?: Replacements): Promise<ServedNode> {
    let made: Assembled | undefined;
    const fleet = isFleetWanted ? await TestFleet.open() : undefined;
    const init = (host: TestFullNode): Pick<Assembly, 'open' | 'close'> => {
      const { parts } = (made = assembled(host, replacements, fleet));
      return fleet === undefined
        ? parts
        : { open: () => fleet.openAround(parts.index, () => parts.open()), close: () => fleet.closeAround(() => parts.close()) };
    };
    const plugin = { id: 'rest', init };
    const node = await openRegtestNode({ ...options, plugins: [plugin] });
    if (made === undefined) throw new Error('expected the node to load its plugin');
    const served = new ServedNode(node, made);
    await served.settle();
    return served;
  }

  /** Waits until both indexes are at the node's tip. */
  async settle(): Promise<void> {
    await settledAt(this.port);
    await firstValueFrom(this.serving.gate.ready$.pipe(filter((ready) => ready)));
    await firstValueFrom(this.index.tip$.pipe(filter(({ hash }) => hash.equals(this.source.tip().hash))));
    await firstValueFrom(this.scripts.state$.pipe(filter((state) => state.phase === 'live' && state.height === this.source.tip().height)));
  }

  /** Asks Esplora's API. */
  get(path: string, request?: Partial<RawRequest>): Promise<RawReply> {
    return ask(this.port, { path: `/api${path}`, ...request });
  }

  close(): Promise<void> {
    return this.node.close();
  }
}

/** A gate of the Electrum protocol and of WebSockets that a test opens and closes. */
export function gatedBy(ready$: BehaviorSubject<boolean>): Replacements {
  return {
    ready$,
    clientGate: {
      get isReady() {
        return ready$.value;
      },
      status: () => 'loading'
    }
  };
}
