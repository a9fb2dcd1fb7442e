// A real regtest or main-network node with the real plugin, asked over its own HTTP server.

import { filter, firstValueFrom } from 'rxjs';
import * as plugin from '../../../plugin';
import { readOptions } from '../../../plugin/options/rest-options';
import { placesOf } from '../../../plugin/places';
import { isFleetWanted, TestFleet } from '../fleet/fleet';
import { MemoryLog } from '../process/memory-log';
import { openRegtestNode, type RegtestOptions } from '../bcoin/regtest-node';
import { settledAt } from '../client/settled-ports';
import { SHORT_REHEARSAL } from './short-rehearsal';
import type { AddressInfo } from 'node:net';
import type { NodeSource } from '../../../lib/node/types/source';
import type { TestFullNode } from '../bcoin/bcoin';

export interface RestNode {
  readonly node: TestFullNode;
  readonly rest: plugin.RestPlugin;
  readonly baseUrl: string;
  readonly port: number;
}

export interface RestNodeOptions extends RegtestOptions {
  /** Whether a reader of a log that the node feeds answers, and not the node; false unless TEST_SOURCE says otherwise. */
  readonly isFleet?: boolean;
}

/** Opens a node with the plugin; unless the settings say otherwise, the gate depends only on the index. */
export async function openRestNode({ isFleet = isFleetWanted, ...options }: RestNodeOptions = {}): Promise<RestNode> {
  const settings = { 'rest-warmup': 'indexed', ...options.settings };
  const ours = isFleet
    ? readerOf(await TestFleet.open())
    : { id: plugin.id, init: (host: TestFullNode) => plugin.init(host, SHORT_REHEARSAL) };
  const node = await openRegtestNode({ ...options, settings, plugins: [ours, ...(options.plugins ?? [])] });
  const rest = node.get(plugin.id) as plugin.RestPlugin;
  const { port } = rest.http.server.address() as AddressInfo;
  return { node, rest, port, baseUrl: `http://127.0.0.1:${port}` };
}

/** Resolves once requests are answered, from all that has happened. */
export async function untilReady({ rest, port }: RestNode): Promise<void> {
  await settledAt(port);
  await firstValueFrom(rest.ready$.pipe(filter((ready) => ready)));
}

/** A plugin that feeds a log, and answers from a reader. */
function readerOf(fleet: TestFleet): object {
  return {
    id: plugin.id,
    init: (host: TestFullNode) => {
      const options = readOptions(host.config);
      const { source, http } = fleet.over(host, options, new MemoryLog());
      const places = host.memory ? undefined : placesOf(host.config);
      const serviceHost = { http, options, places, logger: host.logger.logger, close: () => host.close() };
      return new FedPlugin(serviceHost, source, fleet);
    }
  };
}

class FedPlugin extends plugin.RestPlugin {
  readonly #fleet: TestFleet;

  constructor(host: plugin.ServiceHost, source: NodeSource, fleet: TestFleet) {
    super({ ...host, ...SHORT_REHEARSAL }, source);
    this.#fleet = fleet;
  }

  override open(): Promise<void> {
    return this.#fleet.openAround(this, () => super.open());
  }

  override close(): Promise<void> {
    return this.#fleet.closeAround(() => super.close());
  }
}
