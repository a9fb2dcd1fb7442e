// A real node with the index of the chain, REST and Esplora's API, asked over its HTTP server. The index by script follows when told to.

import { filter, firstValueFrom } from 'rxjs';
import { ChainIndexer } from '../../lib/index/chain-index';
import { EsploraService, type EsploraServiceOptions } from '../../lib/esplora/esplora-service';
import { BcoinNode } from '../../lib/node/bcoin';
import { RestService } from '../../lib/rest/rest-service';
import { ChainAnswers } from '../../lib/answers/chain-answers';
import { PoolFees } from '../../lib/answers/pool/fees';
import { ScriptPool } from '../../lib/pool/by-script/script-pool';
import { MemoryStore } from '../../lib/store/memory-store';
import { migrations } from '../../migrations';
import { readOptions } from '../../plugin/options';
import { unfailing } from './unfailing';
import { FollowedScripts } from './followed-scripts';
import { openRegtestNode, type RegtestOptions } from './regtest-node';
import { ask, type RawReply, type RawRequest } from './http';
import type { AddressInfo } from 'node:net';
import type { EsploraContext } from '../../lib/esplora/endpoint';
import type { EndpointContext } from '../../lib/answers/context';
import type { TestFullNode } from './bcoin';

const OPTIONS: EsploraServiceOptions = { path: '/api', cors: undefined, broadcast: true, auth: false, maxUnspent: 500 };

export interface EsploraNode {
  readonly node: TestFullNode;
  readonly source: BcoinNode;
  readonly index: ChainIndexer;
  readonly scripts: FollowedScripts;
  readonly pool: ScriptPool;
  readonly fees: PoolFees;
  readonly answers: ChainAnswers;
  /** The context of REST's endpoints, and of Esplora's. */
  readonly context: EndpointContext;
  readonly esplora: EsploraContext;
  readonly port: number;
  /** Waits for the index, and brings the index by script to its block. */
  settle(): Promise<void>;
  get(path: string, request?: Partial<RawRequest>): Promise<RawReply>;
}

/** Opens a node whose gates are open. */
export async function openEsploraNode(
  options: Partial<EsploraServiceOptions> = {},
  { settings, ...regtest }: RegtestOptions = {}
): Promise<EsploraNode> {
  let parts:
    | {
        source: BcoinNode;
        index: ChainIndexer;
        scripts: FollowedScripts;
        pool: ScriptPool;
        fees: PoolFees;
        answers: ChainAnswers;
        rest: RestService;
        esplora: EsploraContext;
      }
    | undefined;
  const plugin = {
    id: 'esplora',
    init: (node: TestFullNode) => {
      const { limits, ...others } = readOptions(node.config);
      const logger = node.logger.context('esplora');
      const source = new BcoinNode(node);
      const index = new ChainIndexer({ store: new MemoryStore(), node: source, logger, migrations, ...others });
      const rest = new RestService({ node: source, index, options: { ...others, limits, warmup: 'indexed' }, logger });
      const scripts = new FollowedScripts(source, index.reader);
      const pool = new ScriptPool(source.pool, unfailing);
      const fees = new PoolFees(source, pool);
      const answers = new ChainAnswers(rest.shared.context);
      const esplora = new EsploraService({
        shared: rest.shared,
        scripts: {
          reader: scripts,
          get state() {
            return scripts.state;
          }
        },
        pool,
        fees,
        answers,
        options: { ...OPTIONS, ...options },
        logger
      });
      parts = { source, index, scripts, pool, fees, answers, rest, esplora: esplora.context };
      return {
        open: async () => {
          await index.open();
          await pool.open();
          rest.open();
          esplora.open();
        },
        close: async () => {
          esplora.close();
          rest.close();
          pool.close();
          await index.close();
          source.close();
        }
      };
    }
  };
  const node = await openRegtestNode({ ...regtest, ...(settings && { settings }), plugins: [plugin] });
  if (parts === undefined) throw new Error('expected the node to load its plugin');
  const { source, index, scripts, pool, fees, answers, rest, esplora } = parts;
  const { context } = rest.shared;
  const { port } = source.httpServer.address() as AddressInfo;
  const settle = async (): Promise<void> => {
    await firstValueFrom(rest.ready$.pipe(filter((ready) => ready)));
    await firstValueFrom(index.tip$.pipe(filter(({ hash }) => hash.equals(source.tip().hash))));
    await scripts.update();
  };
  await settle();
  return {
    node,
    source,
    index,
    scripts,
    pool,
    fees,
    answers,
    context,
    esplora,
    port,
    settle,
    get: (path, request) => ask(port, { path: `/api${path}`, ...request })
  };
}
