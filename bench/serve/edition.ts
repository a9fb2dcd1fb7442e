// The editions of the interface that can be measured, each with a table of its own.

import { modernRows } from './modern-rows';
import { allRows, type Row } from './rows';
import type { ChainReader } from './chain-reader';

export interface Edition {
  rows(chain: ChainReader): Row[];
  /** Options of ours. */
  readonly flags: readonly string[];
  /** And of the Bitcoin Core beside us. */
  readonly coreFlags: readonly string[];
  /** Answered once everything is indexed up to the tip. */
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
