import { useEffect, useState } from 'preact/hooks';
import { exactTime, relativeTime } from './times';

const EVERY_MS = 20_000;

/** Since when, as `5 minutes ago`; the exact time in its title, or beside it with `exact`. */
export function Time({ seconds, exact = false }: { readonly seconds: number; readonly exact?: boolean }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => {
      tick((n) => n + 1);
    }, EVERY_MS);
    return () => {
      clearInterval(timer);
    };
  }, []);
  const at = exactTime(seconds);
  const ago = relativeTime(seconds);
  return (
    <time dateTime={new Date(seconds * 1_000).toISOString()} title={at}>
      {exact ? `${at} (${ago})` : ago}
    </time>
  );
}
