// The level of the node's log, which may change while the node runs.

import type { HostNode } from '../lib/node/host';

/** As bcoin has it. */
const DEFAULT_LEVEL = 'debug';

/** Reads bcoin.conf again, and takes the level of the log from it, unless a flag or the environment says it. */
export function readLogLevel({ config, logger }: Pick<HostNode, 'config' | 'logger'>): void {
  const log = logger.context('rest');
  const before = config.get('log-level');
  try {
    // A node that has read no file does not read one later.
    if (Object.keys(config.data).length > 0) {
      // bcfg keeps what the file no longer says.
      Reflect.deleteProperty(config.data, 'loglevel');
      config.open('bcoin.conf');
    }
    const level = String(config.get('log-level') ?? DEFAULT_LEVEL);
    if (level === String(before ?? DEFAULT_LEVEL)) return;
    logger.setLevel(level);
    log.info('The level of the log is %s.', level);
  } catch (error) {
    log.error('The level of the log stays as it was: --log-level or bcoin.conf cannot be used: %s', String(error));
  }
}
