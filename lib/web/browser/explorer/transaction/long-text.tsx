import { useState } from 'preact/hooks';
import { CopyButton } from '../../parts/copy-button';
import { grouped } from '../../parts/amounts';

/** As much as a reader may want to see at once; megabytes would keep the browser busy. */
const SHOWN = 1_500;
const MOST_SHOWN = 100_000;

/** A long text, as a script or data in hex: its beginning, more if the reader wants, and all of it to copy. */
export function LongText({ text, what }: { readonly text: string; readonly what: string }) {
  const [most, setMost] = useState(SHOWN);
  const isCut = text.length > most;
  return (
    <div class="long">
      <pre tabIndex={0} aria-label={what}>
        {isCut ? `${text.slice(0, most)}…` : text}
      </pre>
      <div class="long-foot">
        <CopyButton text={text} what={what} />
        {isCut && most < MOST_SHOWN && (
          <button
            type="button"
            class="plain"
            onClick={() => {
              setMost(MOST_SHOWN);
            }}
          >
            Show more
          </button>
        )}
        {isCut && <span class="quiet small">{grouped(text.length)} characters in all</span>}
      </div>
    </div>
  );
}
