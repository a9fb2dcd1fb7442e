// What Prometheus would read.

import { ask } from '../support/client/http';

export interface Scraped {
  readonly text: string;
  /** The value of a sample, by its name and some of its labels; undefined: there is none. Several are added up. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
  /** All values of a label of samples with this name. */
  labels(name: string, label: string): Set<string>;
  /** All labels with their values, of all samples: `lane="small"`. */
  readonly pairs: ReadonlySet<string>;
  /** The number of samples. */
  readonly size: number;
}

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const SAMPLE = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/;

export async function scrape(port: number): Promise<Scraped> {
  const text = (await ask(port, { path: '/metrics' })).body.toString();
  const samples = text.split('\n').flatMap((line): Sample[] => {
    const [, name, labels = '', value] = SAMPLE.exec(line) ?? [];
    return name === undefined ? [] : [{ name, labels: labelsIn(labels), value: Number(value) }];
  });
  return {
    text,
    pairs: new Set(samples.flatMap(({ labels }) => Object.entries(labels).map(([label, value]) => `${label}="${value}"`))),
    size: samples.length,
    value: (wanted, labels = {}) => {
      const found = samples.filter(
        (sample) => sample.name === wanted && Object.entries(labels).every(([key, shown]) => sample.labels[key] === shown)
      );
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
    },
    labels: (wanted, label) =>
      new Set(samples.filter(({ name, labels }) => name === wanted && label in labels).map(({ labels }) => labels[label] ?? ''))
  };
}

function labelsIn(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [, key = '', value = ''] of text.matchAll(/(\w+)="([^"]*)"/g)) labels[key] = value;
  return labels;
}
