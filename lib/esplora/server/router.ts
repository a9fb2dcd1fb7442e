// Finds the route of a path: segments are compared literally, one by one, and empty segments count.

import type { Route } from '../endpoint';

export interface Found {
  readonly route: Route;
  readonly parameters: ReadonlyMap<string, string>;
}

interface Pattern {
  readonly route: Route;
  /** Each has the literal text, or the name of a parameter. */
  readonly segments: readonly { readonly text: string; readonly isParameter: boolean }[];
}

export class Router {
  /** Patterns by method, number of segments and first segment, which is never a parameter. */
  readonly #patterns = new Map<string, Pattern[]>();

  /** If several routes fit a path, the first one is taken. */
  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      const segments = segmentsOf(route.path).map((segment) => {
        const isParameter = segment.startsWith(':');
        return { text: isParameter ? segment.slice(1) : segment, isParameter };
      });
      const key = keyOf(
        route.method,
        segments.map(({ text }) => text)
      );
      this.#patterns.set(key, [...(this.#patterns.get(key) ?? []), { route, segments }]);
    }
  }

  /** `path`: what follows the interface's own path, without a query. */
  find(method: string, path: string): Found | undefined {
    const texts = segmentsOf(path);
    for (const { route, segments } of this.#patterns.get(keyOf(method, texts)) ?? []) {
      if (!segments.every(({ text, isParameter }, i) => isParameter || text === texts[i])) continue;
      const parameters = new Map<string, string>();
      for (const [i, { text, isParameter }] of segments.entries()) if (isParameter) parameters.set(text, texts[i] as string); // as many
      return { route, parameters };
    }
    return undefined;
  }
}

const segmentsOf = (path: string): string[] => path.split('/').slice(1);

const keyOf = (method: string, segments: readonly string[]): string => `${method} ${segments.length} ${segments[0] ?? ''}`;
