// Where the index of a node on disk lies: `<the network's folder>/rest/index`.

import { join } from 'node:path';
import type { HostConfig } from '../lib/node/host';

export function indexFolder(config: HostConfig): string {
  return join(config.location('rest'), 'index');
}
