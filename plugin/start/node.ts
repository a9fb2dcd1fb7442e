// The node that `npm start` runs, from its opening to its end.

import { createRequire } from 'node:module';
import { distinctUntilChanged, filter, firstValueFrom, map, timer } from 'rxjs';
import * as plugin from '../index';
import { demonstrate } from './demonstration';
import { greeting, restUrl } from './greeting';
import type { Bcoin, HostFullNode } from '../bcoin';
import type { StartSettings } from './settings';

const SOON_MS = 500;
const STATUS_MS = 10_000;

/** A node with plugin and wallet that is not open yet. @throws OptionError and what bcoin says of its options. */
export function makeNode(bcoin: Bcoin, { options }: StartSettings): HostFullNode {
  const load = (name: string): unknown => name === plugin.id ? plugin : createRequire(__filename)(name);
  const node = new bcoin.FullNode({ ...options, loader: load });
  if (!node.has(plugin.id)) node.use(plugin);
  // As bcoin's own program does.
  if (node.config.bool('no-wallet') !== true && !node.has('walletdb')) node.use(bcoin.wallet.plugin);
  return node;
}

/** Runs until the signal, or until the node is stopped over RPC. Closes what it opened. */
export async function runNode(node: HostFullNode, bcoin: Bcoin, settings: StartSettings, signal: AbortSignal): Promise<void> {
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => { resolve(); });
    if (signal.aborted) resolve();
  });
  await node.ensure();
  await node.open();
  try {
    await node.connect();
    if (settings.isDemonstration) await demonstrate(node, bcoin, signal);
    else node.startSync();
    const rest = node.get(plugin.id) as plugin.RestPlugin;
    const answers = await Promise.race([untilReady(rest), aborted.then(() => false)]);
    if (answers && !signal.aborted) console.log(await greeting(rest.node, settings.apiKey));
    await aborted;
  } finally {
    if (node.opened) await node.close();
  }
}

/** Says what is waited for until requests are answered. False when the node was closed before. */
async function untilReady(rest: plugin.RestPlugin): Promise<boolean> {
  const { ready$ } = rest;
  // What is in sync within a moment is not worth a line.
  const said = timer(SOON_MS, STATUS_MS).pipe(
    map(() => rest.status),
    filter((status) => status !== undefined),
    distinctUntilChanged()
  ).subscribe((status) => { console.log(`Not in sync yet, ${restUrl(rest.node)} answers 503: ${status}`); });
  const ready = await firstValueFrom(ready$.pipe(filter((ready) => ready)), { defaultValue: false });
  said.unsubscribe();
  return ready;
}
