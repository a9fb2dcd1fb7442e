// /rest/headers/<count>/<hash>.<bin|hex|json> (contract 4.3): headers of the active chain from
// a block upwards. A block that is unknown or off the chain gives an empty list.

import { headersJson, type HeaderView } from '../../views/header';
import { headerCountOutOfRange, noHeaderCount } from '../errors';
import { replyIn, splitSuffix } from '../format';
import { parseHash } from '../hash-parameter';
import { runInSlices } from '../run-in-slices';
import type { HeaderRecord } from '../../index/types';
import type { Endpoint, EndpointContext } from '../endpoint';

/** JSON is served all the same, and so it is in Bitcoin Core 0.17. */
const FORMATS = '.bin, .hex';

export function headersEndpoint({ reader, limits }: EndpointContext): Endpoint {
  return (request) => {
    const { parameter, format } = splitSuffix(request.path);
    const [countText, hashText, ...more] = parameter.split('/');
    if (countText === undefined || hashText === undefined || more.length > 0) throw noHeaderCount();
    const count = parseHeaderCount(countText, limits.maxHeaders);
    const hash = parseHash(hashText);
    // One more than asked for: the last one's `nextblockhash`.
    const { tipHeight, records } = reader.read((snapshot) => {
      const height = snapshot.heightOf(hash);
      return {
        tipHeight: snapshot.tip.height,
        records: height === undefined ? [] : snapshot.headersFrom(height, count + 1)
      };
    });
    return replyIn(format, {
      binary: () => Buffer.concat(records.slice(0, count).map(({ header }) => header)),
      json: () => runInSlices(headersJson(headerViews(records, count, tipHeight)), request)
    }, FORMATS);
  };
}

/** As C's strtol: leading white space, a sign, digits, and whatever follows. @throws RestError 400 */
export function parseHeaderCount(text: string, most: number): number {
  const count = Number(/^[\t-\r ]*([+-]?\d+)/.exec(text)?.[1] ?? 0);
  if (count < 1 || count > most) throw headerCountOutOfRange(text);
  return count;
}

function headerViews(records: readonly HeaderRecord[], count: number, tipHeight: number): HeaderView[] {
  return records.slice(0, count).map((record, i) => {
    const next = records[i + 1];
    return {
      ...record,
      confirmations: tipHeight - record.height + 1,
      ...next !== undefined && { nextHash: next.hash }
    };
  });
}
