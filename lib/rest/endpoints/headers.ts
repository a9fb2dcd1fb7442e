// /rest/headers/<count>/<hash>.<bin|hex|json> (contract 4.3): headers of the active chain from
// a block upwards. A block that is unknown or off the chain gives an empty list.

import { headersJson, type HeaderView } from '../../views/header';
import { headerCountOutOfRange, noHeaderCount } from '../errors';
import { replyIn, splitSuffix, type Reply } from '../format';
import { parseHash } from '../hash-parameter';
import { runInSlices } from '../run-in-slices';
import type { HeaderRecord, IndexSnapshot } from '../../index/types';
import type { Endpoint, EndpointContext } from '../endpoint';

/** JSON is served all the same, and so it is in Bitcoin Core 0.17. */
const FORMATS = '.bin, .hex';

/** Each is a read from the store. */
const HEADERS_AT_ONCE = 64;

export function headersEndpoint({ reader, limits }: EndpointContext): Endpoint {
  return (request) => {
    const { parameter, format } = splitSuffix(request.path);
    const [countText, hashText, ...more] = parameter.split('/');
    if (countText === undefined || hashText === undefined || more.length > 0) throw noHeaderCount();
    const count = parseHeaderCount(countText, limits.maxHeaders);
    const hash = parseHash(hashText);
    const write = ({ tipHeight, records }: HeaderRun): Reply | Promise<Reply> => replyIn(format, {
      binary: () => Buffer.concat(records.slice(0, count).map(({ header }) => header)),
      json: () => headersJson(headerViews(records, count, tipHeight))
    }, FORMATS, request);
    // One more than asked for: the last one's `nextblockhash`.
    const run = reader.read((snapshot) => runInSlices(headersFrom(hash, count + 1, snapshot), request));
    return run instanceof Promise ? run.then(write) : write(run);
  };
}

/** Headers of one state of the index. */
interface HeaderRun {
  readonly tipHeight: number;
  readonly records: readonly HeaderRecord[];
}

/** Up to `count` headers upwards from the block, none for one that is not on the active chain; yields often. */
function* headersFrom(hash: Buffer, count: number, snapshot: IndexSnapshot): Generator<void, HeaderRun> {
  const records: HeaderRecord[] = [];
  const tipHeight = snapshot.tip.height;
  const first = snapshot.heightOf(hash) ?? tipHeight + 1;
  const end = Math.min(first + count, tipHeight + 1);
  for (let height = first; height < end; height += HEADERS_AT_ONCE) {
    if (height > first) yield;
    records.push(...snapshot.headersFrom(height, Math.min(HEADERS_AT_ONCE, end - height)));
  }
  return { tipHeight, records };
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
