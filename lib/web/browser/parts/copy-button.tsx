import { useRef, useState } from 'preact/hooks';

const SHOWN_MS = 1_500;

/** Copies a text, or what a function makes of it when it is asked. `what`: the thing that is copied, as in `Copy the txid`. */
export function CopyButton({ text, what }: { readonly text: string | (() => Promise<string>); readonly what: string }) {
  const [state, setState] = useState<'ready' | 'copied' | 'failed'>('ready');
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const copy = async (): Promise<void> => {
    setState(await write(typeof text === 'string' ? text : await text().catch(() => undefined)));
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      setState('ready');
    }, SHOWN_MS);
  };
  return (
    <button type="button" class={`copy ${state}`} title={`Copy ${what}`} onClick={() => void copy()}>
      <span class="unseen" role="status">
        {state === 'copied' ? 'Copied' : state === 'failed' ? 'Not copied' : ''}
      </span>
      <span class="unseen">{`Copy ${what}`}</span>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {state === 'copied' ? (
          <path d="m3 8.500 3.500 3.500L13 4.500" />
        ) : state === 'failed' ? (
          <path d="m4 4 8 8m0-8-8 8" />
        ) : (
          <path d="M5.500 5.500h8v8h-8zM3 10.500h-.500v-8h8V3" />
        )}
      </svg>
    </button>
  );
}

/** Browsers offer the clipboard over https and on localhost; elsewhere a selected text is copied with `execCommand`. */
async function write(text: string | undefined): Promise<'copied' | 'failed'> {
  if (text === undefined) return 'failed';
  try {
    await navigator.clipboard.writeText(text);
    return 'copied';
  } catch {
    const focused = document.activeElement;
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else works over http
    const isCopied = document.execCommand('copy');
    area.remove();
    // Who uses the keyboard goes on from the button.
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
    return isCopied ? 'copied' : 'failed';
  }
}
