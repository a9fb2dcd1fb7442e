// A process that only sends requests and receives notifications: takes orders from its parent (line-client.ts).

import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { lineReplies, type OnReply } from './replies';
import { batchOf, CALLS, GREETING, lineOf } from './requests';
import type { Request } from './ask-client';
import type { HoldOrder, Order, SmallOrder, Told, ToldOrder, Wait, Waits } from './line-client';

/** Sessions that subscribe at the same time, and subscriptions in one batch. */
const AT_ONCE = 8;
const IN_BATCH = 51;
/** Pause between small requests of a connection. */
const PERIOD_MS = 5;
const SMALL_CONNECTIONS = 2;
const NOTIFIED = Buffer.from('"method":"blockchain.scripthash');

const now = (): number => performance.timeOrigin + performance.now();

/** A connection whose lines are passed on. */
async function open(port: number, onLine: OnReply): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket.setNoDelay(true).on('data', lineReplies(onLine));
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
    let reply: (line: Buffer, isRefused: boolean) => void = () => undefined;
    let isListening = false;
    const socket = await open(port, (line, isRefused) => {
      if (isListening) hear(line);
      else reply(line, isRefused);
    });
    const asked = async ({ text }: Request): Promise<void> => {
      const replied = new Promise<void>((resolve, reject) => {
        reply = (line, isRefused) => {
          if (isRefused) reject(new Error(`expected subscriptions, got ${line.toString('latin1', 0, 300)}`));
          else resolve();
        };
      });
      socket.write(text);
      await replied;
    };
    await asked(GREETING);
    const calls = names.map((name) => CALLS.subscribe(name));
    if (calls.length > 0) calls.unshift(CALLS.newHeaders());
    for (let at = 0; at < calls.length; at += IN_BATCH) await asked(batchOf(calls.slice(at, at + IN_BATCH)));
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
    const socket = await open(port, () => {
      reply();
    });
    const waits = await again(async () => {
      const replied = new Promise<void>((resolve) => (reply = resolve));
      socket.write(lineOf(CALLS.ping()).text);
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
