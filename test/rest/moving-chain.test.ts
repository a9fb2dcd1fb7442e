import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { chainInfoEndpoint } from '../../lib/rest/endpoints/chaininfo';
import { restRoutes } from '../../lib/rest/routes';
import { HttpError } from '../../lib/server/errors';
import { nodeWith } from '../support/bcoin/changed-node';
import { coldAnswers } from './cold-answers';
import { endpointContext, requestFor } from '../support/client/endpoints';
import { needsNode, NO_FEED_WHILE_SHORTER } from '../support/fleet/fleet';
import { mineCoinbases, spend } from '../support/chain/regtest-chain';
import { mine } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import type { Answers } from '../../lib/answers/answers';
import type { NodeSource } from '../../lib/node/types/source';
import type { HostFullBlock } from '../support/bcoin/bcoin';

/** In the second period of BIP9 on regtest, in which signals are counted. */
const HEIGHT = 150;
const RESET_BLOCKS = 40;
const MATURE = 100;

interface Info {
  readonly blocks: number;
  readonly headers: number;
  readonly bestblockhash: string;
  readonly bip9_softforks: { readonly csv: { readonly statistics: { readonly elapsed: number } } };
}

describe('requests that are worked on while the chain moves', () => {
  let served: RestNode;
  let blocks: HostFullBlock[];

  beforeEach(async () => {
    served = await openRestNode();
    await untilReady(served);
    blocks = await mine(served.node, HEIGHT);
  });

  afterEach(() => served.node.close());

  const contextOf = (node: NodeSource): Answers => endpointContext(node, served.rest.reader);

  /** `answered` for 200 with the right bytes, otherwise status and text. */
  const outcome = async (node: NodeSource, path: string, expected: Buffer): Promise<string> => {
    const route = restRoutes(contextOf(node)).find(({ prefix }) => path.startsWith(prefix)) ?? expect.fail('a route');
    try {
      const { body } = await route.endpoint(requestFor(path.slice(route.prefix.length)));
      return body.equals(expected) ? 'answered' : `another answer: ${body.toString('latin1')}`;
    } catch (error) {
      return error instanceof HttpError ? `${error.status} ${error.message}` : String(error);
    }
  };

  for (const moment of ['while a reset deletes it', 'once a reset has deleted it'])
    it(`are never answered as if a block or its transaction did not exist, ${moment}`, async function () {
      needsNode(this, NO_FEED_WHILE_SHORTER);
      const { node, rest } = served;
      const tip = blocks.at(-1) as HostFullBlock;
      const transaction = tip.txs[0]?.toRaw() ?? expect.fail('a coinbase');
      let reads = 0;
      let goOn = (): void => undefined;
      const deleted = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      const late = nodeWith(rest.node, {
        rawBlock: async (hash) => {
          reads++;
          await deleted;
          return rest.node.rawBlock(hash);
        },
        rawBlockPart: async (...part) => {
          reads++;
          await deleted;
          return rest.node.rawBlockPart(...part);
        }
      });
      const outcomes = Promise.all([
        outcome(late, `/rest/tx/${toDisplayHex(tip.txs[0]?.hash() ?? Buffer.alloc(0))}.bin`, transaction),
        outcome(late, `/rest/block/${toDisplayHex(tip.hash())}.bin`, tip.toRaw())
      ]);
      expect(reads).to.equal(2);
      const reset = node.chain.reset(HEIGHT - RESET_BLOCKS);
      if (moment === 'while a reset deletes it') {
        while (!rest.node.resetting && node.chain.height === HEIGHT) await setImmediate();
        expect(node.chain.height).to.equal(HEIGHT);
      } else await reset;
      goOn();
      // bcoin 2.x leaves the bytes of such blocks where they are.
      for (const one of await outcomes) expect(one).to.be.oneOf(['answered', '503 Service temporarily unavailable: the chain is moving']);
      await reset;
    });

  it('are not answered with soft forks, or outputs, that the node has lost meanwhile', async function () {
    needsNode(this, 'what is held up here is in the node');
    const { node, rest } = served;
    const moving = '503 Service temporarily unavailable: the chain is moving';
    const nothing = Buffer.alloc(0);
    const tip = toDisplayHex(blocks.at(-1)?.hash() ?? nothing);
    const without = (resetting: boolean): NodeSource =>
      nodeWith(rest.node, { resetting, deploymentInfo: () => Promise.resolve(undefined) });
    expect(await outcome(without(false), '/rest/deploymentinfo.json', nothing)).to.equal(moving);
    expect(await outcome(without(true), `/rest/deploymentinfo/${tip}.json`, nothing)).to.equal(moving);
    expect(await outcome(without(false), `/rest/deploymentinfo/${'ab'.repeat(32)}.json`, nothing)).to.equal('400 Block not found');
    // A block with a spend, of which the node gets rid while it is asked what the block spends.
    const [coinbase = expect.fail('a coinbase')] = await mineCoinbases(node, MATURE);
    await spend(node, coinbase, coinbase.outputs[0]?.value ?? 0);
    await mine(node, 1);
    const late = nodeWith(rest.node, {
      spentOutputs: async () => {
        await node.chain.reset(HEIGHT);
        return undefined;
      }
    });
    const spending = toDisplayHex(rest.node.tip().hash);
    expect(await outcome(late, `/rest/spenttxouts/${spending}.bin`, nothing)).to.equal(moving);
  });

  it('describe one tip in chaininfo, also when a block comes meanwhile', async function () {
    needsNode(this, 'what is held up here is in the node');
    const { node, rest } = served;
    const tip = toDisplayHex(blocks.at(-1)?.hash() ?? Buffer.alloc(0));
    const late = nodeWith(rest.node, {
      deployments: async (hash) => {
        await mine(node, 1);
        return rest.node.deployments(hash);
      }
    });
    const info = async (of: NodeSource): Promise<Info> =>
      JSON.parse((await chainInfoEndpoint(contextOf(of))(requestFor('.json'))).body.toString()) as Info;
    const before = await info(late);
    expect(before).to.include({ blocks: HEIGHT, headers: HEIGHT, bestblockhash: tip });
    expect(before.bip9_softforks.csv.statistics.elapsed).to.equal((HEIGHT + 1) % 144);
    const after = await info(rest.node);
    expect(after).to.include({ blocks: HEIGHT + 1, headers: HEIGHT + 1 });
    expect(after.bip9_softforks.csv.statistics.elapsed).to.equal((HEIGHT + 2) % 144);
  });

  it('never have fewer headers than blocks in chaininfo while blocks are disconnected', async function () {
    needsNode(this, 'what is held up here is in the node');
    const { node } = served;
    const told: Info[] = [];
    node.chain.prependListener('disconnect', async () => {
      told.push(JSON.parse(await coldAnswers(served)('/rest/chaininfo.json')) as Info);
    });
    await mine(node, 3, (await node.chain.getEntryByHeight(HEIGHT - 2)) ?? undefined);
    expect(told.map(({ blocks: height }) => height)).to.deep.equal([HEIGHT, HEIGHT - 1]);
    for (const { blocks: height, headers } of told) expect(headers).to.equal(height);
  });
});
