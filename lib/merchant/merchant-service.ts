// A merchant on the HTTP server. Orders, requests and payments are stored in one folder; the chain is the node's.

import { ChainFollower, type ChainFollowerParts, type FollowerLogger } from './chain-follower';
import { merchantInterface } from './merchant-interface';
import { NodeChain } from './node-chain';
import { Merchant } from './orders/merchant';
import { FolderStorage } from './orders/storage';
import { PaymentStore } from './orders/store';
import { SigningFiles } from './signing-files';
import type { AddressInfo } from 'node:net';
import type { Observable } from 'rxjs';
import type { HttpHost, NodeSource } from '../node/types';
import type { HttpInterface } from '../server/app';
import type { Unfinished } from '../server/bounds/unfinished';

export interface MerchantServiceParts {
  readonly host: HttpHost;
  readonly node: NodeSource;
  readonly index: ChainFollowerParts['index'];
  /** Whether node and index are in sync. */
  readonly ready$: Observable<boolean>;
  readonly folder: string;
  /** The URL under which customers reach `/pay`; by default the address on which the server listens. */
  readonly publicUrl: string | undefined;
  readonly timeoutMs: number;
  readonly unfinished: Unfinished;
  /** @throws HttpError 503 while node or index are not in sync. */
  readonly requireReady: () => void;
  readonly logger: FollowerLogger;
  /** How often acknowledged payments are broadcast again. */
  readonly reviewMs?: number | undefined;
}

export class MerchantService {
  readonly #parts: MerchantServiceParts;
  #follower: ChainFollower | undefined;

  constructor(parts: MerchantServiceParts) {
    this.#parts = parts;
  }

  /** Gives the pages. @throws when the folder or the keys in it cannot be used. */
  async open(): Promise<HttpInterface> {
    const { host, node, index, ready$, folder, publicUrl, timeoutMs, unfinished, requireReady, logger, reviewMs } = this.#parts;
    const store = new PaymentStore(await FolderStorage.open(folder));
    const clock = (): Date => new Date();
    const signing = await SigningFiles.open({ folder, clock, logger });
    const merchant = new Merchant(new NodeChain(node, index.reader), store, {
      // A getter, since the server has no address before it listens.
      get baseUrl() {
        return `${publicUrl ?? addressOf(host)}/pay`;
      },
      identity: () => signing.identity(),
      clock,
      onTrouble: (error) => {
        logger.warning(`payments: ${error.message}`);
      }
    });
    await merchant.open();
    const follower = (this.#follower = new ChainFollower({ node, index, ready$, merchant, store, logger, reviewMs }));
    await follower.open();
    const pages = merchantInterface({
      merchant,
      host,
      timeoutMs,
      unfinished,
      logger,
      requireReady: () => {
        requireReady();
        follower.requireCaughtUp();
      }
    });
    logger.info(`Payments are taken at /pay, ${signing.sign ? 'signed' : 'unsigned'}; their folder is ${folder}.`);
    return pages;
  }

  /** Resolves when nothing will be written any more. */
  async close(): Promise<void> {
    await this.#follower?.close();
  }
}

function addressOf({ server }: HttpHost): string {
  const { address, port, family } = server.address() as AddressInfo;
  const scheme = 'setSecureContext' in server ? 'https' : 'http';
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
