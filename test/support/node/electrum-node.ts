// A real node that answers the Electrum protocol with methods for tests of the transport.

import { BehaviorSubject } from 'rxjs';
import { CODES, ElectrumError } from '../../../lib/electrum/errors';
import { freePort, type RegtestOptions } from '../bcoin/regtest-node';
import { gatedBy, ServedNode, type Replacements } from './served-node';
import { runInSlices } from '../../../lib/turns/slices';
import { until } from '../expectations/until';
import type { AddressInfo } from 'node:net';
import type { Answers } from '../../../lib/answers/answers';
import type { ElectrumService } from '../../../lib/electrum/electrum-service';
import type { Method, MethodTable, NotifiedClient } from '../../../lib/electrum/method';
import type { ClosableSubscriptions } from '../../../lib/electrum/server/session';

export interface ElectrumNode extends Pick<ServedNode, 'node' | 'answers' | 'serving' | 'log'> {
  readonly electrum: ElectrumService;
  /** Whether methods are answered. */
  readonly ready$: BehaviorSubject<boolean>;
  /** The first of the protocol's ports. */
  readonly port: number;
  readonly httpPort: number;
  /** Clients that get notifications. */
  readonly notified: ReadonlySet<NotifiedClient>;
}

export interface ElectrumNodeOptions extends RegtestOptions, Pick<Replacements, 'isOwn' | 'inMemory'> {
  /** Is given what lets a request go on that waits. */
  readonly held?: (release: () => void) => void;
}

/** Opens a node that answers. */
export async function openElectrumNode({
  held,
  isOwn,
  inMemory,
  settings = {},
  ...regtest
}: ElectrumNodeOptions = {}): Promise<ElectrumNode> {
  const ready$ = new BehaviorSubject(true);
  const notified = new Set<NotifiedClient>();
  const served = await ServedNode.open(
    { ...regtest, settings: { 'rest-electrum': await freePort(), ...settings } },
    {
      ...(isOwn && { isOwn }),
      ...(inMemory !== undefined && { inMemory }),
      ...gatedBy(ready$),
      methods: (context) => transportMethods(context, held),
      subscriptionsOf: (client) => subscriptionsOf(client, notified)
    }
  );
  const { node, answers, serving, log, port: httpPort } = served;
  const { electrum } = served.wallets;
  await until(() => electrum.addresses.length === ('rest-electrum-tls' in settings ? 2 : 1));
  const { port } = electrum.addresses[0] as AddressInfo; // it listens
  return { node, answers, serving, log, electrum, ready$, port, httpPort, notified };
}

/** The subscriptions of a client that is told nothing. It counts as subscribed once it has tried to unsubscribe from something. */
function subscriptionsOf(client: NotifiedClient, notified: Set<NotifiedClient>): ClosableSubscriptions {
  let isEmpty = true;
  notified.add(client);
  return {
    get isEmpty() {
      return isEmpty;
    },
    addHeaders: () => undefined,
    addScript: () => Promise.resolve(undefined),
    removeScript: () => (isEmpty = false),
    statusOf: () => undefined,
    addOutpoint: () => Promise.resolve('{}'),
    removeOutpoint: () => false,
    close: () => void notified.delete(client)
  };
}

const LETTER = 0x61;

const letters: Method['answer'] = ([count]) => Promise.resolve(Buffer.from(`"${String.fromCharCode(LETTER).repeat(Number(count))}"`));

/** Ends when the client has gone. */
function* work(): Generator<void, string> {
  for (;;) yield;
}

/** Some of the protocol's methods, and some that wait, fail, or return long replies. `held`: is given what lets a waiting request go on. */
function transportMethods({ reader }: Answers, held?: (release: () => void) => void): MethodTable {
  const about = { summary: '', parameters: [], result: {} };
  const method = (parameters: readonly string[], answer: Method['answer'], more: Partial<Method> = {}): Method => ({
    about,
    parameters,
    required: parameters.length,
    answer,
    ...more
  });
  return {
    'server.ping': method([], () => Promise.resolve('null')),
    'server.banner': method([], () => Promise.resolve('"hello"')),
    'blockchain.relayfee': method([], () => Promise.resolve('0.00001'), { until: '1.5' }),
    'mempool.get_info': method([], () => Promise.resolve('{}'), { since: '1.6' }),
    'blockchain.block.header': {
      about,
      parameters: ['height', 'cp_height'],
      required: 1,
      answer: ([height]) => {
        const header = reader.read((snapshot) => (typeof height === 'number' ? snapshot.headerAt(height) : undefined));
        if (header === undefined) return Promise.reject(new ElectrumError(CODES.badRequest, 'height out of range'));
        return Promise.resolve(JSON.stringify(header.header.toString('hex')));
      }
    },
    'blockchain.transaction.broadcast': method(['raw_tx'], () => Promise.reject(new ElectrumError(CODES.badRequest, 'rejected'))),
    'test.now': method([], () => '"now"'),
    'test.work': method([], (_, client) => runInSlices(work(), client)),
    'test.hold': method(
      [],
      () =>
        new Promise((resolve) => {
          held?.(() => {
            resolve('"held"');
          });
        })
    ),
    'test.letters': method(['count'], letters, { isHeavy: true }),
    'test.small': method(['count'], letters),
    'test.charge': method(['points'], ([points], client) => {
      client.charge(Number(points));
      return Promise.resolve('null');
    }),
    'test.subscribe': method([], (_, client) => {
      client.subscriptions.removeScript(Buffer.alloc(0));
      return Promise.resolve('null');
    }),
    'test.fail': method([], () => Promise.reject(new TypeError('something that nobody thought of'))),
    'test.throw': method([], () => {
      throw new TypeError('something that nobody thought of');
    })
  };
}
