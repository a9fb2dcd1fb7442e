// The version of this package.

import { createRequire } from 'node:module';

/** `bcoin-rest 0.1.0`. */
export function versionText(): string {
  const { name, version } = createRequire(__filename)('bcoin-rest/package.json') as { readonly name: string; readonly version: string };
  return `${name} ${version}`;
}
