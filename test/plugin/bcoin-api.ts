// bcoin's own API over HTTP, of the node or of its wallet.

import { basicAuth } from '../support/client/http';

export class BcoinApi {
  readonly #headers: Readonly<Record<string, string>>;

  constructor(
    readonly port: number,
    key?: string
  ) {
    // bcoin waits for connections when it stops.
    this.#headers = {
      Connection: 'close',
      ...(key !== undefined && { Authorization: basicAuth(`x:${key}`) })
    };
  }

  async get<T>(path: string): Promise<T> {
    return await this.#read<T>(await this.ask('GET', path));
  }

  async post<T>(path: string, body: object): Promise<T> {
    return await this.#read<T>(await this.ask('POST', path, body));
  }

  /** JSON-RPC. */
  async call<T>(method: string, ...params: readonly unknown[]): Promise<T> {
    const { result, error } = await this.post<{ readonly result: T; readonly error: { readonly message: string } | null }>('/', {
      method,
      params
    });
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  /** The unparsed reply. */
  async ask(method: string, path: string, body?: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return await fetch(`http://127.0.0.1:${this.port}${path}`, {
      method,
      headers: { ...this.#headers, ...headers },
      ...(body && { body: JSON.stringify(body) })
    });
  }

  async #read<T>(response: Response): Promise<T> {
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.url}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }
}
