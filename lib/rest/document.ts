// The description of the interface, as it is on this node: made of those of its endpoints.

import { documentText } from '../server/document';
import type { Profile } from '../views/profile';
import type { Route } from './routes';

export interface RestDocumentParts {
  readonly profile: Profile;
  /** The version of this package. */
  readonly version: string;
  /** Whether requests need the node's API key. */
  readonly auth: boolean;
}

export const PREFIX = '/rest';

export function restDocument(routes: readonly Route[], { profile, version, auth }: RestDocumentParts): Buffer {
  const { queueFullStatus } = profile.replies;
  const unavailable = 'Node or index are not in sync; the text has the progress.';
  const full = 'Too many requests wait.';
  const errors = queueFullStatus === 503 ? { 503: `${unavailable} Or: ${full}` } : { [queueFullStatus]: full, 503: unavailable };
  const operations = routes.flatMap((route) => route.operations);
  return documentText(
    {
      title: "Bitcoin Core's REST interface",
      description:
        `As Bitcoin Core ${profile.rpc ? '31' : '0.17'} has it. The suffix of a path is the format. ` +
        'PUT and POST are answered as GET, HEAD without the body. Texts of errors end with a carriage return and a line feed.',
      version,
      path: PREFIX,
      errors,
      keyFor: () => auth
    },
    operations
  );
}
