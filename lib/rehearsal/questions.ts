// The questions of clients, as bytes on their connections: mostly those that are asked most. Others come between them, so that V8 has seen
// each of them before it compiles their common code for good.

import { toDisplayHex } from '../bitcoin/hash';
import type { Subject } from './subjects';

export type Question = (subject: Subject) => string;

/** A client: what it asks in turn, and how much of that together. */
export interface ClientKind {
  /** What it begins with, which has one reply; undefined: nothing. */
  readonly greeting?: string;
  readonly questions: readonly Question[];
  readonly together: number;
}

/** After each of the `seldom` ones, all of the others. */
const mixed = (often: readonly Question[], seldom: readonly Question[]): readonly Question[] => seldom.flatMap((one) => [one, ...often]);

/**
 * The headers of several clients. What looks for a header would be compiled for those of one client, and dropped when another one came: from
 * five different lists on V8 compiles it for any.
 */
const HEADERS: readonly (readonly string[])[] = [
  ['Host: localhost'],
  ['Host: localhost', 'User-Agent: rehearsal', 'Accept: */*'],
  ['Host: localhost', 'User-Agent: rehearsal', 'Accept-Encoding: gzip'],
  ['Accept: application/json', 'User-Agent: rehearsal', 'Host: localhost', 'Connection: keep-alive'],
  ['Host: localhost', 'Connection: keep-alive', 'Accept: */*', 'Accept-Language: *', 'User-Agent: rehearsal'],
  ['X-Forwarded-Proto: https', 'Host: localhost', 'User-Agent: rehearsal', 'Accept: */*', 'Referer: https://localhost/']
];

interface Requests {
  readonly get: (path: string) => string;
  /** `body`: ASCII. */
  readonly post: (path: string, body: string) => string;
}

const requestsWith = (headers: readonly string[]): Requests => {
  const before = headers.map((header) => `${header}\r\n`).join('');
  return {
    get: (path) => `GET ${path} HTTP/1.1\r\n${before}\r\n`,
    post: (path, body) => `POST ${path} HTTP/1.1\r\n${before}Content-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  };
};

const ofAllClients = (questions: (requests: Requests) => readonly Question[]): readonly Question[] =>
  HEADERS.flatMap((headers) => questions(requestsWith(headers)));

export const REST_QUESTIONS: readonly Question[] = ofAllClients(({ get, post }) =>
  mixed(
    [({ txid }) => get(`/rest/tx/${toDisplayHex(txid)}.json`), ({ block }) => get(`/rest/headers/5/${toDisplayHex(block.hash)}.json`)],
    [
      () => get('/rest/chaininfo.json'),
      ({ txid }) => get(`/rest/tx/${toDisplayHex(txid)}.hex`),
      ({ txid }) => get(`/rest/getutxos/${toDisplayHex(txid)}-0.json`),
      ({ block }) => get(`/rest/headers/1/${toDisplayHex(block.hash)}.bin`),
      () => get('/rest/mempool/info.json'),
      ({ txid }) => post('/rest/getutxos.hex', `0001${txid.toString('hex')}00000000`),
      // The node itself answers, or refuses: otherwise V8 would drop much of what it has compiled for HTTP when that happens first.
      () => get('/')
    ]
  )
);

/** `path`: of Esplora's API. */
export const esploraQuestions = (path: string): readonly Question[] =>
  ofAllClients(({ get }) =>
    mixed(
      [({ script }) => get(`${path}/scripthash/${script.toString('hex')}/txs`), ({ txid }) => get(`${path}/tx/${toDisplayHex(txid)}`)],
      [
        () => get(`${path}/blocks/tip/height`),
        ({ script }) => get(`${path}/scripthash/${script.toString('hex')}/utxo`),
        ({ script }) => get(`${path}/scripthash/${script.toString('hex')}`),
        ({ txid }) => get(`${path}/tx/${toDisplayHex(txid)}/status`),
        ({ txid }) => get(`${path}/tx/${toDisplayHex(txid)}/outspends`),
        ({ block }) => get(`${path}/block-height/${block.height}`)
      ]
    )
  );

const call = (method: string, ...params: readonly unknown[]): string => `${JSON.stringify({ jsonrpc: '2.0', id: 0, method, params })}\n`;

const ofScript =
  (name: string): Question =>
  ({ script }) =>
    call(`blockchain.scripthash.${name}`, toDisplayHex(script));

/** A script that nobody has paid, as most that wallets ask about. */
const ofUnused =
  (name: string): Question =>
  ({ txid }) =>
    call(`blockchain.scripthash.${name}`, toDisplayHex(txid));

/** Another such script. */
const ofAnother =
  (name: string): Question =>
  ({ txid }) =>
    call(`blockchain.scripthash.${name}`, txid.toString('hex'));

/** Calls in one line. */
const inBatch =
  (...questions: readonly Question[]): Question =>
  (subject) =>
    `[${questions.map((question) => question(subject).trimEnd()).join(',')}]\n`;

const CALLS: readonly Question[] = mixed(
  [ofScript('get_history'), ofScript('subscribe'), ofScript('get_balance'), ofScript('listunspent')],
  [
    () => call('server.ping'),
    ofUnused('subscribe'),
    ({ txid }) => call('blockchain.transaction.get', toDisplayHex(txid)),
    ({ block }) => call('blockchain.block.header', block.height),
    ofUnused('get_history'),
    ({ txid, height }) => call('blockchain.transaction.get_merkle', toDisplayHex(txid), height),
    () => call('blockchain.headers.subscribe'),
    () => call('blockchain.estimatefee', 2),
    () => call('mempool.get_fee_histogram'),
    inBatch(ofScript('get_history'), ofScript('subscribe'), ofUnused('subscribe')),
    ofScript('unsubscribe')
  ]
);

/** What a wallet asks when it starts: most of its scripts are unused. */
const SUBSCRIPTIONS: readonly Question[] = [ofScript, ofAnother, ofUnused, ofAnother].map((of) => of('subscribe'));

/** Without it V8 would drop at the first client's what it has compiled for every request. `asked`: the protocol version. */
const greetingFor = (asked: string | readonly [string, string]): string => call('server.version', 'rehearsal', asked);

export const ELECTRUM_CLIENTS: readonly ClientKind[] = [
  { greeting: greetingFor('1.4'), questions: CALLS, together: 1 },
  { greeting: greetingFor(['1.4', '1.4.2']), questions: CALLS, together: 1 },
  { greeting: greetingFor(['1.4', '1.6']), questions: CALLS, together: 16 },
  { greeting: greetingFor('1.4'), questions: SUBSCRIPTIONS, together: 100 }
];
