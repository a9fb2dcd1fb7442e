// Calls of Bitcoin Core's JSON-RPC over HTTP.

import { ask, basicAuth, type RawReply } from './http';

export interface RpcFailure {
  readonly code: number;
  readonly message: string;
}

/** The reply to a call; its members are in the order of the text. */
interface RpcReply {
  readonly result?: unknown;
  readonly error?: RpcFailure | null;
}

export const basic = (credentials: string): Record<string, string> => ({
  Authorization: basicAuth(credentials)
});

export class RpcCaller {
  constructor(
    readonly port: number,
    readonly headers: Readonly<Record<string, string>> = {}
  ) {}

  /** Any body. */
  post(body: string | Buffer): Promise<RawReply> {
    return ask(this.port, { method: 'POST', path: '/', headers: this.headers, body: Buffer.from(body) });
  }

  /** The status of the reply to any body, a space, and its text. */
  async statusAndText(body: string): Promise<string> {
    const { status, body: bytes } = await this.post(body);
    return `${status} ${bytes.toString()}`;
  }

  /** The unparsed text of a result. */
  async text(method: string, ...params: unknown[]): Promise<string> {
    const reply = await this.post(JSON.stringify({ method, params, id: 1 }));
    const text = reply.body.toString();
    const [, result] = /^{"result":(.*),"error":null,"id":1}\n$/s.exec(text) ?? [];
    if (result === undefined) throw new Error(`${method}: ${reply.status} ${text}`);
    return result;
  }

  async call<T>(method: string, ...params: unknown[]): Promise<T> {
    return JSON.parse(await this.text(method, ...params)) as T;
  }

  /** How many calls of this method are being answered. */
  async active(method: string): Promise<number> {
    const { active_commands } = await this.call<{ readonly active_commands: readonly { readonly method: string }[] }>('getrpcinfo');
    return active_commands.filter((active) => active.method === method).length;
  }

  /** The error of a failing call. */
  async failure(method: string, params: unknown = []): Promise<RpcFailure> {
    const { body } = await this.post(JSON.stringify({ method, params, id: 1 }));
    const { error } = JSON.parse(body.toString()) as RpcReply;
    if (error == null) throw new Error(`${method}: expected an error, got ${body.toString()}`);
    return error;
  }
}
