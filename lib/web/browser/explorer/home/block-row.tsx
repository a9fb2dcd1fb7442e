// The newest blocks as a row that grows to the left; in front of them what waits for the next one.

import { grouped } from '../../parts/amounts';
import { Time } from '../../parts/time';
import { nextBlock, BLOCK_VSIZE } from '../pool/bands';
import { blockLink, poolLink } from '../state/links';
import { sizeText } from '../state/sizes';
import type { Block, Pool } from '../data/types';

const MOST_WEIGHT = 4_000_000;

export function BlockRow({ blocks, pool }: { readonly blocks: readonly Block[]; readonly pool: Pool | undefined }) {
  const next = pool?.bands && nextBlock(pool.bands);
  return (
    <ol class="blocks" aria-label="The newest blocks, the newest first" tabIndex={0}>
      <li class="block next">
        <a href={poolLink}>
          <Fill part={(next?.vsize ?? 0) / BLOCK_VSIZE} />
          <span class="block-height">Next block</span>
          <span class="block-main">
            {pool === undefined ? '…' : `${grouped(pool.count)} ${pool.count === 1 ? 'transaction waits' : 'transactions wait'}`}
          </span>
          <span class="block-small">{next?.lowest === undefined ? 'empty pool' : `from ${rateText(next.lowest)} sat/vB`}</span>
        </a>
      </li>
      {blocks.map((block) => (
        <li class="block" key={block.hash} data-height={block.height}>
          <a href={blockLink(block.hash)}>
            <Fill part={(block.weight ?? 0) / MOST_WEIGHT} />
            <span class="block-height">{grouped(block.height)}</span>
            <span class="block-main">
              {grouped(block.transactions)} {block.transactions === 1 ? 'transaction' : 'transactions'}
            </span>
            <span class="block-small">
              {block.size === undefined ? '' : `${sizeText(block.size)} · `}
              <Time seconds={block.time} />
            </span>
          </a>
        </li>
      ))}
    </ol>
  );
}

/** How full it is. */
function Fill({ part }: { readonly part: number }) {
  return <span class="fill" aria-hidden="true" style={{ height: `${Math.min(100, Math.max(part > 0 ? 2 : 0, part * 100))}%` }} />;
}

const rateText = (rate: number): string => (rate >= 10 ? String(Math.round(rate)) : rate.toFixed(rate >= 1 ? 1 : 2));
