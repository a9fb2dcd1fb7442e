// What waits in the pool, one by one, as Bitcoin Core's REST interface lists it.

import { satsOfBtc, type Sats } from '../../parts/amounts';
import type { Client } from './client';

/** An entry as today's Bitcoin Core shows it, or as 0.17 does. */
type Entry = ({ readonly vsize: number } | { readonly size: number }) & { readonly fees: { readonly base: string | number } };

/** Fees in satoshis, and virtual bytes. */
export async function pooledTransactions(client: Client): Promise<readonly { readonly fee: Sats; readonly vsize: number }[]> {
  const entries = await client.json<Record<string, Entry>>('/rest/mempool/contents.json', { decimals: true });
  return Object.values(entries).map((entry) => ({
    fee: satsOfBtc(String(entry.fees.base)),
    vsize: 'vsize' in entry ? entry.vsize : entry.size
  }));
}
