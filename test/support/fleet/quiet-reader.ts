// A reader of a fleet on regtest, in this process, that prints nothing.

import { ReaderConfig } from '../../../plugin/reader/config';
import { ReaderLogger } from '../../../plugin/reader/logger';
import { Reader } from '../../../plugin/reader/reader';

/** `options`: flags beside those of the network and of access. */
export async function openQuietReader(options: readonly string[]): Promise<Reader> {
  const config = new ReaderConfig(['--network=regtest', '--no-auth=true', ...options], {});
  const reader = new Reader(config, new ReaderLogger('none', () => undefined));
  await reader.open();
  return reader;
}
