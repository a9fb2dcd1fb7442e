// A merchant on the HTTP server. Orders, requests and payments are stored in one folder; the chain is the node's.

import { serverUrl } from '../server/ports/server-url';
import { FolderLock } from '../store/folder-lock';
import { ChainFollower, type ChainFollowerParts, type FollowerLogger } from './chain-follower';
import { FolderInUseError } from './errors';
import { merchantInterface } from './merchant-interface';
import { NodeChain } from './node-chain';
import { Merchant } from './orders/merchant';
import { FolderStorage } from './orders/storage';
import { PaymentStore } from './orders/store';
import { SigningFiles } from './signing-files';
import { OutboxStore } from './webhooks/outbox';
import { SECRET_FILE, readSecret } from './webhooks/secret-file';
import { Webhooks } from './webhooks/webhooks';
import type { Observable } from 'rxjs';
import type { HttpHost } from '../node/types/http-host';
import type { NodeSource } from '../node/types/source';
import type { HttpInterface } from '../server/app';
import type { Unfinished } from '../server/bounds/unfinished';
import type { WebFiles } from '../web/web-files';
import type { WebhookPatience } from './webhooks/delivery-queue';

export interface MerchantServiceParts {
  readonly host: HttpHost;
  readonly node: NodeSource;
  readonly index: ChainFollowerParts['index'];
  /** Whether node and index are in sync. */
  readonly ready$: Observable<boolean>;
  readonly folder: string;
  /** The URL under which customers reach `/pay`; by default the address on which the server listens. */
  readonly publicUrl: string | undefined;
  /** The origins at which shops may be notified of changes of their orders. */
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
  readonly #lock: FolderLock;
  #follower: ChainFollower | undefined;
  #webhooks: Webhooks | undefined;
  #forgetServer = (): void => undefined;

  constructor(parts: MerchantServiceParts) {
    this.#parts = parts;
    this.#lock = new FolderLock(parts.folder);
  }

  /** Gives the pages. @throws FolderInUseError; Error when the folder or the keys in it cannot be used */
  async open(): Promise<HttpInterface> {
    const { host, folder, timeoutMs, unfinished, version, logger, files } = this.#parts;
    const storage = await FolderStorage.open(folder);
    if (!(await this.#lock.take())) throw new FolderInUseError(`another process has ${folder}`);
    const store = new PaymentStore(storage);
    const signing = await SigningFiles.open({ folder, clock: now, logger });
    const webhooks = (this.#webhooks = await this.#webhooksIn(storage, () => merchant));
    const merchant: Merchant = this.#merchantOver(store, signing, webhooks);
    await merchant.open();
    this.#follower = this.#followerOf(merchant, store, webhooks);
    await webhooks.open();
    await this.#follower.open();
    this.#settleOnceListening(webhooks);
    this.#sayOpen(signing);
    return merchantInterface({ merchant, host, timeoutMs, unfinished, version, logger, requireReady: this.#requireCaughtUp, files });
  }

  readonly #requireCaughtUp = (): void => {
    this.#parts.requireReady();
    this.#follower?.requireCaughtUp();
  };

  /** `merchant`: asked for later. */
  async #webhooksIn(storage: FolderStorage, merchant: () => Merchant): Promise<Webhooks> {
    const { host, folder, notifyOrigins, logger, patience } = this.#parts;
    return new Webhooks({
      merchant,
      outboxes: new OutboxStore(storage),
      // Without origins nothing is sent.
      key: notifyOrigins.length === 0 ? Buffer.alloc(0) : await readSecret(storage, folder),
      origins: notifyOrigins,
      // Before the server listens orders may have no URL.
      isReady: () => host.server.listening && succeeds(this.#requireCaughtUp),
      logger,
      ...patience
    });
  }

  #merchantOver(store: PaymentStore, signing: SigningFiles, webhooks: Webhooks): Merchant {
    const { host, node, index, publicUrl, notifyOrigins, logger } = this.#parts;
    return new Merchant(new NodeChain(node, index.reader), store, {
      // A getter, since the server has no address before it listens.
      get baseUrl() {
        return `${publicUrl ?? serverUrl(host)}/pay`;
      },
      identity: () => signing.identity(),
      clock: now,
      notifyOrigins,
      observer: webhooks,
      onMade: (scripts) => this.#follower?.lookFor(scripts),
      onTrouble: (error) => {
        logger.warning(`payments: ${error.message}`);
      }
    });
  }

  #followerOf(merchant: Merchant, store: PaymentStore, webhooks: Webhooks): ChainFollower {
    const { node, index, ready$, logger, reviewMs } = this.#parts;
    return new ChainFollower({ node, index, ready$, merchant, store, logger, listener: webhooks, reviewMs });
  }

  #settleOnceListening({ settled }: Webhooks): void {
    const { server } = this.#parts.host;
    server.once('listening', settled);
    this.#forgetServer = () => void server.removeListener('listening', settled);
  }

  #sayOpen({ sign }: SigningFiles): void {
    const { folder, notifyOrigins, logger } = this.#parts;
    if (notifyOrigins.length > 0)
      logger.info(`Webhooks go to ${notifyOrigins.join(', ')}, signed with the secret in ${SECRET_FILE} there.`);
    logger.info(`Payments are taken at /pay, ${sign ? 'signed' : 'unsigned'}; their folder is ${folder}.`);
  }

  /** Resolves when nothing will be written any more. */
  async close(): Promise<void> {
    this.#forgetServer();
    await this.#follower?.close();
    await this.#webhooks?.close();
    await this.#lock.release();
  }
}

const now = (): Date => new Date();

function succeeds(check: () => void): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}
