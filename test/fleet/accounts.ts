// Accounts of NATS as `nsc` makes them: an operator signs accounts, an account signs its users, each as a JWT.

import { randomUUID } from 'node:crypto';
import { nkeys } from '@nats-io/transport-node';

/** As many as there may be. */
const UNLIMITED = { subs: -1, data: -1, payload: -1 };
const OF_ACCOUNT = { ...UNLIMITED, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
const OF_JETSTREAM = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };

interface Claims {
  readonly subject: nkeys.KeyPair;
  readonly issuer: nkeys.KeyPair;
  readonly name: string;
  readonly type: 'operator' | 'account' | 'user';
  readonly limits?: object;
  /** In seconds of Unix time. */
  readonly expires?: number;
}

export class Accounts {
  readonly #operator = nkeys.createOperator();
  readonly #system = nkeys.createAccount();
  readonly #account = nkeys.createAccount();

  /** For the configuration of a server that knows them. */
  get config(): string {
    const [operator, system, account] = [this.#operator, this.#system, this.#account];
    const limits = { ...OF_ACCOUNT, ...OF_JETSTREAM };
    return [
      `operator: ${jwt({ subject: operator, issuer: operator, name: 'operator', type: 'operator' })}`,
      `system_account: ${system.getPublicKey()}`,
      'resolver: MEMORY',
      'resolver_preload: {',
      `  ${system.getPublicKey()}: ${jwt({ subject: system, issuer: operator, name: 'system', type: 'account', limits: OF_ACCOUNT })}`,
      `  ${account.getPublicKey()}: ${jwt({ subject: account, issuer: operator, name: 'fleet', type: 'account', limits })}`,
      '}'
    ].join('\n');
  }

  /** The content of a file for `--rest-nats-creds`: a new user, whose credentials expire after some seconds, or before now. */
  credentials(seconds: number): string {
    const user = nkeys.createUser();
    const expires = Math.floor(Date.now() / 1_000) + seconds;
    const text = jwt({ subject: user, issuer: this.#account, name: 'user', type: 'user', limits: UNLIMITED, expires });
    const seed = Buffer.from(user.getSeed()).toString('latin1');
    return [...block('NATS USER JWT', text), ...block('USER NKEY SEED', seed)].join('\n');
  }
}

const block = (name: string, text: string): string[] => [`-----BEGIN ${name}-----`, text, `------END ${name}------`, ''];

function jwt({ subject, issuer, name, type, limits, expires }: Claims): string {
  const claims = {
    jti: randomUUID(),
    iat: Math.floor(Date.now() / 1_000),
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    name,
    ...(expires !== undefined && { exp: expires }),
    nats: type === 'user' ? { ...limits, type, version: 2 } : { ...(limits && { limits }), type, version: 2 }
  };
  const signed = [{ typ: 'JWT', alg: 'ed25519-nkey' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${signed}.${Buffer.from(issuer.sign(Buffer.from(signed))).toString('base64url')}`;
}
