// A real node on regtest that feeds the log of a fleet.

import { BcoinNode } from '../../../lib/node/bcoin';
import { Feed, type FeedParts } from '../../../lib/fleet/feed/feed';
import { parseNatsUrls } from '../../../lib/fleet/log/access';
import { MemoryLog } from '../process/memory-log';
import { openRegtestNode, type RegtestOptions } from '../bcoin/regtest-node';
import { until } from '../expectations/until';
import type { HostNode } from '../../../lib/node/host';
import type { TestFullNode } from '../bcoin/bcoin';

export interface FeedingOptions extends Partial<Pick<FeedParts, 'name' | 'leads' | 'leaseMs'>> {
  /** The file of `--rest-nats-creds`. */
  readonly credentials?: string;
}

/** What a node is made of that feeds: the node is open, its feed is not yet. */
export interface FeedingNodeOptions extends RegtestOptions {
  /** Whether it gets today's pool. */
  readonly modernPool?: boolean;
}

export class FeedingNode {
  readonly log = new MemoryLog();
  readonly #url: string;
  #feed: Feed | undefined;

  private constructor(
    readonly node: TestFullNode,
    readonly source: BcoinNode,
    url: string
  ) {
    this.#url = url;
  }

  static async open(url: string, { modernPool = false, ...options }: FeedingNodeOptions = {}): Promise<FeedingNode> {
    let source: BcoinNode | undefined;
    const plugin = {
      id: 'rest',
      init: (host: HostNode) => {
        source = new BcoinNode(host, { modernPool });
        return { open: () => undefined, close: () => undefined };
      }
    };
    const node = await openRegtestNode({ ...options, plugins: [plugin] });
    if (source === undefined) throw new Error('expected the node to load its plugin');
    return new FeedingNode(node, source, url);
  }

  get feed(): Feed {
    if (this.#feed === undefined) throw new Error('expected the node to feed');
    return this.#feed;
  }

  /** Begins to feed; does not wait until it leads. */
  start({ name = 'a', leads = true, leaseMs = 2_000, credentials }: FeedingOptions = {}, url = this.#url): void {
    const access = parseNatsUrls(url, credentials);
    if (access === undefined) throw new Error(`expected ${url} to be right`);
    const parts = { access, name, leads, leaseMs, node: this.source, logger: this.log, warnings: () => ['a warning'], release: '1.2.3' };
    this.#feed = new Feed(parts);
    this.#feed.open();
  }

  /** Begins to feed, and waits until it leads. */
  async lead(options?: FeedingOptions, url?: string): Promise<void> {
    this.start(options, url);
    await until(() => this.feed.isLeading);
  }

  /** Ends its feed in order. */
  async stop(): Promise<void> {
    await this.#feed?.close();
    this.#feed = undefined;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.node.close();
  }
}
