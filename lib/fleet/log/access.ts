// The addresses of the NATS servers, as operators write them.

/** The servers of NATS, and who we are there. */
export interface NatsAccess {
  /** `host:port`. */
  readonly servers: readonly string[];
  readonly tls: boolean;
  /** From the URL: a user with a password, or a token. */
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** File with the credentials of an account (`nsc`). */
  readonly credentials: string | undefined;
}

const DEFAULT_PORT = 4222;

/**
 * Parses `nats://user:password@a:4222,b,c`. `tls://` asks for TLS. A user without a password is a token.
 * undefined: the text is no such list.
 */
export function parseNatsUrls(text: string, credentials?: string): NatsAccess | undefined {
  const [, scheme, list] = /^(nats|tls):\/\/(.+)$/s.exec(text) ?? [];
  const at = list?.lastIndexOf('@') ?? -1;
  const servers =
    list
      ?.slice(at + 1)
      .split(',')
      .map(serverOf) ?? [];
  if (servers.length === 0 || !servers.every((server) => server !== undefined)) return undefined;
  const [user, ...password] = at < 0 ? [] : (list ?? '').slice(0, at).split(':');
  if (user === '') return undefined;
  try {
    return {
      servers,
      tls: scheme === 'tls',
      user: user === undefined ? undefined : decodeURIComponent(user),
      password: password.length === 0 ? undefined : decodeURIComponent(password.join(':')),
      credentials
    };
  } catch {
    return undefined;
  }
}

/** `host:port` of `host`, `host:port` or `[address]:port`. */
function serverOf(text: string): string | undefined {
  const [, host, port] = /^(?:(?:nats|tls):\/\/)?(\[[\da-fA-F:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (host === undefined) return undefined;
  const number = Number(port ?? DEFAULT_PORT);
  return number > 0 && number < 0x1_0000 ? `${host}:${number}` : undefined;
}
