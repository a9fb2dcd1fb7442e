// Options on the command line that nobody reads. bcoin ignores them silently.

import { bareName } from '../options/names';
import { NAMES } from '../options/table';
import { nearest } from '../options/unknown';

/**
 * The options that bcoin 1.0.2 and 2.2 read (`config.…('name')` in its sources), those of `npm start`, and one that people give although
 * it has no effect (`--no-dns`).
 */
const BCOINS = `
  admin-token api-key bip148 bip157 bip37 bip91 block-cache-size cache-size checkpoints coin-cache coinbase-address coinbase-flags
  compact config cors create-socket daemon db entry-cache force-flags host http-host http-port index-address index-filter index-prefix
  index-tx limit-free limit-free-relay listen loader log-console log-file log-level log-max-file-size log-max-files log-shrink
  max-block-weight max-files max-inbound max-outbound max-txs max-weight memory mempool-size network no-dns no-auth no-wallet nodes
  onion only persistent-mempool plugins port prefix preverify proxy prune public-host public-port reject-absurd-fees replace-by-fee
  require-standard reserved-block-sigops reserved-block-weight reserved-sigops reserved-weight reset seeds selfish spv ssl ssl-cert
  ssl-key start-height upnp wallet wipe-no-really witness worker-file workers workers-size workers-timeout
`
  .trim()
  .split(/\s+/);

/** Slips of this many letters, or fewer, are recognized, and one in four letters at most. */
const MOST_SLIPS = 2;

/** Options of the wallet have this before their names. */
const WALLET = 'wallet-';

const KNOWN: readonly string[] = [...BCOINS, ...BCOINS.map((name) => WALLET + name), ...NAMES];

export interface UnknownOption {
  /** A sentence that names it. */
  readonly text: string;
  /** It looks like a known option. */
  readonly isFatal: boolean;
}

/** Options on the command line that are not known. Other plugins may have options of their own. */
export function unknownOptions(args: readonly string[]): UnknownOption[] {
  const end = args.indexOf('--');
  const names = (end < 0 ? args : args.slice(0, end)).flatMap((word) => /^--([^=]+)/.exec(word)?.[1] ?? []);
  return names.flatMap((name): UnknownOption[] => {
    // The plugin refuses unknown options of its own.
    if (isKnown(name) || name.startsWith('rest-')) return [];
    const meant = nearest(name, KNOWN, Math.min(MOST_SLIPS, name.length / 4));
    return meant === undefined
      ? [{ text: `--${name} is no option of bcoin or of bcoin-rest`, isFatal: false }]
      : [{ text: `--${name} is no option; --${meant} is`, isFatal: true }];
  });
}

function isKnown(name: string): boolean {
  // On the command line bcoin ignores hyphens alone.
  return !name.includes('_') && KNOWN.some((known) => bareName(known) === bareName(name));
}
