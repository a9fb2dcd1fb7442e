// The description of the interface, as it is on this node: made of those of its endpoints.

import { documentText } from '../server/document';
import type { Route } from './endpoint';

export interface EsploraDocumentParts {
  /** The path of the interface, without a slash at its end. */
  readonly path: string;
  /** The version of this package. */
  readonly version: string;
  /** Whether requests need the node's API key. */
  readonly auth: boolean;
}

export function esploraDocument(routes: readonly Route[], { path, version, auth }: EsploraDocumentParts): Buffer {
  return documentText(
    {
      title: "Esplora's API",
      description: [
        `Chain and pool by transaction, block and address; below ${path}/v1 mempool's interface.`,
        `At ${path}/v1/ws clients are notified of changes over its WebSocket, which is not described here.`,
        'Amounts are satoshis.'
      ].join(' '),
      version,
      path,
      errors: { 503: 'Node or indexes are not in sync, and the text has the progress; or too many requests wait.' },
      keyFor: () => auth
    },
    routes.map(({ method, path: below, operation }) => ({ ...operation, method, path: below.replaceAll(/:(\w+)/g, '{$1}') }))
  );
}
