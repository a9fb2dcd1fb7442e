// What mempool's front end asks of the server itself: everything to start with, what it runs on, addresses, prices.

import { acceptedPrefixes, scriptOfAddress } from '../../bitcoin/address';
import { isScriptHash, witnessProgramOf } from '../../bitcoin/script-type';
import { inPath, inQuery, json, refused, type Operation } from '../../describe/open-api';
import { described, listOf, mapOf, named, object } from '../../describe/schema';
import { COUNT, FLAG, HEX, INTEGER, NUMBER, TEXT } from '../../describe/values';
import { extendedBlock } from '../blocks';
import { noPricesOnTestnets } from '../errors';
import { arrayOf, objectOf } from '../messages';
import { jsonReply } from '../reply';
import { backendInfo, initialFields, NO_PRICES } from './state';
import { DIFFICULTY_ADJUSTMENT } from './difficulty';
import { PROJECTED_BLOCK } from './projected-block';
import { RECOMMENDED_FEES } from '../../answers/pool/recommended-fees';
import { EXTENDED_BLOCK } from '../../views/esplora/extended-block';
import { mempoolInfoSchema } from '../../views/pool-info';
import type { IndexSnapshot } from '../../index/types';
import type { Client } from '../../turns/client';
import type { EsploraContext, Route } from '../endpoint';

/** As many as mempool sends at the start. */
export const FIRST_BLOCKS = 8;

export function serverRoutes(context: EsploraContext): Route[] {
  const { node, scripts } = context;
  const isMain = node.network.chain === 'main';
  return [
    {
      method: 'GET',
      path: '/v1/init-data',
      endpoint: (request) =>
        scripts.read(async ({ index }) => {
          const blocks = await lastBlocks(index.tip.height, index, request, context);
          return jsonReply(objectOf([['blocks', blocks], ...(await initialFields(context, index))]));
        }),
      isHeavy: true,
      operation: { id: 'getInitData', summary: "What mempool's front end starts with.", answer: json('The parts.', INIT_DATA) }
    },
    {
      method: 'GET',
      path: '/v1/backend-info',
      endpoint: () => Promise.resolve(jsonReply(JSON.stringify(backendInfo(context)))),
      operation: { id: 'getBackendInfo', summary: 'What the server runs on.', answer: json('Versions.', BACKEND_INFO) }
    },
    {
      method: 'GET',
      path: '/v1/validate-address/:address',
      endpoint: (request) => Promise.resolve(jsonReply(JSON.stringify(addressInformation(request.parameter('address'), context)))),
      operation: {
        id: 'validateAddress',
        summary: 'Whether an address is one of this network.',
        parameters: [inPath('address', 'The address.', TEXT)],
        answer: json('What it pays to.', ADDRESS_INFORMATION)
      }
    },
    {
      method: 'GET',
      path: '/v1/prices',
      endpoint: () => Promise.resolve(jsonReply(JSON.stringify(NO_PRICES))),
      operation: { id: 'getPrices', summary: 'Prices, which this server does not know.', answer: json('-1 for each currency.', PRICES) }
    },
    {
      method: 'GET',
      path: '/v1/historical-price',
      endpoint: () => (isMain ? Promise.resolve(jsonReply('{"prices":[],"exchangeRates":{}}')) : Promise.reject(noPricesOnTestnets())),
      operation: isMain ? HISTORICAL_PRICES : refused(HISTORICAL_PRICES, 400, 'Coins of this network have no price.')
    }
  ];
}

/** The blocks up to a height: a JSON array, in ascending order. @throws HttpError 503 when the node does not have one of them */
export async function lastBlocks(
  top: number,
  index: IndexSnapshot,
  client: Client,
  context: Pick<EsploraContext, 'blocks' | 'extended'>
): Promise<Buffer> {
  const texts: Buffer[] = [];
  for (let height = Math.max(0, top - FIRST_BLOCKS + 1); height <= top; height++) {
    const block = index.headerAt(height);
    if (block === undefined) throw new RangeError(`expected a height up to ${index.tip.height}, got ${height}`);
    texts.push((await extendedBlock(block, client, context)).text);
  }
  return arrayOf(texts);
}

/** `AddressInformation` in node-api.interface.ts. */
function addressInformation(address: string, { node }: Pick<EsploraContext, 'node'>): object {
  const { chain, addressPrefixes } = node.network;
  const script = scriptOfAddress(address, acceptedPrefixes(chain, addressPrefixes));
  if (typeof script === 'string') return { isvalid: false, error: `The address is ${script}.` };
  const program = witnessProgramOf(script);
  return {
    isvalid: true,
    address,
    scriptPubKey: script.toString('hex'),
    // A witness program of a version that is not known may be one or not: Bitcoin Core says that it is not.
    isscript: isScriptHash(script) || (program?.version === 0 && program.program.length === 32) || program?.version === 1,
    iswitness: program !== undefined,
    ...(program !== undefined && { witness_version: program.version, witness_program: program.program.toString('hex') })
  };
}

const ADDRESS_INFORMATION = named(
  'AddressInformation',
  object(
    { isvalid: FLAG },
    {
      error: described('Why it is not valid.', TEXT),
      address: TEXT,
      scriptPubKey: HEX,
      isscript: FLAG,
      iswitness: FLAG,
      witness_version: COUNT,
      witness_program: HEX
    }
  )
);

const BACKEND_INFO = named(
  'BackendInfo',
  object({
    version: TEXT,
    gitCommit: described('The version again: readers start anew when it changes.', TEXT),
    lightning: FLAG,
    backend: TEXT,
    coreVersion: described('The user agent of the node.', TEXT)
  })
);

const PRICES = named(
  'Prices',
  object({ time: COUNT, ...Object.fromEntries(['USD', 'EUR', 'GBP', 'CAD', 'CHF', 'AUD', 'JPY'].map((name) => [name, INTEGER])) })
);

const HISTORICAL_PRICES: Operation = {
  id: 'getHistoricalPrices',
  summary: 'Earlier prices, which this server does not know.',
  parameters: [inQuery('timestamp', 'Unix time in seconds.', COUNT), inQuery('currency', 'A currency.', TEXT)],
  answer: json('None.', object({ prices: listOf(PRICES), exchangeRates: mapOf(TEXT, NUMBER) }))
};

/** `WebsocketResponse` in websocket.interface.ts, as much of it as there is at the start. */
const INIT_DATA = named(
  'InitData',
  object({
    backend: TEXT,
    blocks: described('Upwards.', { ...listOf(EXTENDED_BLOCK), maxItems: FIRST_BLOCKS }),
    mempoolInfo: mempoolInfoSchema({ chunks: true, fullRbf: false }),
    vBytesPerSecond: COUNT,
    fees: RECOMMENDED_FEES,
    transactions: described(
      'The last ones of the pool.',
      listOf(
        object(
          {
            txid: TEXT,
            fee: COUNT,
            vsize: described('A quarter of the weight, not rounded.', NUMBER),
            value: described('Satoshis of all outputs.', COUNT),
            rate: NUMBER
          },
          { time: described('When it entered, as long as it is in the pool.', COUNT) }
        )
      )
    ),
    'mempool-blocks': listOf(PROJECTED_BLOCK),
    da: DIFFICULTY_ADJUSTMENT,
    conversions: PRICES,
    backendInfo: BACKEND_INFO,
    loadingIndicators: mapOf(TEXT, NUMBER)
  })
);
