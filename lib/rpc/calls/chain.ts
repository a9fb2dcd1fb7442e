// Calls about the chain: its state, its tips, hashes by height.

import { invalidParameter } from '../../answers/errors';
import { toDisplayHex } from '../../bitcoin/hash';
import { bitsOf } from '../../bitcoin/header';
import { chainMoving } from '../../server/errors';
import { described, listOf, named, object } from '../../describe/schema';
import { ASKED_HASH, BLOCK_HASH, COUNT, HEIGHT } from '../../describe/values';
import { chainInfoSchema } from '../../views/chain-info';
import { deploymentInfoJson, deploymentInfoSchema } from '../../views/deployment-info';
import { DIFFICULTY, textsOfBits } from '../../views/header';
import { jsonAnswer, lineAnswer, plainAnswer, type CallContext, type CallDefinition } from '../call';
import { blockNotFound } from '../errors';
import type { BlockPoint } from '../../node/types/chain';

const tipOf = ({ reader }: CallContext): BlockPoint => reader.read(({ tip }) => tip);

const CHAIN_TIP = named(
  'ChainTip',
  object({
    height: HEIGHT,
    hash: BLOCK_HASH,
    branchlen: described('Blocks since the fork from the active chain; 0 for that chain.', COUNT),
    status: { enum: ['active', 'valid-fork', 'valid-headers', 'headers-only', 'invalid'] }
  })
);

export const chainCalls = {
  getblockchaininfo: {
    summary: 'The state of the chain.',
    parameters: [],
    result: chainInfoSchema,
    answer: async (_, { chainInfo }) => lineAnswer((await chainInfo.get()).text)
  },
  getblockcount: {
    summary: 'The height of the chain.',
    parameters: [],
    result: () => HEIGHT,
    answer: (_, context) => plainAnswer(tipOf(context).height)
  },
  getbestblockhash: {
    summary: 'The last block of the chain.',
    parameters: [],
    result: () => BLOCK_HASH,
    answer: (_, context) => plainAnswer(toDisplayHex(tipOf(context).hash))
  },
  getblockhash: {
    summary: 'The block at a height.',
    parameters: [{ name: 'height', type: 'number', schema: HEIGHT }],
    result: () => BLOCK_HASH,
    answer: (parameters, { reader }) => {
      const height = parameters.integer(0);
      const run = reader.read((snapshot) => (height < 0 ? undefined : snapshot.headerRun(height, 1)));
      if (run === undefined) throw invalidParameter('Block height out of range');
      return plainAnswer(toDisplayHex(run.lastHash));
    }
  },
  getchaintips: {
    summary: 'The ends of all branches that the node knows.',
    parameters: [],
    result: () => listOf(CHAIN_TIP),
    answer: async (_, { node }) => {
      const tips = await node.chainTips();
      return plainAnswer(
        tips.map(({ height, hash, branchLength, status }) => ({ height, hash: toDisplayHex(hash), branchlen: branchLength, status }))
      );
    }
  },
  getdeploymentinfo: {
    summary: 'The soft forks as a block sees them.',
    parameters: [
      { name: 'blockhash', type: 'string', isOptional: true, schema: described('The tip of the chain unless it is given.', ASKED_HASH) }
    ],
    result: deploymentInfoSchema,
    answer: async (parameters, { node, reader }) => {
      const hash = parameters.has(0) ? parameters.hash(0) : reader.read(({ tip }) => tip.hash);
      const info = await node.deploymentInfo(hash);
      if (info === undefined) throw node.resetting ? chainMoving() : blockNotFound();
      return lineAnswer(deploymentInfoJson(info));
    }
  },
  getdifficulty: {
    summary: 'How many times as hard the last block was as with the easiest target of the main network.',
    parameters: [],
    result: () => DIFFICULTY,
    answer: (_, { reader }) => jsonAnswer(Buffer.from(textsOfBits(bitsOf(reader.read(({ tip }) => tip.header))).difficulty))
  }
} satisfies Readonly<Record<string, CallDefinition>>;
