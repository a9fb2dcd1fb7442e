// A merchant on a regtest node that is there already, so that it can be stopped and started without the node, and be impatient.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MerchantService, type MerchantServiceParts } from '../../lib/merchant/merchant-service';
import { HttpApp } from '../../lib/server/app';
import { Unfinished } from '../../lib/server/bounds/unfinished';
import { Connections } from '../../lib/server/http/connections';
import { Mount } from '../../lib/server/http/mount';
import { WebFiles } from '../../lib/web/web-files';
import { MemoryLog } from '../support/process/memory-log';
import { basicAuth } from '../support/client/http';
import type { RestNode } from '../support/node/rest-node';

export const KEY = 'sesame';
export const AUTHORIZATION = basicAuth(`x:${KEY}`);

export class ServedMerchant {
  private constructor(
    readonly log: MemoryLog,
    readonly baseUrl: string,
    private readonly folder: string,
    private readonly service: MerchantService,
    private readonly mount: Mount
  ) {}

  static async on({ rest, baseUrl }: RestNode, folder: string, more: Partial<MerchantServiceParts> = {}): Promise<ServedMerchant> {
    const log = new MemoryLog();
    const service = new MerchantService({
      host: rest.http,
      node: rest.node,
      index: rest,
      ready$: rest.ready$,
      folder,
      publicUrl: undefined,
      notifyOrigins: [],
      timeoutMs: 10_000,
      unfinished: new Unfinished(),
      requireReady: () => undefined,
      version: '1.2.3',
      logger: log,
      files: new WebFiles(),
      ...more
    });
    const app = new HttpApp(log);
    app.add(await service.open());
    const { server } = rest.http;
    const mount = new Mount({
      server,
      takes: app.takes,
      handler: app.handle,
      isAuthenticated: () => false,
      connections: new Connections(server, 10_000, 1_000),
      logger: log
    });
    mount.open();
    return new ServedMerchant(log, baseUrl, folder, service, mount);
  }

  async secret(): Promise<string> {
    return (await readFile(join(this.folder, 'webhook-secret'), 'utf8')).trim();
  }

  create(order: object): Promise<Response> {
    return fetch(`${this.baseUrl}/pay`, { method: 'POST', headers: { authorization: AUTHORIZATION }, body: JSON.stringify(order) });
  }

  async close(): Promise<void> {
    this.mount.close();
    await this.service.close();
  }
}
