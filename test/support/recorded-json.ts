// Bitcoin Core 0.17 writes addresses of witness version 1 and above in bech32; the service
// writes bech32m, as BIP350 requires. This converts recorded texts to bech32m.

import { bech32, bech32m } from '@scure/base';

/** The recorded text with such addresses converted. Every other byte stays. */
export function inBech32m(text: string): string {
  return text.replace(/"((?:bc|tb|bcrt)1[02-9ac-hj-np-z]{6,87})"/g, (whole, address: string) => {
    const decoded = bech32.decodeUnsafe(address);
    return decoded === undefined || decoded.words[0] === 0 ? whole : `"${bech32m.encode(decoded.prefix, decoded.words)}"`;
  });
}
