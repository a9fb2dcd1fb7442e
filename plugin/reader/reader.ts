// A reader of a fleet: a process without a node, which follows the fleet's log with indexes of its own and answers over all interfaces.

import { packageVersion, RestPlugin, type ServiceHost } from '..';
import { ReaderNode } from '../../lib/fleet/reader/reader-node';
import { ACCEPTED_NAMES } from '../options/table';
import { OptionError } from '../options/errors';
import { flagOf } from '../options/names';
import { readOptions, type RestOptions } from '../options/rest-options';
import { LOOPBACK, MOST_PORT } from '../options/values';
import { placesOf } from '../places';
import { requireKnown, type ReaderConfig } from './config';
import { ReaderHttp } from './http-host';
import { readNetwork } from './network';
import type { ReaderOptions } from '../options/fleet';
import type { HostNodeLogger } from '../../lib/node/host';

/** Options beside those of the table, as bcoin has them. */
const OTHER_NAMES = ['network', 'prefix', 'http-host', 'http-port', 'api-key', 'no-auth', 'log-level'] as const;

const KNOWN = `it knows ${OTHER_NAMES.map(flagOf).join(', ')}`;

export class Reader {
  readonly rest: RestPlugin;
  readonly node: ReaderNode;
  readonly http: ReaderHttp;
  #closing: Promise<void> | undefined;

  /** @throws OptionError */
  constructor(config: ReaderConfig, logger: HostNodeLogger) {
    const options = readOptions(config, 'reader') as RestOptions & { readonly reader: ReaderOptions }; // it is one
    requireKnown(config, [...ACCEPTED_NAMES, ...OTHER_NAMES], `is not an option of a reader; beside those of --rest-… ${KNOWN}`);
    const network = readNetwork(config);
    const places = placesOf(config);
    const { nats, staleMs, blockCacheBytes, forwardsCalls, togetherMs } = options.reader;
    this.http = new ReaderHttp({
      host: String(config.get('http-host') ?? LOOPBACK),
      port: readPort(config) ?? network.httpPort,
      apiKey: readApiKey(config),
      needsApiKey: config.bool('no-auth', false) !== true
    });
    this.node = new ReaderNode({
      network,
      nats,
      staleMs,
      forwardsCalls,
      togetherMs,
      version: packageVersion(),
      disk: { blocks: places.blocks, blockBytes: blockCacheBytes, position: places.position },
      logger: logger.context('fleet')
    });
    const host: ServiceHost = { http: this.http, options, places, logger, close: () => this.close() };
    this.rest = new RestPlugin(host, this.node);
  }

  /** Does not wait for NATS, nor for the index to catch up. @throws IndexRefusedError, OptionError, also when the port cannot be used */
  async open(): Promise<void> {
    await this.node.open(this.rest, () => this.rest.status);
    await this.rest.open();
    await this.http.open();
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    // First, as in a node: calls that wait end with their replies.
    await this.http.close();
    await this.rest.close();
    await this.node.closed();
  }
}

/** An empty one, as of a variable that is not set, would let everybody in. */
function readApiKey(config: ReaderConfig): string | undefined {
  const key = config.get('api-key');
  if (key === '' || key === true) throw new OptionError('--api-key must be a key, not nothing');
  return key === null ? undefined : String(key);
}

function readPort(config: ReaderConfig): number | undefined {
  const text = config.get('http-port');
  if (text === null) return undefined;
  const port = /^\d{1,5}$/.test(String(text)) ? Number(text) : NaN;
  if (!(port <= MOST_PORT)) throw new OptionError(`--http-port must be a port, not '${text}'`);
  return port;
}
