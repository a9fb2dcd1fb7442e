// What is checked of a transaction before its coins are looked for (CheckTransaction, IsStandardTx).

import { MAX_BLOCK_WEIGHT, MAX_MONEY } from '../bitcoin/consensus';
import { keyOfOutpoint } from '../bitcoin/hash';
import { multisigOf, scriptTypeOf } from '../bitcoin/script-type';
import { WEIGHT_PER_VBYTE } from '../bitcoin/transaction';
import { dustIn } from './dust';
import { LIMITS } from './limits';
import { hasOnlyPushes } from './redeem-script';
import { PolicyRefusal } from './refusal';
import type { Offered } from './transaction';

const LAST_INDEX = 0xffff_ffff;
const LEAST_COINBASE_SCRIPT_BYTES = 2;
const MOST_COINBASE_SCRIPT_BYTES = 100;

/** The rules that hold in blocks as well. @throws PolicyRefusal */
export function checkForm({ transaction, inputs, outputs }: Offered): void {
  if (inputs.length === 0) throw invalid('bad-txns-vin-empty');
  if (outputs.length === 0) throw invalid('bad-txns-vout-empty');
  if (transaction.strippedLength * WEIGHT_PER_VBYTE > MAX_BLOCK_WEIGHT) throw invalid('bad-txns-oversize');
  let total = 0;
  for (const { value } of outputs) {
    if (value < 0) throw invalid('bad-txns-vout-negative');
    if (value > MAX_MONEY) throw invalid('bad-txns-vout-toolarge');
    total += value;
    if (total > MAX_MONEY) throw invalid('bad-txns-txouttotal-toolarge');
  }
  const outpoints = new Set(inputs.map(({ txid, index }) => keyOfOutpoint(txid, index)));
  if (outpoints.size < inputs.length) throw invalid('bad-txns-inputs-duplicate');
  if (transaction.isCoinbase) {
    const length = inputs[0]?.script.length ?? 0;
    throw invalid(length < LEAST_COINBASE_SCRIPT_BYTES || length > MOST_COINBASE_SCRIPT_BYTES ? 'bad-cb-length' : 'coinbase');
  }
  if (inputs.some(({ txid, index }) => index === LAST_INDEX && txid.every((byte) => byte === 0))) throw invalid('bad-txns-prevout-null');
}

/** @throws PolicyRefusal */
export function checkStandard({ transaction, version, inputs, outputs }: Offered): void {
  if (version < LIMITS.leastVersion || version > LIMITS.mostVersion) throw new PolicyRefusal('policy', 'version');
  if (transaction.weight > LIMITS.mostWeight) throw new PolicyRefusal('policy', 'tx-size');
  for (const { script } of inputs) {
    if (script.length > LIMITS.mostScriptSigBytes) throw new PolicyRefusal('policy', 'scriptsig-size');
    if (!hasOnlyPushes(script)) throw new PolicyRefusal('policy', 'scriptsig-not-pushonly');
  }
  // All data that has room in a transaction of this weight is relayed.
  for (const { script } of outputs) {
    const type = scriptTypeOf(script);
    if (type === 'nonstandard' || (type === 'multisig' && (multisigOf(script)?.keys.length ?? 0) > LIMITS.mostBareKeys))
      throw new PolicyRefusal('policy', 'scriptpubkey');
  }
  if (dustIn(outputs).length > LIMITS.mostDustOutputs) throw new PolicyRefusal('policy', 'dust');
}

/** So short a transaction could be taken for an inner node of a block's Merkle tree (CVE-2017-12842). @throws PolicyRefusal */
export function checkLength({ transaction }: Offered): void {
  if (transaction.strippedLength < LIMITS.leastStrippedBytes) throw new PolicyRefusal('policy', 'tx-size-small');
}

const invalid = (reason: string): PolicyRefusal => new PolicyRefusal('invalid', reason);
