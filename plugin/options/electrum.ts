// Options of the Electrum protocol's server.

import { isUtf8 } from 'node:buffer';
import { OptionError } from './errors';
import { readNamedFile, readPath, type OptionReader } from './option-reader';
import { parsePlaces } from './values';
import type { ElectrumServiceOptions } from '../../lib/electrum/electrum-service';
import type { ServerAbout, ServerPlace } from '../../lib/electrum/method';
import type { HostConfig } from '../../lib/node/host';

export interface ElectrumOptions extends ElectrumServiceOptions {
  readonly maxSessions: number;
  /** The most scripts to which one client may subscribe. */
  readonly maxSubscriptions: number;
  /** Points above which a client is cut off; 0: nothing is counted. */
  readonly maxCost: number;
  /** What the server says of itself and of others. */
  readonly about: ServerAbout;
}

/** @throws OptionError */
export function readElectrumOptions(read: OptionReader, config: HostConfig): ElectrumOptions {
  const [plain, tls] = [read.endpoint('rest-electrum'), read.endpoint('rest-electrum-tls')];
  const [certificate, key] = [readPath(config, 'rest-electrum-cert', 'file'), readPath(config, 'rest-electrum-key', 'file')];
  if ((certificate === undefined) !== (key === undefined))
    throw new OptionError('--rest-electrum-cert and --rest-electrum-key must be given together');
  if (certificate !== undefined && tls === undefined)
    throw new OptionError('--rest-electrum-cert has no effect without --rest-electrum-tls');
  return {
    plain,
    tls,
    certificate: certificate === undefined || key === undefined ? undefined : { certificate, key },
    maxSessions: read.integer('rest-electrum-sessions'),
    maxSubscriptions: read.integer('rest-electrum-subscriptions'),
    maxCost: read.integer('rest-electrum-cost'),
    about: {
      banner: readBanner(config),
      donationAddress: read.text('rest-electrum-donation', 'an address', (value) => /^\w{1,128}$/.test(value)),
      hosts: readServerPlaces(read, 'rest-electrum-hosts', ['tcp', 'ssl', 'ws', 'wss']),
      peers: readServerPlaces(read, 'rest-electrum-peers', ['tcp', 'ssl'])
    }
  };
}

/** Wallets show it as a whole. */
const MOST_BANNER_BYTES = 16_384;

function readBanner(config: HostConfig): string | undefined {
  const path = readPath(config, 'rest-electrum-banner', 'file');
  if (path === undefined) return undefined;
  const bytes = readNamedFile('rest-electrum-banner', path);
  if (bytes.length > MOST_BANNER_BYTES || !isUtf8(bytes))
    throw new OptionError(`--rest-electrum-banner must be a text of at most ${MOST_BANNER_BYTES} bytes in UTF-8: ${path}`);
  return bytes.toString();
}

function readServerPlaces(
  read: OptionReader,
  name: 'rest-electrum-hosts' | 'rest-electrum-peers',
  schemes: readonly ServerPlace['scheme'][]
): readonly ServerPlace[] {
  const what = `places such as ssl://electrum.example:50002 (${schemes.join(', ')}), separated by commas, one of a kind for each host`;
  const text = read.text(name, what, (value) => parsePlaces(value, schemes) !== undefined);
  return text === '' ? [] : (parsePlaces(text, schemes) ?? []);
}
