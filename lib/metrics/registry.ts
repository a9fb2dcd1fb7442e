// The families as a registry of prom-client, which writes the text that Prometheus reads, and adds its own metrics of process, heap, garbage
// collection and event loop. The package is loaded only when there are metrics.

import type { Metric, MetricValueWithName, Registry } from 'prom-client';
import type { AnyFamily, HistogramFamily, Labels, Sample } from './family';

/** Metrics of prom-client that walk over every connection, and whose names are against the conventions. */
const LEFT_OUT = ['resources', 'handles', 'requests'].flatMap((what) => [`nodejs_active_${what}`, `nodejs_active_${what}_total`]);

const PREFIX = 'bcoin_rest_';

/** What a registry asks of a metric: its classes would keep values of their own. */
interface PulledMetric {
  readonly name: string;
  readonly help: string;
  readonly type: AnyFamily['type'];
  get(): Promise<{
    readonly name: string;
    readonly help: string;
    readonly type: AnyFamily['type'];
    readonly values: readonly Pick<MetricValueWithName<string>, 'value' | 'labels' | 'metricName'>[];
  }>;
}

/** Loads prom-client, whose default metrics the registry has as well. */
export async function registryOf(families: readonly AnyFamily[]): Promise<Registry> {
  const { Registry, collectDefaultMetrics } = await import('prom-client');
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of LEFT_OUT) registry.removeSingleMetric(name);
  for (const family of families) registry.registerMetric(pulled(family) as unknown as Metric);
  return registry;
}

function pulled(family: AnyFamily): PulledMetric {
  const name = `${PREFIX}${family.name}`;
  const { help, type } = family;
  return {
    name,
    help,
    type,
    get: async () => ({
      name,
      help,
      type,
      values:
        family.type === 'histogram' ? histogramValues(name, family) : [...(await family.read())].map((sample) => valueOf(name, sample))
    })
  };
}

const valueOf = (metricName: string, [value, labels = {}]: Sample): { value: number; labels: Labels; metricName: string } => ({
  metricName,
  value,
  labels
});

function histogramValues(name: string, family: HistogramFamily): ReturnType<typeof valueOf>[] {
  return [...family.read()].flatMap(([{ bounds, counts, sum }, labels]) => {
    let count = 0;
    const buckets = [...counts].map((more, i) =>
      valueOf(`${name}_bucket`, [(count += more), { ...labels, le: i < bounds.length ? String(bounds[i]) : '+Inf' }])
    );
    return [...buckets, valueOf(`${name}_sum`, [sum, labels]), valueOf(`${name}_count`, [count, labels])];
  });
}
