// The endpoints of a script, by its address or by its hash.

import { acceptedPrefixes, scriptOfAddress } from '../../bitcoin/address';
import { scriptHashOf } from '../../bitcoin/hash';
import { writeStats } from '../../views/esplora/coins';
import { JsonWriter } from '../../views/json-writer';
import { addressSearchDisabled, invalidAddress, invalidScriptHash, otherNetwork } from '../errors';
import { jsonReply, replyFrom } from '../reply';
import { scriptCoins } from './script-coins';
import { chainPage, mixedPage, poolPage } from './script-history';
import type { NetworkInfo } from '../../node/types';
import type { Endpoint, EsploraContext, Route } from '../endpoint';
import type { ScriptAnswer } from './script-answer';

export function scriptRoutes(context: EsploraContext): Route[] {
  const answers: readonly [path: string, answer: ScriptAnswer][] = [
    ['', scriptStats(context)],
    ['/txs', mixedPage(context)],
    ['/txs/chain', chainPage(context)],
    ['/txs/chain/:last', chainPage(context)],
    ['/txs/mempool', poolPage(context)],
    ['/utxo', scriptCoins(context)]
  ];
  const kinds = { address: addressHash(context.node.network), scripthash: readScriptHash };
  return [
    ...(['address', 'scripthash'] as const).flatMap((kind) =>
      answers.map(([path, answer]): Route => {
        const endpoint: Endpoint = async (request) => {
          const subject = { kind, text: request.parameter('script') };
          const hash = kinds[kind](subject.text);
          return context.scripts.read((snapshot) => {
            const [pooled, bases] = [context.pooled.at(hash, snapshot), context.bases.at(snapshot)];
            return answer({ hash, subject, snapshot, pooled, bases }, request);
          });
        };
        return { method: 'GET', path: `/${kind}/:script${path}`, endpoint, isHeavy: true };
      })
    ),
    // There is no list of addresses to search.
    { method: 'GET', path: '/address-prefix/:prefix', endpoint: () => Promise.reject(addressSearchDisabled()) }
  ];
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

/** @throws HttpError 400 */
function addressHash({ chain, addressPrefixes }: NetworkInfo): (text: string) => Buffer {
  const prefixes = acceptedPrefixes(chain, addressPrefixes);
  return (text) => {
    const script = scriptOfAddress(text, prefixes);
    if (script === 'unreadable') throw invalidAddress();
    if (script === 'of another network') throw otherNetwork();
    return scriptHashOf(script);
  };
}

/** 64 hex digits of either case, in the order of SHA-256. @throws HttpError 400 */
function readScriptHash(text: string): Buffer {
  if (!/^[0-9a-fA-F]{64}$/.test(text)) throw invalidScriptHash();
  return Buffer.from(text, 'hex');
}
