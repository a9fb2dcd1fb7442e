// The client of NATS: optional packages, loaded here and only when an option asks for them.

import { NatsMissingError } from './errors';
import { messageOf } from '../../system/error-text';

export interface NatsModules {
  readonly core: typeof import('@nats-io/transport-node');
  readonly jetstream: typeof import('@nats-io/jetstream');
  readonly kv: typeof import('@nats-io/kv');
}

let loaded: Promise<NatsModules> | undefined;

/** @throws NatsMissingError */
export function loadNats(): Promise<NatsModules> {
  return (loaded ??= load());
}

/** Whether the servers do not let this account do what was tried. The client wraps their refusal of a request. */
export function isNotPermitted({ core }: NatsModules, error: unknown): boolean {
  const cause = error instanceof core.RequestError ? error.cause : error;
  return cause instanceof core.PermissionViolationError;
}

/** What an error says, without the names that the client makes up for each question: said again it is the same. */
export function wordsOf(error: unknown): string {
  return messageOf(error).replace(/"_INBOX\.[^"]*"(?: \(sid "\d+"\))?/, '"_INBOX.>"');
}

async function load(): Promise<NatsModules> {
  try {
    const [core, jetstream, kv] = await Promise.all([
      import('@nats-io/transport-node'),
      import('@nats-io/jetstream'),
      import('@nats-io/kv')
    ]);
    return { core, jetstream, kv };
  } catch (error) {
    throw new NatsMissingError(
      `A fleet needs the packages @nats-io/transport-node, @nats-io/jetstream and @nats-io/kv beside bcoin-rest: ${messageOf(error)}`,
      { cause: error }
    );
  }
}
