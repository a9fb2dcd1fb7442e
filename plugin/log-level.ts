// The level of the node's log, which may change while the node runs.

import { CONFIGURATION_FILE, configurationFileOf } from './options/configuration-file';
import { LEVELS } from './reader/logger';
import type { HostNode, ReadableConfig } from '../lib/node/host';

/** As bcoin has it. */
const DEFAULT_LEVEL = 'debug';

/**
 * Returns what reads bcoin.conf again, and takes the level of the log from it, unless a flag or the environment says it. Nothing else of the
 * node's settings changes.
 */
export function logLevelReader({ config, logger }: Pick<HostNode, 'config' | 'logger'>): () => void {
  const log = logger.context('rest');
  const isFileRead = configurationFileOf(config) !== undefined;
  let current = levelIn(config);
  return () => {
    try {
      const level = levelIn(isFileRead ? readAgain(config) : config);
      if (level === current) return;
      logger.setLevel(level);
      // At the lower of the two levels the line would not be written.
      if (rankOf(level) < rankOf(current)) logger.setLevel(current);
      log.info('The level of the log is %s.', level);
      logger.setLevel(level);
      current = level;
    } catch (error) {
      log.error('The level of the log stays as it was: --log-level or bcoin.conf cannot be used: %s', String(error));
    }
  };
}

const levelIn = (config: ReadableConfig): string => String(config.get('log-level') ?? DEFAULT_LEVEL).toLowerCase();

const rankOf = (level: string): number => LEVELS.findIndex((each) => each === level);

/** The settings with what the file has now, without what it had before. @throws when it cannot be read or parsed */
function readAgain(config: ReadableConfig): ReadableConfig {
  const again = Object.create(config, { data: { value: {} } }) as ReadableConfig;
  again.open(CONFIGURATION_FILE);
  return again;
}
