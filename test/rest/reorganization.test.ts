import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { scanBlock } from '../../lib/bitcoin/block';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { coldAnswer } from '../support/cold-answers';
import { ask } from '../support/http';
import { mine } from '../support/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/rest-node';
import type { HostFullBlock } from '../support/bcoin';

const SHARED_BLOCKS = 70;
const BRANCH = 24;
const CLIENTS = 8;

/** Asked for about each block. */
const ABOUT_BLOCKS = ['block/$.json', 'block/$.hex', 'block/notxdetails/$.json', 'headers/1/$.json', 'headers/100/$.json', 'headers/100/$.hex', 'headers/100/$.bin'];

/** The right answers to each path, one for each state that the chain goes through. */
type Answers = Map<string, Set<string>>;

const idOf = (block: HostFullBlock): string => toDisplayHex(scanBlock(block.toRaw()).hash);

/** Of chain info, what the index says; the rest is the node's at the moment of the question. */
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

  const note = async (of: RestNode, paths: readonly string[], answers: Answers): Promise<void> => {
    for (const path of paths) {
      const right = answers.get(path) ?? new Set();
      answers.set(path, right.add(comparable(path, await coldAnswer(of, path))));
    }
  };

  const pathsAbout = (blocks: readonly HostFullBlock[]): string[] =>
    ['/rest/chaininfo.json', ...blocks.flatMap((block) => ABOUT_BLOCKS.map((about) => `/rest/${about.replace('$', idOf(block))}`))];

  it('are each of one state of the chain', async function () {
    this.timeout(120_000);
    const shared = await mine(rehearsal.node, SHARED_BLOCKS);
    const fork = rehearsal.node.chain.tip;
    const before = await mine(rehearsal.node, BRANCH);
    const after = await mine(rehearsal.node, BRANCH + 1, fork);
    const asked = [shared.at(-1), ...before.slice(0, 2), before.at(-1), ...after.slice(0, 2)].filter((block) => block !== undefined);
    const paths = pathsAbout(asked);
    const answers: Answers = new Map();
    // Every state that a change of branches goes through, one after the other.
    for (const branch of [before, after]) {
      await rehearsal.node.chain.reset(SHARED_BLOCKS);
      await untilReady(rehearsal);
      await note(rehearsal, paths, answers);
      for (const block of branch) {
        await rehearsal.node.chain.add(block);
        await note(rehearsal, paths, answers);
      }
    }

    for (const block of [...shared, ...before, ...after.slice(0, BRANCH)]) await served.node.chain.add(block);
    await note(served, paths, answers);
    const given: { path: string; body: string }[] = [];
    let over = false;
    const client = async (first: number): Promise<void> => {
      for (let i = first; !over; i++) {
        const path = paths[i % paths.length] ?? '';
        given.push({ path, body: (await ask(served.port, { path })).body.toString('latin1') });
      }
    };
    const clients = Array.from({ length: CLIENTS }, (_, i) => client(i * 5));
    await served.node.chain.add(after.at(-1) ?? expect.fail('a block'));
    over = true;
    await Promise.all(clients);
    await note(served, paths, answers);

    for (const { path, body } of given) expect(answers.get(path)?.has(comparable(path, body)), `${path}: ${body}`).to.equal(true);
    expect(new Set(given.map(({ body }) => body)).size, 'answers of several states').to.be.above(paths.length / 4);
  });
});
