// Finds what a text is, and goes there; otherwise it says what was looked for, and what the text could have been.

import { useLocation } from 'preact-iso';
import { useEffect } from 'preact/hooks';
import { grouped } from '../../parts/amounts';
import { safeText } from '../../parts/texts';
import { Answer, useTitle } from '../frame/page';
import { addressLink, blockLink, subjectLink, transactionLink } from '../state/links';
import { useLoaded } from '../state/loaded';
import { useSession, useSource } from '../state/session';
import { readAddress } from '../data/addresses';
import { readingOf, type Reading } from './reading';
import type { Source } from '../data/source';
import type { ExplorerStatus } from '../../../explorer-status';
import type { Block } from '../data/types';

/** A link, or sentences about why there is none. */
type Found = { readonly link: string } | { readonly hints: readonly string[]; readonly addresses?: readonly string[] };

const MOST_SHOWN = 200;

/** Fewer digits are in too many hashes. */
const LEAST_PART = 4;

export function SearchPage({ text }: { readonly text: string }) {
  useTitle('Search');
  const { route } = useLocation();
  const { status, blocks, tip } = useSession();
  const source = useSource();
  const found = useLoaded(`search ${text}`, 0, async () => {
    if (status === undefined) throw new Error('expected an open session');
    return find(readingOf(text), source, status, tip?.height ?? (await source.tip()).height);
  });
  const link = found.value !== undefined && 'link' in found.value ? found.value.link : undefined;
  useEffect(() => {
    if (link !== undefined) route(link, true);
  }, [link]);
  return (
    <section class="card narrow" aria-labelledby="search-title">
      <h1 id="search-title">Search</h1>
      <p class="said" dir="ltr">
        “{safeText(text, MOST_SHOWN)}”
      </p>
      <Answer of={found} what="what it is">
        {(value) => ('link' in value ? <p class="quiet">Found.</p> : <Hints {...value} likely={likely(text, blocks)} />)}
      </Answer>
    </section>
  );
}

interface HintsProps {
  readonly hints: readonly string[];
  readonly addresses?: readonly string[];
  readonly likely: readonly Block[];
}

function Hints({ hints, addresses = [], likely }: HintsProps) {
  return (
    <div role="status" class="hints">
      {hints.map((hint) => (
        <p key={hint}>{hint}</p>
      ))}
      {addresses.length > 0 && (
        <>
          <p>{addresses.length === 1 ? 'An address begins so:' : 'Addresses begin so, as:'}</p>
          <ul>
            {addresses.map((address) => (
              <li key={address}>
                <a href={addressLink(address)}>
                  <code>{address}</code>
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
      {likely.length > 0 && (
        <>
          <p>It is a part of the hash of:</p>
          <ul>
            {likely.map(({ hash, height }) => (
              <li key={hash}>
                <a href={blockLink(hash)}>Block {grouped(height)}</a> <code>{hash}</code>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

/** Of the newest blocks those whose hashes contain the text. */
function likely(text: string, blocks: readonly Block[]): readonly Block[] {
  const part = text.trim().toLowerCase();
  if (part.length < LEAST_PART || !/[a-f]/.test(part) || !/^[\da-f]{1,63}$/.test(part)) return [];
  return blocks.filter(({ hash }) => hash.includes(part));
}

async function find(reading: Reading, source: Source, status: ExplorerStatus, tip: number): Promise<Found> {
  switch (reading.kind) {
    case 'nothing':
      return { hints: reading.hints, addresses: await addressesFrom(reading.beginning, source, status) };
    case 'outpoint':
      return { link: transactionLink(reading.txid, reading.output) };
    case 'height':
      return reading.height > tip
        ? { hints: [`There is no block ${grouped(reading.height)} yet: the newest one is ${grouped(tip)}.`] }
        : { link: blockLink(await source.hashAt(reading.height)) };
    case 'hash':
      return findHash(reading.hash, source);
    case 'address':
      return addressFound(reading.address, source, status);
  }
}

async function findHash(hash: string, source: Source): Promise<Found> {
  // Some programs show hashes the other way round.
  for (const each of [hash, turned(hash)]) {
    const kind = await source.kindOf(each);
    if (kind === 'block') return { link: blockLink(each) };
    if (kind === 'transaction') return { link: transactionLink(each) };
    if (kind === 'script') return { link: subjectLink({ kind: 'scripthash', text: each }) };
  }
  return {
    hints: [
      source.scripts === undefined
        ? 'It has the form of a hash, but neither a block nor a transaction of the chain or the pool has it.'
        : 'It has the form of a hash, but no block, no transaction of the chain or the pool, and no script has it.',
      'It may be of another network, of a block that has left the chain, or of a transaction that was replaced or has not come here yet.'
    ]
  };
}

const turned = (hash: string): string => (hash.match(/../g) ?? []).reverse().join('');

/** From the node's list of addresses, if it has one. */
async function addressesFrom(beginning: string | undefined, { scripts }: Source, { jobs }: ExplorerStatus): Promise<readonly string[]> {
  const isListed = jobs.some(({ name, state }) => name === 'addresses' && state === 'done');
  return beginning === undefined || scripts === undefined || !isListed ? [] : scripts.addressesFrom(beginning);
}

async function addressFound(address: string, source: Source, status: ExplorerStatus): Promise<Found> {
  const { chain, addressPrefixes } = status;
  const reading = readAddress(address, addressPrefixes);
  switch (reading.kind) {
    case 'mistyped':
      return {
        hints: [
          'It has the form of an address, but its checksum does not fit: a character is mistyped or missing, or there is one too many.'
        ],
        addresses: await addressesFrom(address, source, status)
      };
    case 'elsewhere':
      return { hints: [`It is an address of ${reading.networks}. This node is on ${chain === 'main' ? 'the main network' : chain}.`] };
    case 'right':
      if (source.scripts !== undefined) return { link: addressLink(address) };
      return { hints: ['It is an address. This node cannot say anything about addresses now: it has no index by script.'] };
  }
}
