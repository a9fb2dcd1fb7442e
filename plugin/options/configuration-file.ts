// The file with a node's options, bcoin.conf. bcoin does not say whether a node was told to read it.

import { readFileSync } from 'node:fs';
import { isMissingFile } from '../../lib/system/system-errors';
import type { HostConfig } from '../../lib/node/host';

/** The file's name in the node's folder. */
export const CONFIGURATION_FILE = 'bcoin.conf';

interface ConfigurationFile {
  readonly path: string;
  /** As they are spelled, with their values as texts; bcoin leaves empty ones out. */
  readonly options: readonly (readonly [name: string, value: string])[];
}

/** The node's file; it may be missing. Undefined: the node reads none, as it has nothing of what is in the file. */
export function configurationFileOf(config: HostConfig): ConfigurationFile | undefined {
  const path = config.getFile?.(CONFIGURATION_FILE);
  const text = path === undefined ? undefined : textOf(path);
  if (path === undefined || text === undefined) return undefined;
  const options = text.split(/[\r\n]+/).flatMap((line) => {
    const [, name, value = ''] = /^\s*([\w-]+)\s*:(.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [[name, value.trim()] as const];
  });
  const isRead = Object.keys(config.data).length > 0 || options.every(([, value]) => value === '');
  return isRead ? { path, options } : undefined;
}

/** Empty if the file is missing; undefined if it cannot be read: bcoin would not have gone on. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return isMissingFile(error) ? '' : undefined;
  }
}
