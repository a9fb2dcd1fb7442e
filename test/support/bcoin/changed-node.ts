// A real node with some members replaced.

import type { NodeSource } from '../../../lib/node/types/source';

export function nodeWith(node: NodeSource, changes: Partial<NodeSource>): NodeSource {
  return new Proxy<NodeSource>(node, {
    get: (target, name) => {
      const value: unknown = Reflect.get(name in changes ? changes : target, name);
      return typeof value === 'function' ? (value as (...values: unknown[]) => unknown).bind(target) : value;
    }
  });
}
