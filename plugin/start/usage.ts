// The text of `npm start -- --help`: all options of the plugin, and those of bcoin that most nodes need.

import { defaultOf, OPTIONS, type OptionGroup, type OptionRow } from '../options/table';

const INDENT = 28;
const MOST_COLUMNS = 120;

/** A line or some lines of help about an option. */
export function helpOf(row: OptionRow): string {
  const { usage, meaning } = row;
  const given = `  --${usage}`;
  const shown = defaultOf(row);
  const text = wrapped(shown === undefined ? meaning : `${meaning} (${shown})`);
  return given.length < INDENT ? `${given.padEnd(INDENT)}${text}` : `${given}\n${' '.repeat(INDENT)}${text}`;
}

function wrapped(text: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last.length + word.length + 1 > MOST_COLUMNS - INDENT) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines.join(`\n${' '.repeat(INDENT)}`);
}

const NODE_OPTIONS: readonly OptionRow[] = OPTIONS.filter((row: OptionRow) => row.only !== 'reader');

const ofGroup = (wanted: OptionGroup): string =>
  NODE_OPTIONS.filter(({ group }) => group === wanted)
    .map(helpOf)
    .join('\n');

const BCOINS = `  --network NAME            main, testnet, regtest or simnet
  --prefix DIR              the node's folder; ~/.bcoin
  --config FILE             by default bcoin.conf in the node's folder
  --api-key KEY             of RPC and wallet; by default made at the first start and kept in the node's folder
  --http-host HOST, --http-port PORT
                            of the HTTP server with /rest and RPC; 127.0.0.1, and 8332 on main
  --listen BOOL, --host HOST, --port PORT
                            for other nodes
  --nodes LIST, --only LIST other nodes to connect to: in addition, or exclusively
  --max-outbound N, --max-inbound N
  --prune                   keep only the latest blocks
  --index-tx, --index-address
  --cache-size MIB, --mempool-size MIB
  --persistent-mempool
  --log-level LEVEL         none, error, warning, info, debug, spam
  --log-console BOOL, --log-file BOOL
  --memory                  keep nothing on disk
  --no-wallet
  --wallet-prefix DIR       the wallet's folder; by default the node's
  --wallet-http-port PORT   8334 on main`;

export const USAGE = `Usage: npm start -- [OPTION]...

Starts a bcoin node that answers Bitcoin Core's REST interface. With none of --network, --prefix and
--config it is a node on regtest with a small demonstration chain, in .demo, and --rest-addresses is on.
--rest-explorer and --rest-pool=modern are on by default (--rest-explorer=false and --rest-pool=bcoin
switch them off).

  --reset                   make a new demonstration chain

REST:
${ofGroup('REST')}

Wallets:
${ofGroup('wallets')}

Payments:
${ofGroup('payments')}

Notifications:
${ofGroup('notifications')}

Running:
${ofGroup('running')}

Fleet:
${ofGroup('fleet')}

bcoin's, among others:
${BCOINS}

  --help, --version

All options can also be set in bcoin.conf (rest-threads: 8) and in the environment (BCOIN_REST_THREADS=8).
BCOIN_PATH names another bcoin than the one installed here. All of bcoin's options are in etc/sample.conf in its folder.
`;
