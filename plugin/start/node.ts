// The node that `npm start` runs, from opening to closing, and what it prints.

import { createRequire } from 'node:module';
import { distinctUntilChanged, filter, firstValueFrom, map, timer } from 'rxjs';
import { serverUrl } from '../../lib/server/ports/server-url';
import { writeAddress, type AddressPrefixes } from '../../lib/bitcoin/address';
import { scanBlock } from '../../lib/bitcoin/block';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { scriptTypeOf } from '../../lib/bitcoin/script-type';
import { TextWriter } from '../../lib/bitcoin/text-writer';
import { textOf } from '../../lib/server/ports/listener';
import * as plugin from '../index';
import { readOptions } from '../options/rest-options';
import { demonstrate, minerOf } from './demonstration';
import { addFaucet } from './faucet';
import type { AddressOptions } from '../options/addresses';
import type { ScannedTransaction } from '../../lib/bitcoin/transaction';
import type { Bcoin, HostFullNode } from '../bcoin';
import type { StartSettings } from './settings';

/** Where wallets connect. */
type WalletPlaces = Pick<AddressOptions, 'path'> & { readonly electrum: Pick<AddressOptions['electrum'], 'plain' | 'tls'> };

/** Electrum's flags for the networks that it knows. */
const FLAGS: Readonly<Record<string, string>> = { test: ' --testnet', regtest: ' --regtest', simnet: ' --simnet' };

/** Lines that bcoin writes many times a second while it finds no peers. */
const LOADER_PEERS = /^(Adding|Removed) loader peer/;

const SOON_MS = 500;
const STATUS_MS = 10_000;

/** A node with plugin and wallet that is not open yet. @throws OptionError, and bcoin's errors about its options. */
export function makeNode(bcoin: Bcoin, { options, isDemonstration }: StartSettings): HostFullNode {
  const load = (name: string): unknown => (name === plugin.id ? plugin : createRequire(__filename)(name));
  const node = new bcoin.FullNode({ ...options, loader: load });
  leaveOut(node.logger, LOADER_PEERS);
  if (isDemonstration) addFaucet(node, bcoin, minerOf(bcoin));
  if (!node.has(plugin.id)) node.use(plugin);
  // Like bcoin's own program.
  if (node.config.bool('no-wallet') !== true && !node.has('walletdb')) node.use(bcoin.wallet.plugin);
  return node;
}

/** Leaves lines out of the terminal. The log file has them. */
function leaveOut({ logger }: HostFullNode['logger'], words: RegExp): void {
  const write = logger.writeConsole.bind(logger);
  logger.writeConsole = (level, module, args) => !words.test(String(args[0])) && write(level, module, args);
}

/** Runs the node until the signal, or until it is stopped over RPC. Closes it if it was opened. */
export async function runNode(node: HostFullNode, bcoin: Bcoin, settings: StartSettings, signal: AbortSignal): Promise<void> {
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
    if (signal.aborted) resolve();
  });
  await node.ensure();
  await node.open();
  const rest = node.get(plugin.id) as plugin.RestPlugin;
  // Once the node closes, which may be at any time, its server has no address.
  const url = serverUrl(rest.http);
  try {
    await node.connect();
    if (settings.isDemonstration) await demonstrate(node, bcoin, signal);
    else node.startSync();
    const answers = await Promise.race([untilReady(rest, url), aborted.then(() => false)]);
    if (answers && !signal.aborted) {
      const options = readOptions(node.config);
      if (options.modernPool) console.log(`${plugin.MODERN_POOL} Without: --rest-pool=bcoin.`);
      console.log(await greeting(rest, settings, options));
    }
    await aborted;
  } finally {
    if (node.opened) await node.close();
  }
}

/** Prints what the node waits for until requests are answered. False if the node was closed before that. */
async function untilReady(rest: plugin.RestPlugin, url: string): Promise<boolean> {
  // Prints nothing if the node is in sync within a moment.
  const said = timer(SOON_MS, STATUS_MS)
    .pipe(
      map(() => rest.status),
      filter((status) => status !== undefined),
      distinctUntilChanged()
    )
    .subscribe((status) => {
      console.log(`Not in sync yet, ${url}/rest answers 503: ${status}`);
    });
  const ready = await firstValueFrom(rest.ready$.pipe(filter((isReady) => isReady)), { defaultValue: false });
  said.unsubscribe();
  return ready;
}

/**
 * The text that is printed once requests are answered: requests to try, with hashes of this chain. `addresses`: where wallets connect, if
 * there is an index by script. `explorer`: whether there is a page for browsers.
 */
export async function greeting(
  { http, node }: Pick<plugin.RestPlugin, 'http' | 'node'>,
  { apiKey, isDemonstration }: Pick<StartSettings, 'apiKey' | 'isDemonstration'>,
  { addresses, explorer }: { readonly addresses?: WalletPlaces; readonly explorer: boolean }
): Promise<string> {
  const root = serverUrl(http);
  const base = `${root}/rest`;
  const { hash, height } = node.tip();
  const raw = await node.rawBlock(hash);
  const transactions = raw === undefined ? [] : scanBlock(raw).transactions;
  const last = transactions.at(-1);
  const address = addressIn(transactions.toReversed(), node.network.addressPrefixes);
  const [pooled] = node.pool.entries();
  const key = apiKey?.file !== undefined ? `-u "x:$(cat ${apiKey.file})" ` : http.needsApiKey ? '-u x:KEY ' : '';
  return [
    '',
    ...(explorer ? [`In a browser: ${root}/explorer`] : []),
    `REST answers at height ${height}. Try:`,
    `  curl ${base}/chaininfo.json`,
    `  curl ${base}/block/notxdetails/${toDisplayHex(hash)}.json`,
    ...(last
      ? [`  curl ${base}/tx/${toDisplayHex(last.txid)}.json`, `  curl ${base}/getutxos/checkmempool/${toDisplayHex(last.txid)}-0.json`]
      : []),
    ...(pooled ? [`  curl ${base}/tx/${toDisplayHex(pooled.txid)}.json`] : []),
    `  curl ${base}/mempool/contents.json`,
    ...(addresses === undefined
      ? []
      : [
          'By address:',
          ...(address === undefined
            ? []
            : [`  curl ${root}${addresses.path}/address/${address}`, `  curl ${root}${addresses.path}/address/${address}/txs`]),
          `  curl ${root}${addresses.path}/blocks/tip/height`,
          ...electrumLines(addresses.electrum, node.network.chain)
        ]),
    ...(isDemonstration
      ? ['A coin for a wallet, in a block of its own:', `  curl ${key}${root}/ -d '{"method": "faucet", "params": ["ADDRESS"]}'`]
      : []),
    ...(apiKey?.file === undefined ? [] : [`RPC and wallet ask for the key in ${apiKey.file}:`, `  curl ${key}${root}/`]),
    'Ctrl-C stops the node.',
    ''
  ].join('\n');
}

/** The first address in the outputs of transactions. */
function addressIn(transactions: readonly ScannedTransaction[], prefixes: AddressPrefixes): string | undefined {
  const writer = new TextWriter();
  for (const { outputs } of transactions)
    for (const { bytes, scriptOffset, scriptLength } of outputs) {
      const end = scriptOffset + scriptLength;
      const type = scriptTypeOf(bytes, scriptOffset, end);
      // Scripts of the type pubkey have no address in Esplora's interface.
      if (type !== 'pubkey' && writeAddress(writer, bytes, scriptOffset, end, type, prefixes)) return writer.toString();
    }
  return undefined;
}

/** `chain`: Bitcoin Core's name of the network. */
function electrumLines({ plain, tls }: WalletPlaces['electrum'], chain: string): string[] {
  const command = `  electrum${FLAGS[chain] ?? ''} --oneserver --server`;
  return [...(plain === undefined ? [] : [`${command} ${textOf(plain)}:t`]), ...(tls === undefined ? [] : [`${command} ${textOf(tls)}:s`])];
}
