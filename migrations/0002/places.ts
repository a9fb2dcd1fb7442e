// Places from 't' to 'p'.

import { partByTxid, type Passes, type Share } from '../pass';
import { del, keyOf, put, recordIn, Writer } from '../records';
import type { Hasher } from './hash';
import type { Store } from '../../lib/store/store';

export async function movePlaces(store: Store, hasher: Hasher, passes: Passes, share: Share): Promise<void> {
  const writer = new Writer(store);
  for await (const [key, value] of passes.over('t', share, partByTxid))
    await writer.add([put(keyOf('p', hasher.hash(key.subarray(1))), recordIn(key, value)), del(key)]);
  await writer.flush();
}
