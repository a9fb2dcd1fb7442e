// Bitcoin Core 0.17 spells addresses of witness version 1 and above in bech32; ours are
// bech32m, as BIP350 asks. This takes recorded texts to the spelling that we mean.

import { bech32, bech32m } from '@scure/base';

/** The recorded text with such addresses respelled. Every other byte stays. */
export function inBech32m(text: string): string {
  return text.replace(/"((?:bc|tb|bcrt)1[02-9ac-hj-np-z]{6,87})"/g, (whole, address: string) => {
    const decoded = bech32.decodeUnsafe(address);
    return decoded === undefined || decoded.words[0] === 0 ? whole : `"${bech32m.encode(decoded.prefix, decoded.words)}"`;
  });
}
