// Top self times of the CPU profiles in a folder, as text.
//   npx ts-node bench/profile.ts FOLDER

import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const SHOWN = 25;
const IDLE = '(idle)';

for (const file of readdirSync(process.argv[2] ?? '.').filter((name) => name.endsWith('.cpuprofile'))) {
  console.log(`\n${file}`);
  console.log(selfTimes(JSON.parse(readFileSync(join(process.argv[2] ?? '.', file), 'utf8')) as Profile));
}

/** Shares of the time that the thread was not idle. */
function selfTimes({ nodes, samples, timeDeltas }: Profile): string {
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => [
      id,
      `${functionName === '' ? '(anonymous)' : functionName} ${url === '' ? '' : `${basename(url)}:${lineNumber + 1}`}`.trimEnd()
    ])
  );
  const times = new Map<string, number>();
  samples.forEach((id, i) => {
    const name = names.get(id) ?? String(id);
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[i] ?? 0));
  });
  times.delete(IDLE);
  const total = [...times.values()].reduce((sum, time) => sum + time, 0);
  return [...times]
    .sort((a, b) => b[1] - a[1])
    .slice(0, SHOWN)
    .map(([name, time]) => `${((time / total) * 100).toFixed(1).padStart(5)} %  ${name}`)
    .join('\n');
}
