// A merchant on the node's HTTP server: orders, requests and payments live in one folder,
// the chain is the node's.

import type { AddressInfo } from 'node:net';
import { FolderStorage } from '../payments/merchant/storage';
import { Merchant } from '../payments/merchant/merchant';
import { PaymentStore } from '../payments/merchant/store';
import { Mount } from '../rest/mount';
import { merchantApp } from './app';
import { NodeChain } from './node-chain';
import { SigningFiles } from './signing-files';
import type { IndexReader } from '../index/types';
import type { NodeSource } from '../node/types';
import type { RestLogger } from '../rest/app';

export interface MerchantServiceParts {
  readonly node: NodeSource;
  readonly reader: IndexReader;
  readonly folder: string;
  /** Where customers reach `/pay`; the address that the node listens on unless given. */
  readonly publicUrl: string | undefined;
  readonly timeoutMs: number;
  /** @throws RestError 503 while node or index are not in sync. */
  readonly requireReady: () => void;
  readonly logger: RestLogger & { info(message: string): void };
}

export class MerchantService {
  private mount: Mount | undefined;

  constructor(private readonly parts: MerchantServiceParts) {}

  /** Takes `/pay` over from the node's HTTP server. @throws when the folder or the keys in it cannot be used. */
  async open(): Promise<void> {
    const { node, reader, folder, publicUrl, timeoutMs, requireReady, logger } = this.parts;
    const store = new PaymentStore(await FolderStorage.open(folder));
    const clock = (): Date => new Date();
    const signing = await SigningFiles.open({ folder, clock, logger });
    let merchant: Merchant | undefined;
    // Made at the first request: only then the server has its address.
    const app = merchantApp({
      merchant: () => merchant ??= new Merchant(new NodeChain(node, reader), store, {
        baseUrl: `${publicUrl ?? addressOf(node)}/pay`,
        identity: () => signing.identity(),
        clock
      }),
      node, timeoutMs, requireReady, logger
    });
    const handle = app.callback();
    this.mount = new Mount(node.httpServer, '/pay', (request, response) => void handle(request, response), timeoutMs);
    this.mount.open();
    logger.info(`Payments are taken at /pay, ${signing.sign ? 'signed' : 'unsigned'}; their folder is ${folder}.`);
  }

  close(): void {
    this.mount?.close();
  }
}

function addressOf({ httpServer }: NodeSource): string {
  const { address, port, family } = httpServer.address() as AddressInfo;
  const scheme = 'setSecureContext' in httpServer ? 'https' : 'http';
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
