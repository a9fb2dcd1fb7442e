// How requests name a script: by its address, or by its hash.

import { acceptedPrefixes, scriptOfAddress } from '../../bitcoin/address';
import { scriptHashOf } from '../../bitcoin/hash';
import { invalidAddress, invalidScriptHash, otherNetwork } from '../errors';
import type { NetworkInfo } from '../../node/types/chain';

/** Reads an address. It throws HttpError 400. */
export function addressHash({ chain, addressPrefixes }: NetworkInfo): (text: string) => Buffer {
  const prefixes = acceptedPrefixes(chain, addressPrefixes);
  return (text) => {
    const script = scriptOfAddress(text, prefixes);
    if (script === 'unreadable') throw invalidAddress();
    if (script === 'of another network') throw otherNetwork();
    return scriptHashOf(script);
  };
}

/** 64 hex digits of either case, in the order of SHA-256. @throws HttpError 400 */
export function readScriptHash(text: string): Buffer {
  if (!/^[0-9a-fA-F]{64}$/.test(text)) throw invalidScriptHash();
  return Buffer.from(text, 'hex');
}
