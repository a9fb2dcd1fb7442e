// The time that is left to pay, as text and as a bar.

import { duration } from '../parts/times';

const MINUTE = 60;
const HOUR = 3_600;

/** Brings all countdowns in a part of the page up to date. */
export function countDown(part: ParentNode): void {
  const now = Date.now() / 1_000;
  for (const text of part.querySelectorAll<HTMLElement>('[data-left]')) {
    const left = Math.max(0, Number(text.dataset['left']) + 1 - now);
    text.textContent = ` · ${leftText(left)} left`;
    text.classList.toggle('soon', left < 2 * MINUTE);
  }
  for (const bar of part.querySelectorAll<HTMLProgressElement>('progress[data-until]')) {
    const [from, until] = [Number(bar.dataset['from']), Number(bar.dataset['until'])];
    bar.hidden = false;
    bar.value = Math.min(1, Math.max(0, (until - now) / Math.max(1, until - from)));
  }
}

/** Within the last hour to the second: `14:05`. */
function leftText(seconds: number): string {
  if (seconds >= HOUR) return duration(seconds);
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / MINUTE)}:${String(whole % MINUTE).padStart(2, '0')}`;
}
