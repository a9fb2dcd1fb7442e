// Which page is shown.

import { ErrorBoundary, lazy, useLocation } from 'preact-iso';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { BlockPage } from './block/block-page';
import { isAddress } from './data/addresses';
import { EXPLORER } from './data/status';
import { Frame } from './frame/frame';
import { KeyPage } from './frame/key-page';
import { useTitle } from './frame/page';
import { HomePage } from './home/home-page';
import { PoolPage } from './pool/pool-page';
import { homeLink } from './state/links';
import { useSession } from './state/session';
import { TransactionPage } from './transaction/transaction-page';
import { WarmUpPage } from './warm-up/warm-up-page';

/** Pages that most readers do not begin with. */
const AddressPage = lazy(() =>
  import('./address/address-page').then(
    ({ AddressPage: page }) => page,
    () => NotLoaded
  )
);
const SearchPage = lazy(() =>
  import('./search/search-page').then(
    ({ SearchPage: page }) => page,
    () => NotLoaded
  )
);

const RETURNING_MS = 1_000;

/** Pages of something whose name is in the path. All but addresses are named by hashes. */
const NAMED = ['block', 'tx', 'address', 'scripthash'];
const HASH = /^[\da-f]{64}$/i;

/** Where readers were on the pages that they have left. */
const PLACES = new Map<string, number>();

export function App() {
  const { isOpen, keyFault, status } = useSession();
  const { url, wasPush } = useLocation() as ReturnType<typeof useLocation> & { readonly wasPush?: boolean };
  const main = useRef<HTMLElement>(null);
  const shown = useRef(url);
  useEffect(() => {
    history.scrollRestoration = 'manual';
    const note = (): void => {
      PLACES.set(shown.current, scrollY);
    };
    addEventListener('scroll', note, { passive: true });
    return () => {
      removeEventListener('scroll', note);
    };
  }, []);
  useLayoutEffect(() => {
    if (shown.current === url) return;
    shown.current = url;
    // A new page is read from its beginning, one that the reader comes back to from where it was left.
    if (wasPush === true) scrollTo(0, 0);
    else returnTo(PLACES.get(url) ?? 0);
    main.current?.focus({ preventScroll: true });
  }, [url]);
  return (
    <Frame>
      <main id="main" ref={main} tabIndex={-1}>
        {keyFault !== undefined ? (
          <KeyPage />
        ) : isOpen ? (
          <ErrorBoundary>
            <Pages />
          </ErrorBoundary>
        ) : status?.ready === true ? null : (
          <WarmUpPage />
        )}
      </main>
    </Frame>
  );
}

function Pages() {
  const { path, query } = useLocation();
  const { status } = useSession();
  const [kind = '', ...rest] = path.slice(EXPLORER.length).split('/').filter(Boolean);
  const text = decoded(rest.join('/'));
  const isRight = kind === 'address' ? isAddress(text, status?.addressPrefixes ?? []) : HASH.test(text);
  // A link with something else, as the height of a block, or with what was meant to mislead: nothing is asked with it as it is.
  if (NAMED.includes(kind) && !isRight) return <SearchPage key={text} text={text} />;
  switch (kind) {
    case '':
      return <HomePage />;
    case 'pool':
      return <PoolPage />;
    case 'block':
      return <BlockPage key={text} hash={text.toLowerCase()} page={pageOf(query['page'])} />;
    case 'tx':
      return <TransactionPage key={text} txid={text.toLowerCase()} output={numberOf(query['output'])} />;
    case 'address':
    case 'scripthash':
      return <AddressPage key={text} subject={{ kind, text }} view={query['view'] === 'coins' ? 'coins' : 'history'} />;
    case 'search':
      return <SearchPage key={query['q'] ?? ''} text={query['q'] ?? ''} />;
    default:
      return <NoPage />;
  }
}

/** As soon as the page is long enough again. */
function returnTo(place: number, end = performance.now() + RETURNING_MS): void {
  scrollTo(0, place);
  if (scrollY < place - 1 && performance.now() < end)
    requestAnimationFrame(() => {
      returnTo(place, end);
    });
}

/** A part of the program did not come: the node has gone, or another version of it has no such part. */
function NotLoaded() {
  return (
    <div class="note bad" role="alert">
      <p>This page could not be loaded. The node may have got a new version.</p>
      <button
        type="button"
        onClick={() => {
          location.reload();
        }}
      >
        Load it again
      </button>
    </div>
  );
}

function NoPage() {
  useTitle('No such page');
  return (
    <section class="card narrow">
      <h1>There is no such page</h1>
      <p>
        <a href={homeLink}>To the newest blocks</a>
      </p>
    </section>
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const numberOf = (text: string | undefined): number | undefined => (/^\d{1,7}$/.test(text ?? '') ? Number(text) : undefined);
const pageOf = (text: string | undefined): number => Math.max(1, numberOf(text) ?? 1);
