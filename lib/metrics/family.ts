// What is measured, as families of metrics that are read when somebody asks: name, help, and where the values are. Nothing is kept here.

import type { Durations } from '../server/figures/durations';

export type Labels = Readonly<Record<string, string>>;

export type Sample = readonly [value: number, labels?: Labels];

/** Names and units are those of Prometheus' conventions, without the prefix that all of them have. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  read(): Iterable<Sample> | Promise<Iterable<Sample>>;
}

export interface HistogramFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'histogram';
  read(): Iterable<readonly [Durations, Labels]>;
}

export type AnyFamily = Family | HistogramFamily;

export const counter = (name: string, help: string, read: Family['read']): Family => ({ name, help, type: 'counter', read });

export const gauge = (name: string, help: string, read: Family['read']): Family => ({ name, help, type: 'gauge', read });

export const histogram = (name: string, help: string, read: HistogramFamily['read']): HistogramFamily => ({
  name,
  help,
  type: 'histogram',
  read
});

/** A sample for each entry, with the key as a label; none for undefined values. */
export const labelled = (label: string, values: Readonly<Record<string, number | undefined>>): Sample[] =>
  Object.entries(values).flatMap(([key, value]): Sample[] => (value === undefined ? [] : [[value, { [label]: key }]]));
