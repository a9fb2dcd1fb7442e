// The frame around all pages: the bar with search and settings, notes about the connection, the footer.

import { useLocation } from 'preact-iso';
import { useEffect, useRef, useState } from 'preact/hooks';
import { grouped } from '../../parts/amounts';
import { THEME, UNIT, useSetting } from '../../parts/settings';
import { withoutSecret } from '../search/reading';
import { homeLink, poolLink, searchLink } from '../state/links';
import { useSession } from '../state/session';
import { JobBar } from '../warm-up/job-bar';
import type { ComponentChildren } from 'preact';

/** Bitcoin Core's names of networks, for people. */
const NETWORKS: Readonly<Record<string, string>> = { main: 'Bitcoin', test: 'Testnet', regtest: 'Regtest', simnet: 'Simnet' };

export function Frame({ children }: { readonly children: ComponentChildren }) {
  const session = useSession();
  const { status, contact, isOpen } = session;
  return (
    <>
      <a class="skip" href="#main">
        To the content
      </a>
      <header class="top">
        <div class="bar">
          <a class="brand" href={homeLink}>
            <Mark />
            Explorer
          </a>
          {status !== undefined && <span class={`network ${status.chain}`}>{NETWORKS[status.chain] ?? status.chain}</span>}
          {isOpen && (
            <>
              <nav aria-label="Pages">
                <a href={poolLink}>Pool</a>
              </nav>
              <Search />
            </>
          )}
          <Settings />
        </div>
      </header>
      <aside aria-label="About the node">
        {contact === 'lost' && (
          <p class="note bad wide" role="alert">
            The node does not answer. What is shown may be old. Trying again …
          </p>
        )}
        {isOpen && <Missing />}
        <Arrivals />
      </aside>
      {children}
      <footer>
        <p>
          {status === undefined ? 'bcoin-rest' : `bcoin-rest ${status.version}`}
          {isOpen && (
            <>
              {' · '}
              <span class={`contact ${contact ?? ''}`}>
                {contact === 'live' ? 'live' : contact === 'lost' ? 'not connected' : 'asks every 5 seconds'}
              </span>
            </>
          )}
        </p>
        <p>This page comes from the node itself, and loads nothing from elsewhere.</p>
      </footer>
    </>
  );
}

function Mark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <path class="mark" d="M16 2 28 9v14l-12 7-12-7V9z" />
      <path class="mark-lines" d="m4.500 9.300 11.500 6.700 11.500-6.700M16 16v13.500" />
    </svg>
  );
}

function Search() {
  const { route, query, path } = useLocation();
  const [text, setText] = useState('');
  const asked = path.endsWith('/search') ? query['q'] : undefined;
  useEffect(() => {
    setText(asked ?? '');
  }, [asked, path]);
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') route(searchLink(withoutSecret(text.trim())));
      }}
    >
      <input
        type="search"
        name="q"
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
        }}
        aria-label="Search for a height, block, transaction, output or address"
        placeholder="Height, block, transaction, address"
        autocomplete="off"
        spellcheck={false}
        maxLength={1_000}
      />
      <button type="submit" aria-label="Search">
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <circle cx="8.500" cy="8.500" r="5.500" />
          <path d="m13 13 5 5" />
        </svg>
      </button>
    </form>
  );
}

const THEMES = { auto: 'Theme: as the system', light: 'Theme: light', dark: 'Theme: dark' } as const;

function Settings() {
  const unit = useSetting(UNIT);
  const theme = useSetting(THEME);
  return (
    <div class="settings">
      <button
        type="button"
        onClick={() => {
          UNIT.next();
        }}
        aria-label={`Amounts in ${unit}. Change the unit`}
        title="Change the unit of amounts"
      >
        {unit}
      </button>
      <button
        type="button"
        class="theme"
        onClick={() => {
          THEME.next();
        }}
        aria-label={`${THEMES[theme]}. Change the theme`}
        title={THEMES[theme]}
      >
        <svg viewBox="0 0 20 20" aria-hidden="true">
          {theme === 'light' ? (
            <path d="M10 6a4 4 0 1 0 0 8 4 4 0 0 0 0-8M10 1v2M10 17v2M1 10h2M17 10h2M3.600 3.600 5 5M15 15l1.400 1.400M3.600 16.400 5 15M15 5l1.400-1.400" />
          ) : theme === 'dark' ? (
            <path d="M16.500 12.500A7.200 7.200 0 0 1 7.500 3.500a7.200 7.200 0 1 0 9 9z" />
          ) : (
            <>
              <circle cx="10" cy="10" r="7.500" />
              <path class="half" d="M10 2.500a7.500 7.500 0 0 1 0 15z" />
            </>
          )}
        </svg>
      </button>
    </div>
  );
}

/** What this node, or this node for now, cannot show. */
function Missing() {
  const { status, source } = useSession();
  if (status === undefined || source?.scripts !== undefined) return null;
  const job = status.jobs.find(({ name }) => name === 'scripts');
  if (status.api === undefined || job === undefined)
    return (
      <p class="note wide" id="missing">
        This node keeps no index by script: addresses, what spends an output, fee recommendations and the amounts of some inputs are left
        out. It shows them with <code>--rest-addresses</code>.
      </p>
    );
  return (
    <div class="note wide" id="missing">
      <p>Addresses, what spends an output and fee recommendations come once the index by script is ready.</p>
      <JobBar job={job} />
    </div>
  );
}

/** Tells those who cannot see the page of new blocks. */
function Arrivals() {
  const { tip, isOpen } = useSession();
  const first = useRef(tip?.hash);
  first.current ??= tip?.hash;
  return (
    <p class="unseen" role="status">
      {isOpen && tip !== undefined && tip.hash !== first.current ? `Block ${grouped(tip.height)} is the newest one now` : ''}
    </p>
  );
}
