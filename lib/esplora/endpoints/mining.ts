// A block to mine, as the node's own getblocktemplate gives it.

import { described, listOf, mapOf, named, object } from '../../describe/schema';
import {
  BLOCK_HASH,
  BYTES,
  COUNT,
  FLAG,
  HASH,
  HEIGHT,
  HEX,
  INTEGER,
  SATOSHIS,
  TEXT,
  TIME,
  TXID,
  WEIGHT,
  WORD
} from '../../describe/values';
import { json, refused, type Operation } from '../../describe/open-api';
import { noMining, noTemplate } from '../errors';
import { jsonReply } from '../reply';
import type { EsploraReply } from '../reply';
import type { EsploraContext, Route } from '../endpoint';

/** What miners of today know. */
const REQUEST = { rules: ['segwit'] };

export function miningRoutes(context: Pick<EsploraContext, 'node' | 'mining'>): Route[] {
  const { mining } = context;
  return [
    {
      method: 'GET',
      path: '/block-template',
      endpoint: mining ? () => templateOf(context) : () => Promise.reject(noMining()),
      isHeavy: true,
      operation: mining ? OPERATION : refused(OPERATION, 403, 'This server gives out no blocks to mine.')
    }
  ];
}

/** Of this moment: nobody may keep it. @throws HttpError 502 */
async function templateOf({ node }: Pick<EsploraContext, 'node'>): Promise<EsploraReply> {
  const { error, result } = await node.ownCall('getblocktemplate', [REQUEST]);
  if (error !== null) throw noTemplate(error);
  return { ...jsonReply(JSON.stringify(result)), isStored: false };
}

const BLOCK_TEMPLATE = named(
  'BlockTemplate',
  object(
    {
      capabilities: listOf(TEXT),
      mutable: described('What a miner may change.', listOf(TEXT)),
      version: COUNT,
      rules: described('The soft forks that are active.', listOf(TEXT)),
      vbavailable: described('Soft forks that are being decided, with their bits.', mapOf(TEXT, COUNT)),
      vbrequired: COUNT,
      height: HEIGHT,
      previousblockhash: BLOCK_HASH,
      target: HASH,
      bits: WORD,
      noncerange: HEX,
      curtime: TIME,
      mintime: TIME,
      maxtime: TIME,
      expires: TIME,
      sigoplimit: COUNT,
      sizelimit: BYTES,
      longpollid: TEXT,
      submitold: FLAG,
      coinbaseaux: object({ flags: HEX }),
      coinbasevalue: SATOSHIS,
      transactions: listOf(
        object({
          data: HEX,
          txid: TXID,
          hash: HASH,
          depends: described('Places in this list, from 1, of those from which it spends.', listOf(COUNT)),
          fee: SATOSHIS,
          sigops: COUNT,
          weight: WEIGHT
        })
      )
    },
    { weightlimit: WEIGHT, default_witness_commitment: described('The script of the output that commits to the witnesses.', HEX) }
  )
);

const OPERATION: Operation = {
  id: 'getBlockTemplate',
  summary: 'A block to mine, of the transactions in the pool (BIP22, BIP145).',
  answer: json('The block.', BLOCK_TEMPLATE),
  errors: { 502: json('The node gives none; its error.', object({ error: object({ code: INTEGER, message: TEXT }) })) }
};
