// Outpoints: which transactions create and spend an output, as drafts of version 1.7 of the protocol have them.

import { FLAG, ASKED_HASH, COUNT, TXID } from '../../describe/values';
import { OUTPOINT_STATUS, outpointText } from '../outpoint-text';
import { readCount, readHex, readTxid } from './arguments';
import { COUNT_POINTS, MOST_COUNT_POINTS, TRANSACTION_POINTS } from './points';
import { SCRIPT } from './scripts';
import type { Outpoint } from '../../bitcoin/transaction';
import type { Schema } from '../../describe/schema';
import type { ElectrumClient, Method, MethodContext } from '../method';

const OUTPUT: Schema = { ...COUNT, description: 'The index of the output.' };

const PARAMETERS = { parameters: ['tx_hash', 'txout_idx', 'spk_hint'], required: 3, isHeavy: true } as const;

const ABOUT_PARAMETERS: readonly Schema[] = [
  ASKED_HASH,
  OUTPUT,
  { ...SCRIPT, description: 'The script of the output, with which other servers find it; any hex, since this server does not need it.' }
];

export function outpointMethods(context: MethodContext): Readonly<Record<string, Method>> {
  return {
    'blockchain.outpoint.get_status': getStatus(context),
    'blockchain.outpoint.subscribe': subscribe(),
    'blockchain.outpoint.unsubscribe': unsubscribe()
  };
}

function getStatus({ scripts, outpoints }: MethodContext): Method {
  return {
    about: { summary: 'Which transactions create and spend an output.', parameters: ABOUT_PARAMETERS, result: OUTPOINT_STATUS },
    ...PARAMETERS,
    answer: async ([txid, index, hint], client) => {
      const outpoint = readOutpoint(txid, index);
      readHex(hint);
      client.charge(TRANSACTION_POINTS);
      const { status, rows } = await scripts.read((snapshot) => outpoints.at(outpoint, snapshot, client));
      chargeForRows(rows, client);
      return outpointText(status);
    }
  };
}

function subscribe(): Method {
  return {
    about: {
      summary: 'Which transactions create and spend an output, of whose changes the client is notified from now on.',
      parameters: ABOUT_PARAMETERS,
      result: OUTPOINT_STATUS,
      notification: { tx_hash: TXID, txout_idx: OUTPUT, status: OUTPOINT_STATUS }
    },
    ...PARAMETERS,
    answer: ([txid, index, hint], client) => {
      const outpoint = readOutpoint(txid, index);
      readHex(hint);
      client.charge(TRANSACTION_POINTS);
      return client.subscriptions.addOutpoint(outpoint, client, (rows) => {
        chargeForRows(rows, client);
      });
    }
  };
}

function unsubscribe(): Method {
  return {
    about: {
      summary: 'Ends the notifications about an outpoint.',
      parameters: ABOUT_PARAMETERS.slice(0, 2),
      result: { ...FLAG, description: 'Whether the client was subscribed to it.' }
    },
    parameters: PARAMETERS.parameters.slice(0, 2),
    required: 2,
    // In the lane of `subscribe`, so that both begin in the order in which the client sent them.
    isHeavy: true,
    frees: true,
    answer: ([txid, index], { subscriptions }) => JSON.stringify(subscriptions.removeOutpoint(readOutpoint(txid, index)))
  };
}

/** @throws ElectrumError */
const readOutpoint = (txid: unknown, index: unknown): Outpoint => ({ txid: readTxid(txid), index: readCount(index) });

function chargeForRows(rows: number, client: ElectrumClient): void {
  client.charge(Math.min(rows * COUNT_POINTS, MOST_COUNT_POINTS));
}
