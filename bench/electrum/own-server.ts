// A bcoin node with the built plugin, whose event loop can be watched.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePort } from '../../test/support/bcoin/regtest-node';
import { RUN_FOLDER } from '../measure/run';
import { loopWatch, type Watch } from '../scripts/watched-server';
import { fillPool } from '../serve/fill-pool';
import { openBcoin, type ClosableProcess } from '../serve/server-process';
import { copyOf } from '../serve/serving-chain';
import { LineServer, type ServerParts } from './server';
import type { Connected } from './block-clock';
import type { WalletChain } from './wallet-chain';

export interface OwnStart {
  readonly chain: WalletChain;
  readonly name: string;
  /** Most sessions. */
  readonly sessions: number;
  /** Folder of a built checkout. */
  readonly checkout?: string;
  /** Whether the time at which a block is connected is wanted. */
  readonly hasClock?: boolean;
}

export class OwnServer extends LineServer<ClosableProcess> {
  readonly #preload: ReturnType<typeof loopWatch>;
  readonly #clock: string;

  constructor(parts: ServerParts<ClosableProcess>, preload: ReturnType<typeof loopWatch>, clock: string) {
    super(parts);
    this.#preload = preload;
    this.#clock = clock;
  }

  get httpPort(): number {
    return this.running.port;
  }

  /** Of the process that runs now. */
  get watch(): Watch {
    return this.#preload.watchOf(this.running);
  }

  /** The last block that was connected; to be called after a block. */
  connected(): Connected {
    return JSON.parse(readFileSync(this.#clock, 'utf8')) as Connected;
  }
}

/** Not started yet. */
export async function ownServer({ chain, name, sessions, checkout = resolve('.'), hasClock = false }: OwnStart): Promise<OwnServer> {
  const linePort = await freePort();
  const preload = loopWatch(name);
  const clock = join(RUN_FOLDER, `${name}.clock`);
  const prefix = copyOf(chain, name);
  return new OwnServer(
    {
      name,
      linePort,
      folder: join(prefix, 'regtest/rest'),
      open: () =>
        openBcoin(prefix, {
          folder: checkout,
          flags: [
            '--rest-addresses=true',
            '--rest-scrub=0',
            `--rest-electrum=127.0.0.1:${linePort}`,
            `--rest-electrum-sessions=${sessions}`,
            '--listen=false'
          ],
          plugins: hasClock ? [join(__dirname, 'block-clock.js')] : [],
          readyPath: '/api/blocks/tip/height',
          nodeFlags: ['--expose-gc', ...preload.nodeFlags],
          env: { ...preload.env, BLOCK_CLOCK: clock }
        }),
      prepare: ({ port }) => fillPool(port, chain)
    },
    preload,
    clock
  );
}
