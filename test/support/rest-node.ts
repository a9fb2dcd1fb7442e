// A real regtest or main-network node with the real plugin, asked over its own HTTP server.

import { filter, firstValueFrom } from 'rxjs';
import * as plugin from '../../plugin';
import { openRegtestNode, type RegtestOptions } from './regtest-node';
import type { AddressInfo } from 'node:net';
import type { TestFullNode } from './bcoin';

export interface RestNode {
  readonly node: TestFullNode;
  readonly rest: plugin.RestPlugin;
  readonly baseUrl: string;
  readonly port: number;
}

/** Opens a node with the plugin; unless the settings say otherwise, the gate depends only on the index. */
export async function openRestNode(options: RegtestOptions = {}): Promise<RestNode> {
  const settings = { 'rest-warmup': 'indexed', ...options.settings };
  const node = await openRegtestNode({ ...options, settings, plugins: [plugin, ...(options.plugins ?? [])] });
  const rest = node.get(plugin.id) as plugin.RestPlugin;
  const { port } = rest.http.server.address() as AddressInfo;
  return { node, rest, port, baseUrl: `http://127.0.0.1:${port}` };
}

/** Resolves once requests are answered. */
export async function untilReady({ rest }: RestNode): Promise<void> {
  await firstValueFrom(rest.ready$.pipe(filter((ready) => ready)));
}
