// `npx bcoin-rest reader`.

import { messageOf } from '../../lib/system/error-text';
import { OptionError } from '../options/errors';
import { helpOf } from '../start/usage';
import { OPTIONS } from '../options/table';
import { collectSeldom } from './collections';
import { ReaderConfig } from './config';
import { isLogLevel, ReaderLogger } from './logger';
import { Reader } from './reader';
import type { Io } from '../cli/io';

export const READER_USAGE = `Usage: bcoin-rest reader --rest-nats=URLS --prefix=DIR [OPTION]...

Follows the log that the nodes of a fleet write (--rest-feed), keeps indexes of its own in DIR, and answers what a node with the plugin
answers. bcoin need not be installed.

  --network NAME            main, testnet, regtest or simnet
  --prefix DIR              the reader's own folder
  --http-host HOST, --http-port PORT
                            of the HTTP server; 127.0.0.1, and 8332 on main
  --api-key KEY             for JSON-RPC and --rest-auth; without it nobody knows the key
  --no-auth                 JSON-RPC asks for no key
  --log-level LEVEL         none, error, warning, info, debug, spam

${OPTIONS.filter(({ only }) => only !== 'node')
  .map(helpOf)
  .join('\n')}

All options can also be set in the environment (BCOIN_REST_THREADS=8).
`;

const FAILURE_EXIT = 1;
const USAGE_EXIT = 2;

/** Runs until a signal ends the process, which it does when everything is closed. */
export async function runReader(args: readonly string[], { out, err }: Io): Promise<number> {
  try {
    const config = new ReaderConfig(args, process.env);
    const level = String(config.get('log-level') ?? 'info');
    if (!isLogLevel(level)) throw new OptionError(`--log-level must be none, error, warning, info, debug or spam, not '${level}'`);
    const reader = new Reader(config, new ReaderLogger(level, out));
    collectSeldom(reader.rest.tip$, reader.rest.allReady$);
    try {
      await reader.open();
    } catch (error) {
      await reader.close();
      throw error;
    }
    return 0;
  } catch (error) {
    err(`${messageOf(error)}\n`);
    return error instanceof OptionError ? USAGE_EXIT : FAILURE_EXIT;
  }
}
