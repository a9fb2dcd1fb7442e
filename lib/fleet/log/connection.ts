// A connection to the servers of NATS.

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity, type ConnectionOptions as TlsOptions, type PeerCertificate } from 'node:tls';
import { messageOf } from '../../system/error-text';
import { systemCodeOf } from '../../system/system-errors';
import { NatsAwayError, NatsRefusedError } from './errors';
import { isNotPermitted, loadNats, wordsOf, type NatsModules } from './nats';
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { Authenticator, ConnectionOptions, NatsConnection } from '@nats-io/transport-node';
import type { NatsAccess } from './access';

export interface NatsBus {
  readonly connection: NatsConnection;
  readonly jetstream: JetStreamClient;
  readonly manager: JetStreamManager;
  /** Bytes of the longest message that the servers take; while the connection is lost, those that it was lost to. */
  readonly mostBytes: () => number;
}

/** Milliseconds. */
const CONNECT_TIMEOUT_MS = 5_000;
const RECONNECT_WAIT_MS = 250;
/** A server that does not answer two of these is given up. */
const PING_INTERVAL_MS = 2_000;

/** How often a connection was made, or has come back. */
export class ConnectionCount {
  #made = 0;

  get made(): number {
    return this.#made;
  }

  /** Counts a connection that was made, and each time it comes back. */
  follow(connection: NatsConnection): void {
    this.#made++;
    void this.#countReturns(connection);
  }

  async #countReturns(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) if (type === 'reconnect') this.#made++;
  }
}

/**
 * Connects. The connection comes back by itself when it is lost, unless it is refused then.
 * `count`: counts it.
 * @throws NatsAwayError, NatsRefusedError, NatsMissingError
 */
export async function connectToNats(access: NatsAccess, name: string, count = new ConnectionCount()): Promise<NatsBus> {
  const nats = await loadNats();
  const { jetstream } = nats;
  const where = access.servers.join(', ');
  const connection = await connected(access, name);
  const client = jetstream.jetstream(connection);
  try {
    const manager = await client.jetstreamManager();
    count.follow(connection);
    return { connection, jetstream: client, manager, mostBytes: mostBytesOf(connection) };
  } catch (error) {
    await connection.close();
    // The client says that JetStream is not enabled; the servers have said so if there is a cause of theirs, or else they lack a quorum.
    const isRefused = error instanceof Error && error.cause instanceof jetstream.JetStreamApiError;
    if (isRefused || isNotPermitted(nats, error)) {
      throw new NatsRefusedError(`NATS at ${where} does not let this account use JetStream: ${wordsOf(error)}`, { cause: error });
    }
    throw new NatsAwayError(`JetStream at ${where} does not answer: ${messageOf(error)}`, { cause: error });
  }
}

/** The client forgets what the server has told as soon as the connection is lost. */
function mostBytesOf(connection: NatsConnection): () => number {
  let most = connection.info?.max_payload ?? 0;
  return () => (most = connection.info?.max_payload ?? most);
}

async function connected(access: NatsAccess, name: string): Promise<NatsConnection> {
  const { core } = await loadNats();
  const where = access.servers.join(', ');
  const options = await connectionOptions(access, name);
  try {
    return await core.connect(options);
  } catch (error) {
    // A server may insist on TLS that was not asked for.
    if (!access.tls && systemCodeOf(error) === OTHER_NAME) return await connected({ ...access, tls: true }, name);
    if (error instanceof NatsRefusedError) throw error;
    if (error instanceof core.AuthorizationError || error instanceof core.UserAuthenticationExpiredError) {
      throw new NatsRefusedError(`NATS at ${where} refuses the credentials: ${messageOf(error)}`, { cause: error });
    }
    throw new NatsAwayError(`NATS at ${where} cannot be reached: ${messageOf(error)}`, { cause: error });
  }
}

async function connectionOptions({ servers, tls, user, password, credentials }: NatsAccess, name: string): Promise<ConnectionOptions> {
  const { core } = await loadNats();
  return {
    servers: [...servers],
    name,
    timeout: CONNECT_TIMEOUT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: 2,
    // The operator's list counts: the addresses that servers know of each other may not be for clients.
    ignoreClusterUpdates: true,
    // Errors are told with their causes: a stack that is made for each question would be for nothing.
    noAsyncTraces: true,
    ...(tls && { tls: tlsOptions(servers) }),
    ...(user !== undefined && (password === undefined ? { token: user } : { user, pass: password })),
    ...(credentials !== undefined && { authenticator: authenticatorOf(core, credentials) })
  };
}

/** What the client takes a certificate to be for if the server has no name. */
const NAMELESS = 'localhost';
/** Of the error that a certificate is for another one. */
const OTHER_NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';

/** Which address the client has connected to it does not say: the certificate is to be for one that the operator has listed. */
function tlsOptions(servers: readonly string[]): NonNullable<ConnectionOptions['tls']> & Pick<TlsOptions, 'checkServerIdentity'> {
  const hosts = servers.map((server) => server.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1'));
  const nameless = hosts.filter((host) => isIP(host) !== 0 || host === NAMELESS);
  return {
    checkServerIdentity: (host: string, certificate: PeerCertificate) => {
      const names = host === NAMELESS && nameless.length > 0 ? nameless : [host];
      const errors = names.map((name) => checkServerIdentity(name, certificate));
      return errors.includes(undefined) ? undefined : errors[0];
    }
  };
}

/** Reads the file anew for each connection: credentials that expire are renewed in it. */
function authenticatorOf({ credsAuthenticator }: NatsModules['core'], path: string): Authenticator {
  return (nonce) => {
    try {
      return credsAuthenticator(readFileSync(path))(nonce);
    } catch (error) {
      throw new NatsRefusedError(`NATS credentials cannot be read from ${path}: ${messageOf(error)}`, { cause: error });
    }
  };
}
