// A real node with the index of the chain, REST and Esplora's API, asked over its HTTP server. The index by script follows when told to.

import { filter, firstValueFrom } from 'rxjs';
import { answersOf, scriptAnswersOf, type ScriptAnswers } from '../../lib/answers/answers';
import { esploraInterface, type EsploraInterfaceOptions } from '../../lib/esplora/esplora-interface';
import { ChainIndexer } from '../../lib/index/chain-index';
import { BcoinNode } from '../../lib/node/bcoin';
import { ScriptPool } from '../../lib/pool/by-script/script-pool';
import { restInterface } from '../../lib/rest/rest-interface';
import { restRoutes } from '../../lib/rest/routes';
import { HttpApp } from '../../lib/server/app';
import { Mount } from '../../lib/server/http/mount';
import { Serving } from '../../lib/server/serving';
import { MemoryStore } from '../../lib/store/memory-store';
import { migrations } from '../../migrations';
import { readOptions } from '../../plugin/options';
import { FollowedScripts } from './followed-scripts';
import { ask, type RawReply, type RawRequest } from './http';
import { openRegtestNode, type RegtestOptions } from './regtest-node';
import { unfailing } from './unfailing';
import type { AddressInfo } from 'node:net';
import type { EsploraContext } from '../../lib/esplora/endpoint';
import type { TestFullNode } from './bcoin';

interface Options extends EsploraInterfaceOptions, Pick<EsploraContext, 'broadcast' | 'maxUnspent'> {
  readonly auth: boolean;
}

const OPTIONS: Options = {
  path: '/api',
  cors: undefined,
  broadcast: true,
  auth: false,
  maxUnspent: 500
};

interface Parts {
  readonly source: BcoinNode;
  readonly index: ChainIndexer;
  readonly scripts: FollowedScripts;
  /** What the interfaces answer from. */
  readonly answers: ScriptAnswers;
  readonly serving: Serving;
}

export interface EsploraNode extends Parts {
  readonly node: TestFullNode;
  readonly port: number;
  /** Waits for the index, and brings the index by script to its block. */
  settle(): Promise<void>;
  get(path: string, request?: Partial<RawRequest>): Promise<RawReply>;
}

/** Opens a node whose gates are open. */
export async function openEsploraNode(options: Partial<Options> = {}, { settings, ...regtest }: RegtestOptions = {}): Promise<EsploraNode> {
  const { auth, ...esploraOptions } = { ...OPTIONS, ...options };
  let parts: Parts | undefined;
  const plugin = {
    id: 'esplora',
    init: (host: TestFullNode) => {
      const read = readOptions(host.config);
      const logger = host.logger.context('esplora');
      const source = new BcoinNode(host);
      const index = new ChainIndexer({ ...read, store: new MemoryStore(), node: source, logger, migrations });
      const serving = new Serving({ node: source, index, options: { ...read, warmup: 'indexed', auth }, logger });
      const scripts = new FollowedScripts(source, index.reader);
      const followed = {
        reader: scripts,
        get state() {
          return scripts.state;
        }
      };
      const pool = new ScriptPool(source.pool, unfailing);
      const answers = scriptAnswersOf(answersOf(serving, read, undefined), serving.gate, followed, pool);
      const { broadcast, maxUnspent } = esploraOptions;
      const app = new HttpApp(logger);
      app.add(restInterface(serving, restRoutes(answers), read.profile));
      app.add(esploraInterface(serving, { ...answers, broadcast, maxUnspent }, esploraOptions));
      const { connections } = serving;
      const mount = new Mount({ server: source.httpServer, takes: app.takes, handler: app.handle, connections, logger });
      parts = { source, index, scripts, answers, serving };
      return {
        open: async () => {
          await index.open();
          await pool.open();
          serving.open();
          mount.open();
        },
        close: async () => {
          mount.close();
          serving.close();
          pool.close();
          await index.close();
          source.close();
        }
      };
    }
  };
  const node = await openRegtestNode({ ...regtest, ...(settings && { settings }), plugins: [plugin] });
  if (parts === undefined) throw new Error('expected the node to load its plugin');
  const { source, index, scripts, serving } = parts;
  const { port } = source.httpServer.address() as AddressInfo;
  const settle = async (): Promise<void> => {
    await firstValueFrom(serving.gate.ready$.pipe(filter((ready) => ready)));
    await firstValueFrom(index.tip$.pipe(filter(({ hash }) => hash.equals(source.tip().hash))));
    await scripts.update();
  };
  await settle();
  return { ...parts, node, port, settle, get: (path, request) => ask(port, { path: `/api${path}`, ...request }) };
}
