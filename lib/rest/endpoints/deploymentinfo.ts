// /rest/deploymentinfo.json and /rest/deploymentinfo/<hash>.json: the soft forks as the tip, or any block that the node knows, sees them.

import { chainMoving } from '../../server/errors';
import { deploymentInfoJson } from '../../views/deployment-info';
import { blockNotFound } from '../errors';
import { jsonReply, parseHash, requireJson, splitSuffix } from '../format';
import type { Answers } from '../../answers/answers';
import type { Endpoint } from '../endpoint';

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
