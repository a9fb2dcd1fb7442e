// Single facts for which Fulcrum has methods of its own (docs/wallets.md): a wallet that knows them asks for less.

import { NO_HASH, scriptHashOf, toDisplayHex } from '../../bitcoin/hash';
import { isUnspendable } from '../../bitcoin/script';
import { described, named, nullable, object } from '../../describe/schema';
import { ASKED_HASH, BLOCK_HASH, COUNT, FLAG, HASH, HEIGHT, SATOSHIS, TXID } from '../../describe/values';
import { badRequest, readCount, readFlag, readScriptHash, readTxid } from './arguments';
import { HEADER, TIP, tipText } from './headers';
import { COIN_POINTS, ROW_POINTS } from './points';
import { chargingRows, SCRIPT_HASH, SCRIPT_STATUS, statusText } from './scripts';
import type { HeaderRecord } from '../../index/types';
import type { ScriptSnapshot } from '../../scripts/types';
import type { Method, MethodContext } from '../method';

export function lookupMethods(context: MethodContext): Readonly<Record<string, Method>> {
  return {
    'blockchain.headers.get_tip': getTip(context),
    'blockchain.transaction.get_height': getHeight(context),
    'blockchain.transaction.get_confirmed_blockhash': getConfirmedBlockHash(context),
    'blockchain.scripthash.get_first_use': getFirstUse(context),
    'blockchain.scripthash.get_status': getStatus(),
    'blockchain.utxo.get_info': getOutputInfo(context)
  };
}

function getTip({ scripts }: MethodContext): Method {
  return {
    about: { summary: 'The tip of the chain.', parameters: [], result: TIP },
    parameters: [],
    required: 0,
    answer: () => scripts.read(({ index: { tip } }) => tipText(tip))
  };
}

function getHeight({ scripts, node: { pool } }: MethodContext): Method {
  return {
    about: {
      summary: 'The height of the block that has a transaction.',
      parameters: [ASKED_HASH],
      result: described('0 for a transaction of the pool.', HEIGHT)
    },
    parameters: ['tx_hash'],
    required: 1,
    answer: ([id], client) => {
      const txid = readTxid(id);
      client.charge(ROW_POINTS);
      return scripts.read((snapshot) => {
        const block = blockOf(txid, snapshot);
        if (block === undefined && pool.transaction(txid) === undefined)
          throw badRequest('No transaction matching the requested hash was found');
        return `${block?.height ?? 0}`;
      });
    }
  };
}

function getConfirmedBlockHash({ scripts }: MethodContext): Method {
  return {
    about: {
      summary: 'The block that has a transaction.',
      parameters: [ASKED_HASH, { ...FLAG, default: false, description: 'Whether the header is asked for.' }],
      result: named('BlockOfTransaction', object({ block_hash: BLOCK_HASH, block_height: HEIGHT }, { block_header: HEADER }))
    },
    parameters: ['tx_hash', 'include_header'],
    required: 1,
    answer: ([id, header = false], client) => {
      const txid = readTxid(id);
      const withHeader = readFlag(header, 'include_header');
      client.charge(ROW_POINTS);
      return scripts.read((snapshot) => {
        const block = blockOf(txid, snapshot);
        if (block === undefined) throw badRequest('No confirmed transaction matching the requested hash was found');
        return JSON.stringify({
          block_hash: toDisplayHex(block.hash),
          block_height: block.height,
          ...(withHeader && { block_header: block.header.toString('hex') })
        });
      });
    }
  };
}

function getFirstUse({ scripts, histories }: MethodContext): Method {
  return {
    about: {
      summary: 'The first transaction of a script.',
      parameters: [SCRIPT_HASH],
      result: nullable(
        named(
          'FirstUse',
          object({
            block_hash: described('Zeros in the pool.', HASH),
            height: described('0 in the pool.', HEIGHT),
            block_height: described('The same.', HEIGHT),
            tx_hash: TXID
          })
        )
      )
    },
    parameters: ['scripthash'],
    required: 1,
    isHeavy: true,
    answer: ([name], client) => {
      const { script } = readScriptHash(name);
      client.charge(ROW_POINTS);
      return scripts.read(async (snapshot) => {
        const history = histories.at(script, snapshot);
        const [first] = await snapshot.history(script, { limit: 1, ascending: true });
        if (first !== undefined) return firstUseText(first.txid, snapshot.index.headerAt(first.position.height));
        const [pooled] = await history.unconfirmed(client);
        return pooled === undefined ? 'null' : firstUseText(pooled.transaction.txid, undefined);
      });
    }
  };
}

function getStatus(): Method {
  return {
    about: { summary: 'The status of a script, without a subscription.', parameters: [SCRIPT_HASH], result: SCRIPT_STATUS },
    parameters: ['scripthash'],
    required: 1,
    isHeavy: true,
    answer: ([name], client) => {
      const status = client.subscriptions.statusOf(readScriptHash(name).script, chargingRows(client));
      return status instanceof Promise ? status.then(statusText) : statusText(status);
    }
  };
}

function getOutputInfo({ scripts, node: { pool } }: MethodContext): Method {
  return {
    about: {
      summary: 'An output that nothing spends, in the chain or in the pool.',
      parameters: [ASKED_HASH, { ...COUNT, maximum: 0xffff_ffff, description: 'The index of the output.' }],
      result: nullable(
        named('UnspentInfo', object({ scripthash: HASH, value: SATOSHIS }, { confirmed_height: described('Not in the pool.', HEIGHT) }))
      )
    },
    parameters: ['tx_hash', 'out_n'],
    required: 2,
    answer: ([id, out], client) => {
      const [txid, index] = [readTxid(id), readCount(out)];
      client.charge(COIN_POINTS);
      return scripts.read((snapshot) => {
        const coin = pool.isSpent(txid, index) ? undefined : snapshot.index.coin(txid, index);
        const found = coin ?? pool.coin(txid, index);
        // In a block it would be no coin.
        if (found === undefined || isUnspendable(found.script)) return 'null';
        return JSON.stringify({
          ...(coin !== undefined && { confirmed_height: coin.height }),
          scripthash: toDisplayHex(scriptHashOf(found.script)),
          value: found.value
        });
      });
    }
  };
}

/** The block that has a transaction. The index has only short hashes of txids: the transaction at the position may be another one. */
function blockOf(txid: Buffer, snapshot: ScriptSnapshot): HeaderRecord | undefined {
  const position = snapshot.index.position(txid);
  if (position === undefined) return undefined;
  const { height } = position.block;
  return snapshot.txidAt({ height, index: position.index })?.equals(txid) === true ? snapshot.index.headerAt(height) : undefined;
}

/** `block`: undefined in the pool. */
function firstUseText(txid: Buffer, block: HeaderRecord | undefined): string {
  const height = block?.height ?? 0;
  return JSON.stringify({
    block_hash: toDisplayHex(block?.hash ?? NO_HASH),
    height,
    block_height: height,
    tx_hash: toDisplayHex(txid)
  });
}
