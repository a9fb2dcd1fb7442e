// /rest/deploymentinfo.json and /rest/deploymentinfo/<hash>.json: the soft forks as the tip, or any block that the node knows, sees them.

import { chainMoving } from '../../server/errors';
import { deploymentInfoJson, deploymentInfoSchema } from '../../views/deployment-info';
import { blockNotFound } from '../errors';
import { jsonReply, parseHash, requireJson, splitSuffix } from '../format';
import { inFormats, NO_SUCH_FORMAT, OF_BLOCK } from '../operations';
import type { Answers } from '../../answers/answers';
import type { Endpoint } from '../endpoint';
import type { PlacedOperation } from '../../describe/open-api';

export function deploymentInfoEndpoint({ node, reader }: Answers): Endpoint {
  return async ({ pathOnly }) => {
    requireJson(pathOnly);
    const { parameter } = splitSuffix(pathOnly);
    const given = parameter === '' ? undefined : parseHash(parameter);
    const { tip, isActive } = reader.read((snapshot) => ({
      tip: snapshot.tip,
      isActive: given === undefined || snapshot.heightOf(given) !== undefined
    }));
    const hash = given ?? tip.hash;
    const info = await node.deploymentInfo(hash);
    if (info === undefined) throw node.resetting || parameter === '' ? chainMoving() : blockNotFound();
    // The node may drop blocks off the active chain at any time, so these replies are not cached.
    return jsonReply(deploymentInfoJson(info), isActive ? tip : undefined);
  };
}

/** As the tip sees them. */
export const deploymentInfoOperations = (): PlacedOperation[] =>
  inFormats({
    id: 'getDeploymentInfo',
    path: '/deploymentinfo',
    summary: 'The soft forks as the tip of the chain sees them.',
    formats: { json: { description: 'The soft forks.', schema: deploymentInfoSchema() } },
    errors: { 404: NO_SUCH_FORMAT }
  });

export const deploymentInfoOfBlockOperations = (): PlacedOperation[] =>
  inFormats({
    id: 'getDeploymentInfoOfBlock',
    path: '/deploymentinfo/{hash}',
    summary: 'The soft forks as a block sees them.',
    parameters: [OF_BLOCK],
    formats: { json: { description: 'The soft forks.', schema: deploymentInfoSchema() } },
    errors: { 400: 'The hash is not 64 hex digits, or the node does not know the block.', 404: NO_SUCH_FORMAT }
  });
