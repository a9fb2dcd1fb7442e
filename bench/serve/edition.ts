// The editions of the interface that can be measured, each with its own table.

import { modernRows } from './modern-rows';
import { allRows, type Row } from './rows';
import type { ChainReader } from './chain-reader';

export interface Edition {
  rows(chain: ChainReader): Row[];
  /** Options of the plugin. */
  readonly flags: readonly string[];
  /** Options of the Bitcoin Core beside it. */
  readonly coreFlags: readonly string[];
  /** A path that is answered once everything is indexed up to the tip. */
  readonly readyPath: (tip: string) => string;
}

/** By `--core`. */
export const EDITIONS: Readonly<Record<string, Edition>> = {
  '0.17': { rows: allRows, flags: [], coreFlags: [], readyPath: () => '/rest/chaininfo.json' },
  modern: {
    rows: modernRows,
    flags: ['--rest-core=modern', '--rest-filters=true'],
    coreFlags: ['-blockfilterindex'],
    readyPath: (tip) => `/rest/blockfilter/basic/${tip}.bin`
  }
};
