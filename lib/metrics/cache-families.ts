// The caches of docs/architecture.md that find something or do not, and those whose size changes. The table there has their names.

import { counter, gauge, labelled, type AnyFamily } from './family';
import type { CacheUse } from '../server/cache/answer-cache';
import type { Observed } from './observed';

/** Bytes of a row, as docs/architecture.md has them. */
const HEADER_BYTES = 130;
const NUMBER_BYTES = 8;

interface Cache extends Partial<CacheUse> {
  readonly bytes?: number | undefined;
  readonly entries?: number | undefined;
}

export function cacheFamilies(observed: Observed): AnyFamily[] {
  const read = (field: keyof Cache) => () =>
    labelled('cache', Object.fromEntries(Object.entries(cachesOf(observed)).map(([name, cache]) => [name, cache[field]])));
  return [
    counter('cache_hits_total', 'How often a cache had what was asked for.', read('hits')),
    counter('cache_misses_total', 'How often a cache did not have what was asked for.', read('misses')),
    gauge('cache_bytes', 'Bytes that a cache takes. That of answers is one for all of its sections.', read('bytes')),
    gauge('cache_entries', 'Entries of a cache.', read('entries'))
  ];
}

function cachesOf({ serving: { cache, node }, answers, index, wallets }: Observed): Record<string, Cache> {
  const { coins, headers } = index.figures;
  return {
    coins: { hits: coins.hits, misses: coins.misses, bytes: coins.byteLength },
    headers: { bytes: headers * HEADER_BYTES, entries: headers },
    answers: { bytes: cache.byteLength, entries: cache.entries },
    ...Object.fromEntries([...cache.uses].map(([section, use]) => [`answers_${section.replaceAll(/[^a-z0-9]+/g, '_')}`, use])),
    part_reads: { entries: answers.blocks.counted },
    pool_texts: { bytes: answers.poolTexts.byteLength },
    block_texts: { ...answers.texts.use, bytes: answers.texts.byteLength },
    ...(node.figures && { fleet_blocks: node.figures.blocks, fleet_block_files: node.figures.files ?? {} }),
    ...(wallets && {
      statuses: { hits: wallets.statuses.cache.hits, misses: wallets.statuses.cache.misses, bytes: wallets.statuses.cache.byteLength },
      subscribed_scripts: { entries: wallets.statuses.size },
      block_sizes: { ...wallets.answers.sizes.use, entries: wallets.answers.sizes.entries },
      projected_blocks: { entries: wallets.answers.projections.size },
      transaction_numbers: { bytes: wallets.scripts.numberedBlocks * NUMBER_BYTES, entries: wallets.scripts.numberedBlocks },
      loose_scripts: { bytes: wallets.scripts.looseBytes },
      pool_by_script: { entries: wallets.answers.pool.size },
      replacements: { entries: wallets.answers.pool.replaced }
    })
  };
}
