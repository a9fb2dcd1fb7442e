// A process that only sends requests and receives notifications: takes orders from its parent (line-client.ts).

import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { AskOrder, Asked, Call, HoldOrder, Order, SmallOrder, Told, ToldOrder, Wait, Waits } from './line-client';

const NEW_LINE = 10;
/** Sessions that subscribe at the same time, and subscriptions in one batch. */
const AT_ONCE = 8;
const IN_BATCH = 50;
/** Pause between small requests of a connection. */
const PERIOD_MS = 5;
const SMALL_CONNECTIONS = 2;
const HEADERS = 'blockchain.headers.subscribe';
const NOTIFIED = Buffer.from('"method":"blockchain.scripthash');

const now = (): number => performance.timeOrigin + performance.now();

const textOf = ({ method, params }: Call, id: number): string => JSON.stringify({ jsonrpc: '2.0', id, method, params });

/** A connection and the lines that it receives. */
class Lines {
  readonly socket: Socket;
  #begun: Buffer[] = [];

  constructor(socket: Socket, onLine: (line: Buffer) => void) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      for (let at = 0; at < chunk.length;) {
        const end = chunk.indexOf(NEW_LINE, at);
        const part = chunk.subarray(at, end < 0 ? undefined : end);
        at += part.length + 1;
        if (end < 0) this.#begun.push(part);
        else if (this.#begun.length === 0) onLine(part);
        else onLine(Buffer.concat([...this.#begun.splice(0), part]));
      }
    });
  }

  static async open(port: number, onLine: (line: Buffer) => void): Promise<Lines> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new Lines(socket, onLine);
  }
}

const ERROR = Buffer.from('"error":{');

async function ask({ port, calls, connections, amount }: AskOrder): Promise<Asked> {
  let [begun, answered, refused, bytes] = [0, 0, 0, 0];
  await Promise.all(
    Array.from({ length: Math.min(connections, amount) }, async () => {
      let done: () => void = () => undefined;
      const ended = new Promise<void>((resolve) => (done = resolve));
      const next = ({ socket }: Lines): void => {
        if (begun === amount) {
          socket.destroy();
          done();
          return;
        }
        const call = calls[begun % calls.length] as Call; // there is one
        socket.write(`${textOf(call, begun++)}\n`);
      };
      const lines: Lines = await Lines.open(port, (line) => {
        if (line.length < 300 && line.includes(ERROR)) refused++;
        else answered++;
        bytes = line.length;
        next(lines);
      });
      next(lines);
      await ended;
    })
  );
  return { answered, refused, bytes };
}

const told = { scripts: 0, headers: 0, bytes: 0, firstAt: 0, lastAt: 0 };
let onTold: () => void = () => undefined;

function hear(line: Buffer): void {
  const at = now();
  if (told.scripts + told.headers === 0) told.firstAt = at;
  if (line.includes(NOTIFIED)) {
    told.scripts++;
    told.lastAt = at;
  } else told.headers++;
  told.bytes += line.length;
  onTold();
}

async function hold({ port, scripts }: HoldOrder): Promise<undefined> {
  const waiting = [...scripts];
  const subscribe = async (names: readonly string[]): Promise<void> => {
    let reply: () => void = () => undefined;
    let isListening = false;
    const lines = await Lines.open(port, (line) => {
      if (isListening) hear(line);
      else reply();
    });
    const asked = async (calls: readonly Call[]): Promise<void> => {
      const replied = new Promise<void>((resolve) => (reply = resolve));
      lines.socket.write(`[${calls.map(textOf).join(',')}]\n`);
      await replied;
    };
    for (let at = 0; at < names.length; at += IN_BATCH)
      await asked(names.slice(at, at + IN_BATCH).map((name) => ({ method: 'blockchain.scripthash.subscribe', params: [name] })));
    if (names.length > 0) await asked([{ method: HEADERS, params: [] }]);
    isListening = true;
  };
  const work = async (): Promise<void> => {
    for (let names = waiting.shift(); names !== undefined; names = waiting.shift()) await subscribe(names);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return undefined;
}

async function untilTold({ scripts, headers }: ToldOrder): Promise<Told> {
  await new Promise<void>((resolve) => {
    onTold = () => {
      if (told.scripts >= scripts && told.headers >= headers) resolve();
    };
    onTold();
  });
  const { firstAt, lastAt, bytes } = told;
  Object.assign(told, { scripts: 0, headers: 0, bytes: 0 });
  return { firstAt, lastAt, bytes };
}

let isStopped = false;
let small: Promise<Waits> | undefined;

/** Sends one request after another, every few milliseconds unless an answer is late. */
async function again(request: () => Promise<void>): Promise<Wait[]> {
  const waits: Wait[] = [];
  while (!isStopped) {
    const at = now();
    await request();
    const ms = now() - at;
    waits.push({ at, ms });
    if (ms < PERIOD_MS) await new Promise((resolve) => setTimeout(resolve, PERIOD_MS - ms));
  }
  return waits;
}

async function askSmall({ port, httpPort }: SmallOrder): Promise<Waits> {
  isStopped = false;
  const agent = new Agent({ keepAlive: true });
  const pinging = async (): Promise<Wait[]> => {
    let reply: () => void = () => undefined;
    const { socket } = await Lines.open(port, () => {
      reply();
    });
    const waits = await again(async () => {
      const replied = new Promise<void>((resolve) => (reply = resolve));
      socket.write(`${textOf({ method: 'server.ping', params: [] }, 1)}\n`);
      await replied;
    });
    socket.destroy();
    return waits;
  };
  const state = (): Promise<void> =>
    new Promise((resolve, reject) => {
      get({ port: httpPort, host: '127.0.0.1', path: '/rest/chaininfo.json', agent }, (response) => {
        response.resume();
        response.on('end', resolve);
      }).on('error', reject);
    });
  const connections = Array.from({ length: SMALL_CONNECTIONS });
  const [pings, states] = await Promise.all([Promise.all(connections.map(pinging)), Promise.all(connections.map(() => again(state)))]);
  agent.destroy();
  return { pings: pings.flat(), states: states.flat() };
}

async function run(order: Order): Promise<unknown> {
  switch (order.type) {
    case 'ask':
      return ask(order);
    case 'reach':
      return Lines.open(order.port, () => undefined).then(
        ({ socket }) => socket.destroy().destroyed,
        () => false
      );
    case 'hold':
      return hold(order);
    case 'told':
      return untilTold(order);
    case 'small':
      small = askSmall(order);
      return undefined;
    case 'stop':
      isStopped = true;
      return small;
  }
}

process.on('message', (order: Order) => {
  run(order).then(
    (result) => process.send?.([result]),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    }
  );
});

process.on('disconnect', () => process.exit());
