// With TEST_SOURCE=fleet, what suites ask is a reader: the node under test feeds a log on a server of its own, and a reader in the same process
// answers, with the interfaces and options that the node's plugin would have.

import { filter, firstValueFrom } from 'rxjs';
import { Feed } from '../../../lib/fleet/feed/feed';
import { parseNatsUrls, type NatsAccess } from '../../../lib/fleet/log/access';
import { networkNamed, type ReaderNetwork } from '../../../lib/fleet/reader/networks';
import { ReaderNode, type OwnIndex } from '../../../lib/fleet/reader/reader-node';
import { BcoinNode } from '../../../lib/node/bcoin';
import { ReaderHttp } from '../../../plugin/reader/http-host';
import { Nats, natsServer } from './nats';
import { askAtOnce, waitBeforeAsking } from '../client/settled-ports';
import type { AddressInfo } from 'node:net';
import type { Context } from 'mocha';
import type { ChainIndex } from '../../../lib/index/types';
import type { RestOptions } from '../../../plugin/options/rest-options';
import type { TestFullNode } from '../bcoin/bcoin';
import type { MemoryLog } from '../process/memory-log';

/** Whether the suites are to ask a reader. */
export const isFleetWanted = process.env['TEST_SOURCE'] === 'fleet';

/** Why a reader cannot show what happens after a reset. */
export const NO_FEED_WHILE_SHORTER = 'a node whose chain has become shorter does not feed a fleet until it has as much work again';

/** Skips what a reader cannot show, and says why. */
export function needsNode(context: Context, why: string): void {
  if (!isFleetWanted) return;
  console.log(`      skipped: ${why}`);
  context.skip();
}

export class TestFleet {
  readonly #nats: Nats;
  #made: Made | undefined;

  private constructor(nats: Nats) {
    this.#nats = nats;
  }

  static async open(): Promise<TestFleet> {
    const program = natsServer();
    if (program === undefined) throw new Error('TEST_SOURCE=fleet needs nats-server');
    return new TestFleet(await Nats.open(program));
  }

  /** What is served, and what serves it. */
  over(host: TestFullNode, options: RestOptions, logger: MemoryLog): Pick<Made, 'source' | 'http'> {
    const access = parseNatsUrls(this.#nats.url) as NatsAccess;
    const node = new BcoinNode(host, options);
    const feed = new Feed({ access, name: 'test', leads: true, node, logger, warnings: () => [], release: '1.2.3' });
    const source = new ReaderNode({
      network: networkOf(host),
      nats: access,
      staleMs: 60_000,
      forwardsCalls: true,
      disk: undefined,
      version: '1.2.3',
      logger
    });
    const { apiKey, noAuth } = host.http.options;
    const http = new ReaderHttp({ host: '127.0.0.1', port: 0, apiKey, needsApiKey: !noAuth });
    this.#made = { node, feed, source, http, electrumPort: options.addresses?.electrum.plain?.port };
    return this.#made;
  }

  /** Opens the parts around those that answer. */
  async openAround(index: Pick<ChainIndex, 'tip$'> & OwnIndex, open: () => Promise<void>): Promise<void> {
    const { feed, source, http, node } = this.#parts();
    feed.open();
    await source.open(index, () => undefined);
    await open();
    await http.open();
    let known = '';
    const settle = async (): Promise<void> => {
      const { pool } = node;
      const now = () => `${node.tip().hash.toString('hex')} ${pool.revision} ${pool.feeFingerprint()} ${String(node.synced)}`;
      const before = now();
      if (before === known) return;
      const sequence = await feed.settled();
      if (source.position.now.sequence < sequence)
        await firstValueFrom(source.position.moved$.pipe(filter(() => source.position.now.sequence >= sequence)));
      await firstValueFrom(index.tip$.pipe(filter(({ hash }) => hash.equals(source.tip().hash))));
      known = before;
    };
    for (const port of this.#ports) waitBeforeAsking(port, settle);
  }

  /** Closes the parts around those that answer. */
  async closeAround(close: () => Promise<void>): Promise<void> {
    const { feed, source, http } = this.#parts();
    for (const port of this.#ports) askAtOnce(port);
    await http.close();
    await close();
    source.close();
    await source.closed();
    await feed.close();
    await this.#nats.close();
  }

  /** On which clients ask. */
  get #ports(): readonly number[] {
    const { http, electrumPort } = this.#parts();
    return [portOf(http), ...(electrumPort === undefined ? [] : [electrumPort])];
  }

  #parts(): Made {
    if (this.#made === undefined) throw new Error('expected the parts to be made');
    return this.#made;
  }
}

interface Made {
  readonly node: BcoinNode;
  readonly feed: Feed;
  readonly source: ReaderNode;
  readonly http: ReaderHttp;
  readonly electrumPort: number | undefined;
}

/** With the node's address prefixes, which tests change. */
function networkOf({ network }: TestFullNode): ReaderNetwork {
  const { pubkeyhash, scripthash, bech32 } = network.addressPrefix;
  const known = networkNamed(network.type);
  if (known === undefined) throw new Error(`expected a network of readers, not ${network.type}`);
  return { ...known, addressPrefixes: { pubkeyhash, scripthash, bech32 } };
}

const portOf = ({ server }: ReaderHttp): number => (server.address() as AddressInfo | null)?.port ?? 0;
