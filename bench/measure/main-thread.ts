// Whose code the main thread runs: its profile, divided by the packages of functions.

import { Session, type Profiler } from 'node:inspector';
import { basename } from 'node:path';

const SAMPLING_US = 200;
const [IDLE, COLLECTOR, PROGRAM] = ['(idle)', '(garbage collector)', '(program)'];

/** Milliseconds. */
export interface MainThread {
  readonly ours: number;
  /** The node, and the packages that it is made of. */
  readonly node: number;
  readonly collector: number;
  readonly rest: number;
  /** What the node's part is spent in: functions with the built-in ones that they call, those first that take the most. */
  readonly ofNode: readonly (readonly [name: string, milliseconds: number])[];
}

type Owner = 'ours' | 'node';

/** `isOurs`, `isNode`: by the URL of a script. */
export async function profiled(
  run: () => Promise<void>,
  isOurs: (url: string) => boolean,
  isNode: (url: string) => boolean
): Promise<MainThread> {
  const session = new Session();
  session.connect();
  const post = (method: string, parameters: object = {}): Promise<object | undefined> =>
    new Promise((resolve, reject) => {
      session.post(method, parameters, (error, result) => {
        if (error === null) resolve(result);
        else reject(error);
      });
    });
  await post('Profiler.enable');
  await post('Profiler.setSamplingInterval', { interval: SAMPLING_US });
  await post('Profiler.start');
  await run();
  const { profile } = (await post('Profiler.stop')) as Profiler.StopReturnType;
  session.disconnect();
  return divided(profile, (url) => (isOurs(url) ? 'ours' : isNode(url) ? 'node' : undefined));
}

function divided({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile, ownerOf: (url: string) => Owner | undefined): MainThread {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const sums = { ours: 0, node: 0, collector: 0, rest: 0 };
  const ofNode = new Map<string, number>();
  for (const [i, id] of samples.entries()) {
    const milliseconds = (timeDeltas[i] ?? 0) / 1_000;
    const { functionName } = frameOf(byId, id);
    if (functionName === IDLE) continue;
    if (functionName === COLLECTOR) sums.collector += milliseconds;
    else {
      // Built-in functions belong to the function that calls them.
      let [at, owner]: [number | undefined, Owner | undefined] = [id, undefined];
      for (; at !== undefined && owner === undefined; at = owner === undefined ? callers.get(at) : at)
        owner = ownerOf(frameOf(byId, at).url);
      sums[functionName === PROGRAM || owner === undefined ? 'rest' : owner] += milliseconds;
      if (owner === 'node' && at !== undefined) {
        const { functionName: name, url, lineNumber } = frameOf(byId, at);
        const place = `${name} (${basename(url)}:${lineNumber + 1})`;
        ofNode.set(place, (ofNode.get(place) ?? 0) + milliseconds);
      }
    }
  }
  return { ...sums, ofNode: [...ofNode].sort(([, a], [, b]) => b - a) };
}

const frameOf = (byId: ReadonlyMap<number, Profiler.ProfileNode>, id: number): Profiler.ProfileNode['callFrame'] =>
  (byId.get(id) as Profiler.ProfileNode).callFrame; // the profile names it
