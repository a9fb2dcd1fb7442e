// A client of a fleet that does what docs/fleet.md tells clients: it sends the X-Rest-Tip that it has seen, and looks for what it has broadcast.
// Nothing may fail: HAProxy repeats what has to be repeated. A wallet of the Electrum protocol may have to connect again.

import { Agent, request } from 'node:https';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { LineClient } from '../../support/client/line-client';
import type { IncomingHttpHeaders } from 'node:http';
import type { Haproxy } from '../../support/fleet/haproxy';
import type { Spend } from '../../fleet/chaos/spends';

const PAUSE_MS = 60;
/** One request of so many is a broadcast. */
const REQUESTS_PER_BROADCAST = 12;
/** How many failures are described. */
const MOST_FAILURES = 10;
/** A wallet that finds its server stopping tries again, so often and after such a pause. */
const [MOST_CONNECTIONS, CONNECTION_PAUSE_MS] = [3, 500];
/** How long a transaction may be away while another node comes to lead. */
const TAKEOVER_MS = 5_000;

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface SteadyClientParts {
  readonly proxy: Haproxy;
  /** The address of this machine that it asks from: HAProxy keeps each at one reader. */
  readonly from: string;
  /** A transaction to broadcast; undefined: there is none now. */
  readonly spendable: () => Spend | undefined;
  /** Has all nodes get a transaction, as nodes do among themselves. */
  readonly relay: (spend: Spend) => Promise<void>;
  /** Another number when a node begins to stop or has started. */
  readonly changes: () => number;
}

export class SteadyClient {
  readonly failures: string[] = [];
  readonly counts = { answers: 0, broadcasts: 0, promised: 0, wallet: 0, connections: 0 };
  readonly broadcast: Spend[] = [];
  readonly #parts: SteadyClientParts;
  readonly #agent: Agent;
  #seen: { readonly height: number; readonly text: string } | undefined;
  #isOver = false;
  #running: Promise<unknown> = Promise.resolve();

  constructor(parts: SteadyClientParts) {
    this.#parts = parts;
    this.#agent = new Agent({ keepAlive: true, ca: parts.proxy.ca, localAddress: parts.from });
  }

  start(): void {
    this.#running = Promise.all([this.#requests(), this.#wallet()]);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
    this.#agent.destroy();
  }

  async #requests(): Promise<void> {
    for (let i = 1; !this.#isOver; i++) {
      if (i % REQUESTS_PER_BROADCAST === 0) await this.#broadcastAndSee();
      else if (i % 2 === 0)
        await this.#expectOk(
          '/rest/chaininfo.json',
          (body, height) => (JSON.parse(body.toString()) as { blocks: number }).blocks === height
        );
      else await this.#expectOk('/api/blocks/tip/height', (body, height) => Number(body.toString()) === height);
      await delay(PAUSE_MS);
    }
  }

  /** Asks, with the block that it has seen, and looks at the block of the answer. */
  async #expectOk(path: string, isRight: (body: Buffer, height: number) => boolean): Promise<void> {
    const since = this.#seen;
    const answer = await this.#ask(path, since === undefined ? {} : { 'x-rest-min-tip': since.text });
    if (answer === undefined) return;
    const text = String(answer.headers['x-rest-tip']);
    const height = Number(text.split(' ')[0]);
    if (answer.status !== 200 || !isRight(answer.body, height))
      this.#note(`${path} at ${text}: ${answer.status} ${answer.body.subarray(0, 200).toString()}`);
    else if (since !== undefined && height < since.height) this.#note(`${path}: ${text} after ${since.text}`);
    else this.#seen = { height, text };
    this.counts.answers++;
  }

  async #broadcastAndSee(): Promise<void> {
    const spend = this.#parts.spendable();
    if (spend === undefined) return;
    const before = this.#parts.changes();
    const taken = await this.#ask('/api/tx', {}, spend.raw.toString('hex'));
    if (taken === undefined) return;
    if (taken.status !== 200 || taken.body.toString() !== spend.txid) {
      this.#note(`broadcast: ${taken.status} ${taken.body.toString()}`);
      return;
    }
    this.counts.broadcasts++;
    this.broadcast.push(spend);
    const sequence = taken.headers['x-rest-min-seq'];
    const path = `/rest/tx/${spend.txid}.bin`;
    if (typeof sequence === 'string') this.counts.promised++;
    const seen = await this.#ask(path, typeof sequence === 'string' ? { 'x-rest-min-seq': sequence } : {});
    await this.#parts.relay(spend);
    const isThere = (answer: Answer | undefined): boolean => answer?.status === 200 && answer.body.equals(spend.raw);
    if (seen === undefined || isThere(seen)) return;
    // The pool of the next node that leads may be without what its peers have just got: then it comes after that.
    const isOther = typeof sequence !== 'string' || this.#parts.changes() !== before;
    const end = performance.now() + TAKEOVER_MS;
    while (isOther && performance.now() < end) {
      if (isThere(await this.#ask(path, {}))) return;
      await delay(PAUSE_MS);
    }
    this.#note(`${spend.txid} was broadcast and is not there at ${String(sequence)}: ${seen.status}`);
  }

  /** Pings, and connects again when its connection has ended. */
  async #wallet(): Promise<void> {
    const { proxy, from } = this.#parts;
    let inVain = 0;
    while (!this.#isOver) {
      const plain = connect({ host: '127.0.0.1', port: proxy.ports.electrum, localAddress: from });
      const socket = connectTls({ socket: plain, host: '127.0.0.1', ca: proxy.ca });
      const closed = new Promise((resolve) => socket.once('close', resolve));
      const client = new LineClient(socket);
      this.counts.connections++;
      for (let id = 0; !socket.destroyed; id++) {
        if (this.#hasEnded()) break;
        client.send({ id, method: id === 0 ? 'server.version' : 'server.ping', params: id === 0 ? ['test', '1.4'] : [] });
        const line = await client.line();
        if (line === undefined) {
          if (++inVain === MOST_CONNECTIONS) this.#note(`wallet: ${inVain} connections in a row had no answer`);
          break;
        }
        if (!('result' in (JSON.parse(line) as object))) this.#note(`wallet: ${line}`);
        inVain = 0;
        this.counts.wallet++;
        await delay(PAUSE_MS);
      }
      socket.destroy();
      await closed;
      if (inVain > 1) await delay(CONNECTION_PAUSE_MS);
    }
  }

  /** A method, since the compiler takes a field for unchanged. */
  #hasEnded(): boolean {
    return this.#isOver;
  }

  /** undefined: there was no answer, which is noted. */
  #ask(path: string, headers: Readonly<Record<string, string>>, body?: string): Promise<Answer | undefined> {
    const method = body === undefined ? 'GET' : 'POST';
    return new Promise<Answer>((resolve, reject) => {
      const sent = request(
        { host: '127.0.0.1', port: this.#parts.proxy.ports.http, path, method, headers, agent: this.#agent },
        (reply) => {
          const pieces: Buffer[] = [];
          reply.on('data', (piece: Buffer) => pieces.push(piece));
          reply.on('error', reject);
          reply.on('end', () => resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: Buffer.concat(pieces) }));
        }
      );
      sent.on('error', reject);
      sent.end(body);
    }).catch((error: unknown) => {
      this.#note(`${method} ${path}: ${String(error)}`);
      return undefined;
    });
  }

  #note(text: string): void {
    if (this.failures.length < MOST_FAILURES) this.failures.push(`${new Date().toISOString()} ${this.#parts.from}: ${text}`);
  }
}
