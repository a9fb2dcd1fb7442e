// `npm start`: a bcoin node with the plugin, ready to be asked. Any bcoin option passes
// through. With neither a network nor a folder named, it is a regtest node in a folder of
// its own that begins with a small demonstration chain.

import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { filter, firstValueFrom } from 'rxjs';
import * as plugin from '../index';
import { loadBcoin, type HostFullNode } from '../bcoin';
import { demonstrate } from './demonstration';
import { greeting } from './greeting';

/** From dist/plugin/start to the project's folder. */
const PROJECT_FOLDER = resolve(__dirname, '../../..');

/** The options that say which chain is meant. */
const CHAIN_OPTION = /^(-n|-p|--(network|prefix|datadir|config|conf)(=.*)?)$/;

async function main(): Promise<void> {
  const bcoin = loadBcoin();
  const demonstration = !process.argv.some((argument) => CHAIN_OPTION.test(argument))
    && process.env['BCOIN_NETWORK'] === undefined && process.env['BCOIN_PREFIX'] === undefined;
  const node = new bcoin.FullNode({
    config: true,
    argv: true,
    env: true,
    logFile: true,
    logConsole: true,
    memory: false,
    workers: true,
    loader: (name: string): unknown => name === plugin.id ? plugin : createRequire(__filename)(name),
    ...demonstration ? DEMONSTRATION_SETTINGS : { logLevel: 'info', listen: true }
  });
  if (!node.has(plugin.id)) node.use(plugin);
  // As bcoin's own executable does; the demonstration needs none.
  if (!demonstration && !node.config.has('no-wallet') && !node.has('walletdb')) node.use(bcoin.wallet.plugin);
  closeOnSignal(node);

  await node.ensure();
  await node.open();
  await node.connect();
  if (demonstration) await demonstrate(node, bcoin);
  else node.startSync();
  const rest = node.get(plugin.id) as plugin.RestPlugin;
  if (demonstration) await firstValueFrom(rest.ready$.pipe(filter((ready) => ready)));
  console.log(await greeting(rest.node));
}

const DEMONSTRATION_SETTINGS = {
  network: 'regtest',
  prefix: join(PROJECT_FOLDER, '.demo'),
  logLevel: 'error',
  listen: false
};

function closeOnSignal(node: HostFullNode): void {
  const close = (): void => {
    node.close().then(() => process.exit(0), (error: unknown) => {
      console.error(error);
      process.exit(1);
    });
  };
  process.once('SIGINT', close);
  process.once('SIGTERM', close);
}

process.on('unhandledRejection', (error) => { throw error; });

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
