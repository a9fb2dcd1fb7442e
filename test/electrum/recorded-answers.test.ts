// The answers of ElectrumX and Fulcrum about chain A and its pool, and whether an answer is one of theirs.

import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { CODES } from '../../lib/electrum/errors';
import { PROTOCOLS, type Protocol } from '../../lib/electrum/method';
import { jsonIn } from '../support/chain/chain-a';
import { CHAIN_A_TIMEOUT_MS, copiedChain, fillChainAPool } from '../support/node/chain-a-node';
import { MethodCaller, type MethodAnswer } from '../support/node/method-caller';
import { withCoreAddresses } from '../support/recorded/core';
import { testScale } from '../support/process/scale';
import { ServedNode } from '../support/node/served-node';
import { needsShared } from '../support/recorded/shared';

/** Answers of a server to questions about one script. */
interface ScriptAnswers {
  readonly scripthash: string;
  readonly get_balance: unknown;
  readonly get_history: unknown;
  readonly get_mempool: unknown;
  readonly listunspent: unknown;
  /** Its status. */
  readonly subscribe: unknown;
}

/** A server's answer to a call, or to several calls about a script. */
type RecordedAnswer = { readonly proto: '1.4' | '1.6'; readonly method: string; readonly params?: readonly unknown[] } & Partial<
  ScriptAnswers & { result: unknown; error: { code: number; message: string } }
>;

/** The answers of both servers to the same call. */
interface RecordedPair {
  readonly electrumx: RecordedAnswer;
  readonly fulcrum: RecordedAnswer;
}

interface Difference {
  readonly asked: string;
  readonly ours: unknown;
  readonly theirs: readonly unknown[];
}

interface HistoryItem {
  readonly tx_hash: string;
  readonly height: number;
}

interface CoinItem extends HistoryItem {
  readonly tx_pos: number;
}

/** Calls about a server's identity and donation address, and one that is answered when a client connects. */
const OWN_WORDS = ['server.version', 'server.features', 'server.banner', 'server.donation_address'];

const SCRIPT_QUESTIONS = ['get_balance', 'get_history', 'get_mempool', 'listunspent', 'subscribe'] as const;

const PROTOCOL = { '1.4': '1.4.2', '1.6': '1.6' } as const;

const { unknownMethod, invalidParameters } = CODES;

const UNSUBSCRIBE = 'blockchain.scripthash.unsubscribe';

/** Calls with a number as a text or with a fraction, which both servers accept and this one refuses. */
const hasNoNumber = ({ params = [] }: RecordedAnswer): boolean =>
  params.some((value) => (typeof value === 'string' && /^\d{1,3}$/.test(value)) || (typeof value === 'number' && !Number.isInteger(value)));

/** The parts of the answers that equal neither server's. */
async function differencesOf(pairs: readonly RecordedPair[], caller: MethodCaller): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const { electrumx, fulcrum } of pairs) {
    if (electrumx.method === 'scripthash') differences.push(...(await scriptDifferences({ electrumx, fulcrum }, caller)));
    else if (!OWN_WORDS.includes(electrumx.method)) {
      // The servers were asked about this script before.
      if (electrumx.method === UNSUBSCRIBE && electrumx.result === true)
        await caller.call('blockchain.scripthash.subscribe', electrumx.params ?? []);
      const ours = await answerTo(electrumx, caller);
      if (electrumx.error === undefined && hasNoNumber(electrumx) && 'error' in ours && ours.error.code === CODES.badRequest) continue;
      const theirs = [electrumx, fulcrum].map(answerIn);
      const asked = `${electrumx.proto} ${electrumx.method} ${JSON.stringify(electrumx.params)}`;
      if (!theirs.some((one) => isSame(ours, one))) differences.push({ asked, ours, theirs });
    }
  }
  return differences;
}

async function scriptDifferences({ electrumx, fulcrum }: RecordedPair, caller: MethodCaller): Promise<Difference[]> {
  const { proto, scripthash } = electrumx;
  const differences: Difference[] = [];
  for (const question of SCRIPT_QUESTIONS) {
    const asked = `${proto} ${question} ${scripthash as string}`;
    const answer = await caller.call(`blockchain.scripthash.${question}`, [scripthash], PROTOCOL[proto]);
    const ours = 'result' in answer ? answer.result : answer;
    const theirs = [electrumx, fulcrum].map((one) => inOrder(question, one[question]));
    if (!theirs.some((one) => isDeepStrictEqual(one, ours))) differences.push({ asked, ours, theirs });
  }
  return differences;
}

/** Their answers do not order the pool's part. Orders it: coins by txid and output; before 1.6, height 0 before -1, each by txid. */
function inOrder(question: (typeof SCRIPT_QUESTIONS)[number], answer: unknown): unknown {
  if (!Array.isArray(answer)) return answer;
  const items = answer as readonly HistoryItem[];
  const ofPool = items.filter(({ height }) => height <= 0);
  const compare = (a: HistoryItem, b: HistoryItem): number =>
    b.height - a.height || (a.tx_hash < b.tx_hash ? -1 : a.tx_hash > b.tx_hash ? 1 : placeIn(a) - placeIn(b));
  const placeIn = (item: HistoryItem): number => (question === 'listunspent' ? (item as CoinItem).tx_pos : 0);
  return [...items.filter(({ height }) => height > 0), ...ofPool.sort(compare)];
}

function answerTo({ method: name, params = [], proto }: RecordedAnswer, caller: MethodCaller): Promise<MethodAnswer> | MethodAnswer {
  const protocol = PROTOCOL[proto];
  const method = caller.table[name];
  const placeOf = (one: Protocol): number => PROTOCOLS.indexOf(one);
  const { since = protocol, until = protocol } = method ?? {};
  if (method === undefined || placeOf(since) > placeOf(protocol) || placeOf(until) < placeOf(protocol))
    return { error: { code: unknownMethod, message: '' } };
  const { parameters, required } = method;
  if (params.length < required || params.length > parameters.length) return { error: { code: invalidParameters, message: '' } };
  return caller.call(name, params, protocol);
}

function answerIn({ result, error }: RecordedAnswer): MethodAnswer {
  return error === undefined ? { result } : { error };
}

function isSame(ours: MethodAnswer, theirs: MethodAnswer): boolean {
  if ('result' in ours || 'result' in theirs) return isDeepStrictEqual(ours, theirs);
  const { code, message } = theirs.error;
  if (ours.error.code !== code) return false;
  // These errors are made before a method is called; and one of them shows an internal failure.
  if (code === unknownMethod || code === invalidParameters || message.startsWith('db error')) return true;
  return ours.error.message.replace(/^null /, 'None ') === message;
}

/** Of the records without an error one in this many is tested, unless the test is to be longer. */
const STEP = 20;

describe('the Electrum protocol over chain A', () => {
  let served: ServedNode;
  let caller: MethodCaller;
  withCoreAddresses();

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    served = await ServedNode.open({ prefix: await copiedChain() });
    await fillChainAPool(served.node);
    await served.settle();
    caller = new MethodCaller(served);
  });
  after(() => served.node.close());

  it('answers like ElectrumX or Fulcrum', async () => {
    const pairs = jsonIn<RecordedPair>(join(__dirname, '../vectors/electrum/answers.jsonl.gz'));
    expect(await differencesOf(pairs, caller)).to.deep.equal([]);
  });

  it(`answers like them to every ${STEP}th of all recorded calls, or to all in a longer test`, async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    const shared = needsShared(this);
    const recorded = (server: string): RecordedAnswer[] => jsonIn(join(shared, `fixtures/wallet/A-${server}.jsonl.gz`));
    const fulcrum = recorded('fulcrum-2.1.1');
    const all = recorded('electrumx-1.20.0').map((electrumx, i): RecordedPair => ({ electrumx, fulcrum: fulcrum[i] as RecordedAnswer }));
    const pairs = all.filter(({ electrumx: { error } }, i) => testScale() > 1 || error !== undefined || i % STEP === 0);
    expect(await differencesOf(pairs, caller)).to.deep.equal([]);
  });
});
