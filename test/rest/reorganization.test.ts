import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { scanBlock } from '../../lib/bitcoin/block';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { coldAnswers } from './cold-answers';
import { needsNode } from '../support/fleet/fleet';
import { ask } from '../support/client/http';
import { mine } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import type { HostFullBlock } from '../support/bcoin/bcoin';

const SHARED_BLOCKS = 70;
const BRANCH = 24;
const CLIENTS = 8;

/** Paths that are requested for each block. */
const ABOUT_BLOCKS = [
  'block/$.json',
  'block/$.hex',
  'block/notxdetails/$.json',
  'headers/1/$.json',
  'headers/100/$.json',
  'headers/100/$.hex',
  'headers/100/$.bin'
];

/** The right answers by path, in each state of the chain. */
type Answers = ReadonlyMap<string, string>;

interface Given {
  readonly path: string;
  readonly body: string;
  /** The states when the request was sent and when the reply came, counted from the first one. */
  readonly from: number;
  readonly to: number;
}

const idOf = (block: HostFullBlock): string => toDisplayHex(scanBlock(block.toRaw()).hash);

const tipOf = ({ rest }: RestNode): string => toDisplayHex(rest.reader.read(({ tip }) => tip.hash));

/** Of chaininfo only what comes from the index; the rest is the node's at the time of the request. */
function comparable(path: string, body: string): string {
  if (!path.startsWith('/rest/chaininfo')) return body;
  const { blocks, bestblockhash, chainwork, mediantime } = JSON.parse(body) as Record<string, unknown>;
  return JSON.stringify([blocks, bestblockhash, chainwork, mediantime]);
}

describe('answers while the chain is reorganized', () => {
  let rehearsal: RestNode;
  let served: RestNode;

  beforeEach(async () => {
    rehearsal = await openRestNode();
    served = await openRestNode();
    await Promise.all([untilReady(rehearsal), untilReady(served)]);
  });

  afterEach(async () => {
    await rehearsal.node.close();
    await served.node.close();
  });

  const answersOf = async (of: RestNode, paths: readonly string[]): Promise<Answers> => {
    const cold = coldAnswers(of);
    const answers = new Map<string, string>();
    for (const path of paths) answers.set(path, comparable(path, await cold(path)));
    return answers;
  };

  const pathsAbout = (blocks: readonly HostFullBlock[]): string[] => [
    '/rest/chaininfo.json',
    ...blocks.flatMap((block) => ABOUT_BLOCKS.map((about) => `/rest/${about.replace('$', idOf(block))}`))
  ];

  it('are each of one state of the chain', async function () {
    needsNode(this, 'a reader hears of each step a moment later than its node');
    this.timeout(120_000);
    const shared = await mine(rehearsal.node, SHARED_BLOCKS);
    const fork = rehearsal.node.chain.tip;
    const before = await mine(rehearsal.node, BRANCH);
    const after = await mine(rehearsal.node, BRANCH + 1, fork);
    const asked = [shared.at(-1), ...before.slice(0, 2), before.at(-1), ...after.slice(0, 2)].filter((block) => block !== undefined);
    const paths = pathsAbout(asked);
    // Every state through which a change of branches passes, one after the other.
    const states = new Map<string, Answers>();
    for (const branch of [before, after]) {
      await rehearsal.node.chain.reset(SHARED_BLOCKS);
      await untilReady(rehearsal);
      states.set(tipOf(rehearsal), await answersOf(rehearsal, paths));
      for (const block of branch) {
        await rehearsal.node.chain.add(block);
        states.set(tipOf(rehearsal), await answersOf(rehearsal, paths));
      }
    }
    const tips = [...before.map(idOf).reverse(), ...shared.slice(-1).map(idOf), ...after.map(idOf)];

    for (const block of [...shared, ...before, ...after.slice(0, BRANCH)]) await served.node.chain.add(block);
    const first = await answersOf(served, paths);
    const given: Given[] = [];
    const stateNow = (): number => tips.indexOf(tipOf(served));
    const put = async (path: string): Promise<void> => {
      const from = stateNow();
      const { body } = await ask(served.port, { path });
      given.push({ path, body: comparable(path, body.toString('latin1')), from, to: stateNow() });
    };
    let over = false;
    const client = async (start: number): Promise<void> => {
      for (let i = start; !over; i++) await put(paths[i % paths.length] ?? '');
    };
    const clients = Array.from({ length: CLIENTS }, (_, i) => client(i * 5));
    await served.node.chain.add(after.at(-1) ?? expect.fail('a block'));
    over = true;
    await Promise.all(clients);
    for (const path of paths) await put(path);
    const last = await answersOf(served, paths);

    // The rehearsal has no answers about blocks off the chain; those never change.
    const newIds = after.map(idOf);
    const offChain = (path: string): string | undefined => (newIds.some((id) => path.includes(id)) ? first : last).get(path);
    const isRight = (tip: string, { path, body }: Given): boolean => {
      const right = states.get(tip)?.get(path);
      return body === (right?.endsWith('not found\r\n') === true ? offChain(path) : right);
    };
    for (const answer of given)
      expect(
        tips.slice(answer.from, answer.to + 1).some((tip) => isRight(tip, answer)),
        `${answer.path}: ${answer.body}`
      ).to.equal(true);
    expect(new Set(given.map(({ from }) => from)).size, 'states in which something was asked').to.be.above(2);
  });
});
