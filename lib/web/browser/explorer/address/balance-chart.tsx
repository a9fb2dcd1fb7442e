// The balance as a line over time, drawn by uPlot.

import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { amountLine, type Unit } from '../../parts/amounts';
import { THEME, UNIT, useSetting } from '../../parts/settings';
import type { BalancePoint } from './balance';

const HEIGHT = 220;
const SATS_PER_BTC = 100_000_000;

const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400];

/** Seconds between ticks. */
const INCREMENTS = [
  ...[1, 5, 15, 30].flatMap((n) => [n, n * MINUTE]),
  ...[HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR],
  ...[1, 2, 7, 14, 30, 61, 91, 182, 365, 730, 1_461].map((days) => days * DAY)
].sort((a, b) => a - b);

const TICKS = {
  seconds: new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' }),
  minutes: new Intl.DateTimeFormat(undefined, { timeStyle: 'short' }),
  days: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
};

const tickText = (time: number, step: number): string =>
  (step < MINUTE ? TICKS.seconds : step < DAY ? TICKS.minutes : TICKS.days).format(time * 1_000);

/** The heights of the line are pixels: there amounts may be floating point. What is read are texts made of whole satoshis. */
export default function BalanceChart({ points }: { readonly points: readonly BalancePoint[] }) {
  const box = useRef<HTMLDivElement>(null);
  const unit = useSetting(UNIT);
  const theme = useSetting(THEME);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const said = element.querySelector('output');
    const chart = new uPlot(optionsFor(element.clientWidth, points, unit, said), dataOf(points, unit), element);
    const resized = new ResizeObserver(() => {
      chart.setSize({ width: element.clientWidth, height: HEIGHT });
    });
    resized.observe(element);
    return () => {
      resized.disconnect();
      chart.destroy();
    };
  }, [points, unit, theme]);
  return (
    <div class="chart" ref={box}>
      <output class="quiet small" aria-hidden="true" />
    </div>
  );
}

function dataOf(points: readonly BalancePoint[], unit: Unit): uPlot.AlignedData {
  const scale = unit === 'BTC' ? SATS_PER_BTC : 1;
  // Times of blocks may go back a little; those of a chart may not.
  let latest = 0;
  const times = points.map(({ time }) => (latest = Math.max(latest, time)));
  return [times, points.map(({ sats }) => Number(sats) / scale)];
}

function optionsFor(width: number, points: readonly BalancePoint[], unit: Unit, said: HTMLOutputElement | null): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const axis: uPlot.Axis = {
    stroke: colour('--quiet'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui'
  };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    padding: [8, 12, 0, 0],
    cursor: { y: false, drag: { x: false, y: false } },
    scales: { y: { range: (_, _low, high) => [0, high === 0 ? 1 : high * 1.1] } },
    axes: [
      { ...axis, space: 90, incrs: INCREMENTS, values: (_, times, _axis, _space, step) => times.map((time) => tickText(time, step)) },
      { ...axis, size: 80 }
    ],
    series: [
      {},
      {
        stroke: colour('--fill'),
        fill: colour('--fill-soft'),
        width: 2,
        points: { show: false },
        ...(stepped && { paths: stepped })
      }
    ],
    hooks: {
      setCursor: [
        ({ cursor: { idx } }) => {
          const point = idx == null ? undefined : points[idx];
          if (said !== null)
            said.value = point === undefined ? '' : `${new Date(point.time * 1_000).toLocaleString()}: ${amountLine(point.sats, unit)}`;
        }
      ]
    }
  };
}
