// The endpoints of a script, by its address or by its hash.

import { AddressesUnavailableError } from '../../addresses/state';
import { inPath, json, type Operation } from '../../describe/open-api';
import { listOf, named } from '../../describe/schema';
import { ASKED_HASH, TEXT } from '../../describe/values';
import { unavailable } from '../../server/errors';
import { statsSchema, writeStats, type StatsSubject } from '../../views/esplora/coins';
import { JsonWriter } from '../../views/json-writer';
import { addressSearchDisabled } from '../errors';
import { jsonReply, replyFrom } from '../reply';
import { COINS, scriptCoins } from './script-coins';
import { CHAIN_PAGE, CHAIN_PAGE_AFTER, chainPage, MIXED_PAGE, mixedPage, POOL_PAGE, poolPage } from './script-history';
import { addressHash, readScriptHash } from './script-name';
import type { Endpoint, EsploraContext, EsploraRequest, Route } from '../endpoint';
import type { ScriptAnswer, ScriptOperation } from './script-answer';

export function scriptRoutes(context: EsploraContext): Route[] {
  const answers: readonly [path: string, answer: ScriptAnswer, (kind: StatsSubject['kind']) => ScriptOperation][] = [
    ['', scriptStats(context), statsOperation],
    ['/txs', mixedPage(context), () => MIXED_PAGE],
    ['/txs/chain', chainPage(context), () => CHAIN_PAGE],
    ['/txs/chain/:last', chainPage(context), () => CHAIN_PAGE_AFTER],
    ['/txs/mempool', poolPage(context), () => POOL_PAGE],
    ['/utxo', scriptCoins(context), () => COINS]
  ];
  return [
    ...(['address', 'scripthash'] as const).flatMap((kind) =>
      answers.map(([path, answer, operationFor]): Route => {
        const hashOf = scriptIn(kind, context);
        const endpoint: Endpoint = async (request) => {
          const subject = { kind, text: request.parameter('script') };
          const hash = hashOf(request);
          return context.scripts.read((snapshot) => {
            const [pooled, bases] = [context.pooled.at(hash, snapshot), context.bases.at(snapshot)];
            return answer({ hash, subject, snapshot, pooled, bases }, request);
          });
        };
        return {
          method: 'GET',
          path: `/${kind}/:script${path}`,
          endpoint,
          isHeavy: true,
          operation: operationOf(kind, operationFor(kind))
        };
      })
    ),
    addressSearch(context)
  ];
}

/** As many as Blockstream's server gives. */
const MOST_FOUND = 10;

function addressSearch({ list }: EsploraContext): Route {
  return {
    method: 'GET',
    path: '/address-prefix/:prefix',
    endpoint: async (request) => {
      if (list === undefined) throw addressSearchDisabled();
      try {
        return jsonReply(JSON.stringify(await list.search(request.parameter('prefix'), MOST_FOUND)));
      } catch (error) {
        throw error instanceof AddressesUnavailableError ? unavailable(error.message) : error;
      }
    },
    operation: {
      id: 'searchAddresses',
      summary: `Addresses that begin with some characters${list === undefined ? '. This server does not search.' : ''}`,
      parameters: [inPath('prefix', 'The characters, in the case in which addresses are shown.', TEXT)],
      answer:
        list &&
        json(`Addresses to which outputs of the chain have ever paid, ${MOST_FOUND} at most, in the order of their bytes.`, {
          ...listOf(TEXT),
          maxItems: MOST_FOUND
        }),
      errors: list === undefined ? { 400: 'Addresses are not searched.' } : {}
    }
  };
}

/** The SHA-256 of the script in the path of a request; throws HttpError 400. */
export function scriptIn(kind: StatsSubject['kind'], { node }: Pick<EsploraContext, 'node'>): (request: EsploraRequest) => Buffer {
  const read = kind === 'address' ? addressHash(node.network) : readScriptHash;
  return (request) => read(request.parameter('script'));
}

/** Describes an operation on a script, with the parameter that names it. */
export function operationOf(kind: StatsSubject['kind'], { id, parameters = [], errors, ...operation }: ScriptOperation): Operation {
  const [name, script, malformed] =
    kind === 'address'
      ? ['Address', inPath('script', 'An address of the network.', TEXT), 'The address is not one of this network.']
      : ['ScriptHash', inPath('script', 'The SHA-256 of a script in hex, not reversed.', ASKED_HASH), 'The hash is not 64 hex digits.'];
  const tooMuch = 'Or the script has more transactions or coins than are read for one reply.';
  return {
    ...operation,
    id: `get${name}${id}`,
    parameters: [script, ...parameters],
    errors: { ...errors, 400: `${malformed} ${tooMuch}` }
  };
}

function statsOperation(kind: StatsSubject['kind']): ScriptOperation {
  const name = kind === 'address' ? 'AddressStats' : 'ScriptHashStats';
  return { id: 'Stats', summary: 'The totals of a script.', answer: json('The totals.', named(name, statsSchema(kind))) };
}

/** Totals of a script over all transactions of chain and pool. */
function scriptStats({ totals }: EsploraContext): ScriptAnswer {
  return async ({ hash: script, subject, snapshot, pooled, bases }, request) => {
    const [chain, pool] = await Promise.all([totals.of(script, snapshot, request), pooled.totals(request)]);
    const writer = new JsonWriter();
    writeStats(writer, subject, chain, pool);
    return replyFrom(jsonReply(writer.toBuffer()), bases.ofScript(script));
  };
}
