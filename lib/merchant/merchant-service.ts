// A merchant on the HTTP server. Orders, requests and payments are stored in one folder; the chain is the node's.

import { serverUrl } from '../server/ports/server-url';
import { ChainFollower, type ChainFollowerParts, type FollowerLogger } from './chain-follower';
import { merchantInterface } from './merchant-interface';
import { NodeChain } from './node-chain';
import { Merchant } from './orders/merchant';
import { FolderStorage } from './orders/storage';
import { PaymentStore } from './orders/store';
import { SigningFiles } from './signing-files';
import { OutboxStore } from './webhooks/outbox';
import { SECRET_FILE, readSecret } from './webhooks/secret-file';
import { Webhooks, type WebhookPatience } from './webhooks/webhooks';
import type { Observable } from 'rxjs';
import type { HttpHost, NodeSource } from '../node/types';
import type { HttpInterface } from '../server/app';
import type { Unfinished } from '../server/bounds/unfinished';
import type { WebFiles } from '../web/web-files';

export interface MerchantServiceParts {
  readonly host: HttpHost;
  readonly node: NodeSource;
  readonly index: ChainFollowerParts['index'];
  /** Whether node and index are in sync. */
  readonly ready$: Observable<boolean>;
  readonly folder: string;
  /** The URL under which customers reach `/pay`; by default the address on which the server listens. */
  readonly publicUrl: string | undefined;
  /** Where orders may have their receivers told of changes. */
  readonly notifyOrigins: readonly string[];
  readonly timeoutMs: number;
  readonly unfinished: Unfinished;
  /** @throws HttpError 503 while node or index are not in sync. */
  readonly requireReady: () => void;
  /** The version of this package. */
  readonly version: string;
  readonly logger: FollowerLogger;
  /** Of the pages. */
  readonly files: WebFiles;
  /** How often acknowledged payments are broadcast again. */
  readonly reviewMs?: number | undefined;
  /** How patient webhooks are. */
  readonly patience?: WebhookPatience | undefined;
}

export class MerchantService {
  readonly #parts: MerchantServiceParts;
  #follower: ChainFollower | undefined;
  #webhooks: Webhooks | undefined;
  #forgetServer = (): void => undefined;

  constructor(parts: MerchantServiceParts) {
    this.#parts = parts;
  }

  /** Gives the pages. @throws when the folder or the keys in it cannot be used. */
  async open(): Promise<HttpInterface> {
    const {
      host,
      node,
      index,
      ready$,
      folder,
      publicUrl,
      notifyOrigins,
      timeoutMs,
      unfinished,
      requireReady,
      version,
      logger,
      files,
      reviewMs,
      patience
    } = this.#parts;
    const storage = await FolderStorage.open(folder);
    const store = new PaymentStore(storage);
    const clock = (): Date => new Date();
    const signing = await SigningFiles.open({ folder, clock, logger });
    const requireCaughtUp = (): void => {
      requireReady();
      follower.requireCaughtUp();
    };
    const webhooks: Webhooks = (this.#webhooks = new Webhooks({
      merchant: () => merchant,
      outboxes: new OutboxStore(storage),
      // Without origins nothing is sent.
      key: notifyOrigins.length === 0 ? Buffer.alloc(0) : await readSecret(storage, folder),
      origins: notifyOrigins,
      // Before the server listens orders may have no URL.
      isReady: () => host.server.listening && succeeds(requireCaughtUp),
      logger,
      ...patience
    }));
    const merchant: Merchant = new Merchant(new NodeChain(node, index.reader), store, {
      // A getter, since the server has no address before it listens.
      get baseUrl() {
        return `${publicUrl ?? serverUrl(host)}/pay`;
      },
      identity: () => signing.identity(),
      clock,
      notifyOrigins,
      observer: webhooks,
      onTrouble: (error) => {
        logger.warning(`payments: ${error.message}`);
      }
    });
    await merchant.open();
    const follower: ChainFollower = (this.#follower = new ChainFollower({
      node,
      index,
      ready$,
      merchant,
      store,
      logger,
      listener: webhooks,
      reviewMs
    }));
    await webhooks.open();
    await follower.open();
    host.server.once('listening', webhooks.settled);
    this.#forgetServer = () => void host.server.removeListener('listening', webhooks.settled);
    const pages = merchantInterface({ merchant, host, timeoutMs, unfinished, version, logger, requireReady: requireCaughtUp, files });
    if (notifyOrigins.length > 0)
      logger.info(`Webhooks go to ${notifyOrigins.join(', ')}, signed with the secret in ${SECRET_FILE} there.`);
    logger.info(`Payments are taken at /pay, ${signing.sign ? 'signed' : 'unsigned'}; their folder is ${folder}.`);
    return pages;
  }

  /** Resolves when nothing will be written any more. */
  async close(): Promise<void> {
    this.#forgetServer();
    await this.#follower?.close();
    await this.#webhooks?.close();
  }
}

function succeeds(check: () => void): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}
