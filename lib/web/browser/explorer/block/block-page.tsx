import { Amount } from '../../parts/amount';
import { grouped } from '../../parts/amounts';
import { Hash } from '../../parts/hash';
import { Time } from '../../parts/time';
import { PAGE } from '../data/source';
import { Answer, Fact, useTitle } from '../frame/page';
import { difficultyText } from '../home/difficulty';
import { blockLink, searchLink } from '../state/links';
import { useLoaded } from '../state/loaded';
import { useSession, useSource } from '../state/session';
import { sizeText } from '../state/sizes';
import { TransactionCard } from '../transaction/transaction-card';
import { TransactionList } from '../transaction/transaction-list';
import { Pager } from './pager';
import type { Block, Place } from '../data/types';

const MOST_WEIGHT = 4_000_000;

export function BlockPage({ hash, page }: { readonly hash: string; readonly page: number }) {
  const source = useSource();
  // A block never changes; whether it is in the chain does.
  const block = useLoaded(`block ${hash}`, 0, () => source.block(hash));
  useTitle(block.value === undefined ? 'Block' : `Block ${grouped(block.value.height)}`);
  return (
    <Answer
      of={block}
      what="the block"
      missing={
        <>
          <h1>Block</h1>
          <p>The chain has no block with this hash.</p>
          <p class="quiet">
            It may have left the chain in a reorganization. <a href={searchLink(hash)}>Look for a transaction or a script with this hash</a>
          </p>
        </>
      }
    >
      {(value) => <Known block={value} page={page} />}
    </Answer>
  );
}

function Known({ block, page }: { readonly block: Block; readonly page: number }) {
  const source = useSource();
  const { chainVersion } = useSession();
  const place = useLoaded(`place ${block.hash}`, chainVersion, () => source.placeOf(block)).value;
  return (
    <>
      <Head block={block} place={place} />
      <Facts block={block} isInChain={place?.isInChain !== false} />
      <Transactions block={block} page={page} />
    </>
  );
}

function Head({ block, place }: { readonly block: Block; readonly place: Place | undefined }) {
  return (
    <>
      <div class="block-head">
        <h1>
          Block <span data-field="height">{grouped(block.height)}</span>
        </h1>
        <nav aria-label="Blocks beside this one">
          {block.previous !== undefined && (
            <a class="button" rel="prev" href={blockLink(block.previous)}>
              ← {grouped(block.height - 1)}
            </a>
          )}
          {place?.next !== undefined && (
            <a class="button" rel="next" href={blockLink(place.next)}>
              {grouped(block.height + 1)} →
            </a>
          )}
        </nav>
      </div>
      <p class="subject">
        <Hash text={block.hash} what="the hash of the block" />
      </p>
      {place?.isInChain === false && (
        <p class="note warn" role="alert">
          This block is no longer in the chain: a reorganization has taken other blocks.
        </p>
      )}
    </>
  );
}

function Facts({ block, isInChain }: { readonly block: Block; readonly isInChain: boolean }) {
  const { tip } = useSession();
  const { scripts } = useSource();
  const fees = useLoaded(`fees ${block.hash}`, 0, () => scripts?.feesOf(block) ?? Promise.resolve(undefined)).value;
  const { time, transactions, size, weight, difficulty, nonce, bits, version, merkleRoot, height, medianTime } = block;
  return (
    <dl class="card facts">
      <Fact term="Time">
        <Time seconds={time} exact />
      </Fact>
      {tip !== undefined && (
        <Fact term="Confirmations">
          <span data-field="confirmations">{isInChain ? grouped(Math.max(0, tip.height - height + 1)) : 'none'}</span>
        </Fact>
      )}
      <Fact term="Transactions">
        <span data-field="transactions">{grouped(transactions)}</span>
      </Fact>
      {size !== undefined && weight !== undefined && (
        <>
          <Fact term="Size">{sizeText(size)}</Fact>
          <Fact term="Weight">
            <span data-field="weight">{grouped(weight)}</span>{' '}
            <span class="quiet">{((weight / MOST_WEIGHT) * 100).toFixed(1)} % of the most</span>
          </Fact>
        </>
      )}
      {fees !== undefined && (
        <>
          <Fact term="Reward">
            <span data-field="reward">
              <Amount sats={fees.reward} />
            </span>
          </Fact>
          {transactions > 1 && (
            <Fact term="Fees">
              <span data-field="fees">
                <Amount sats={fees.fees} />
              </span>{' '}
              <span class="quiet">
                {fees.lowest.toFixed(2)} to {fees.highest.toFixed(2)} sat/vB
              </span>
            </Fact>
          )}
        </>
      )}
      <Fact term="Difficulty">{difficultyText(difficulty)}</Fact>
      <Fact term="Version">0x{version.toString(16).padStart(8, '0')}</Fact>
      <Fact term="Bits">0x{bits.toString(16).padStart(8, '0')}</Fact>
      <Fact term="Nonce">{grouped(nonce)}</Fact>
      <Fact term="Median time">
        <Time seconds={medianTime} />
      </Fact>
      <Fact term="Merkle root">
        <Hash text={merkleRoot} what="the Merkle root" />
      </Fact>
    </dl>
  );
}

function Transactions({ block, page }: { readonly block: Block; readonly page: number }) {
  const source = useSource();
  const pages = Math.max(1, Math.ceil(block.transactions / PAGE));
  const shown = Math.min(page, pages);
  const list = useLoaded(`block ${block.hash} page ${shown}`, 0, () => source.transactionsOf(block, (shown - 1) * PAGE));
  return (
    <section aria-labelledby="transactions">
      <div class="section-head">
        <h2 id="transactions">{block.transactions === 1 ? '1 transaction' : `${grouped(block.transactions)} transactions`}</h2>
        <Pager page={shown} pages={pages} link={(n) => blockLink(block.hash, n)} />
      </div>
      <Answer of={list} what="transactions">
        {(transactions) => (
          <TransactionList
            key={shown}
            list={transactions}
            card={(transaction) => <TransactionCard key={transaction.txid} transaction={transaction} />}
          />
        )}
      </Answer>
      {pages > 1 && <Pager page={shown} pages={pages} link={(n) => blockLink(block.hash, n)} />}
    </section>
  );
}
