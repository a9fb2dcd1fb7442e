import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { scanWholeTransaction } from '../../lib/bitcoin/transaction';
import { ControlBlock } from '../../lib/taproot/control-block';
import { loadWasmCurve, type Curve } from '../../lib/taproot/curve';
import { SignedInput } from '../../lib/taproot/signature-hash';
import { Spend } from '../../lib/taproot/spend';
import { isTaproot } from '../../lib/taproot/verify';
import { bip341, type Tree, type TreeLeaf } from './bip341';
import { VALID, verdict } from './verdict';

const leavesOf = (tree: Tree): TreeLeaf[] => (isBranch(tree) ? tree.flatMap(leavesOf) : [tree]);
const isBranch = (tree: Tree): tree is readonly [Tree, Tree] => Array.isArray(tree);

describe('the vectors of BIP341', () => {
  let curve: Curve;

  before(async () => {
    curve = await loadWasmCurve();
  });

  it('commit to each leaf by its control block, and to no other leaf', () => {
    let checked = 0;
    for (const { given, intermediary, expected } of bip341().scriptPubKey) {
      const key = Buffer.from(intermediary.tweakedPubkey, 'hex');
      expect(expected.scriptPubKey).to.equal(`5120${intermediary.tweakedPubkey}`);
      const leaves = given.scriptTree === null ? [] : leavesOf(given.scriptTree);
      const blocks = (expected.scriptPathControlBlocks ?? []).map((hex) => ControlBlock.of(Buffer.from(hex, 'hex')) as ControlBlock);
      const hashes = leaves.map(({ id, script }) => (blocks[id] as ControlBlock).leafHash(Buffer.from(script, 'hex')));
      leaves.forEach(({ id, leafVersion }, i) => {
        const block = blocks[id] as ControlBlock;
        expect(block.leafVersion).to.equal(leafVersion);
        expect(hashes[i]?.toString('hex')).to.equal(intermediary.leafHashes?.[id]);
        expect(hashes.map((hash) => block.commitsTo(hash, key, curve))).to.deep.equal(hashes.map((_, other) => other === i));
        checked++;
      });
    }
    expect(checked).to.equal(12);
  });

  it('have the hashes that all signatures of a transaction share, and that each input signs', () => {
    expect(bip341().keyPathSpending.flatMap(({ inputSpending }) => inputSpending)).to.have.length(7);
    for (const { given, intermediary, inputSpending, auxiliary } of bip341().keyPathSpending) {
      const spent = given.utxosSpent.map(({ scriptPubKey, amountSats }) => ({
        value: amountSats,
        script: Buffer.from(scriptPubKey, 'hex')
      }));
      const unsigned = new Spend(scanWholeTransaction(Buffer.from(given.rawUnsignedTx, 'hex')), spent);
      const signed = new Spend(scanWholeTransaction(Buffer.from(auxiliary.fullySignedTx, 'hex')), spent);
      for (const spend of [unsigned, signed]) {
        expect({
          hashAmounts: spend.valuesHash.toString('hex'),
          hashOutputs: spend.outputsHash.toString('hex'),
          hashPrevouts: spend.outpointsHash.toString('hex'),
          hashScriptPubkeys: spend.scriptsHash.toString('hex'),
          hashSequences: spend.sequencesHash.toString('hex')
        }).to.deep.equal(intermediary);
        for (const { given: input, intermediary: hashes } of inputSpending) {
          const hash = new SignedInput(spend, input.txinIndex, undefined, undefined).signatureHash(input.hashType, 0);
          expect(hash?.toString('hex')).to.equal(hashes.sigHash);
        }
      }
    }
  });

  it('are spends that are valid', () => {
    for (const { given, inputSpending, auxiliary } of bip341().keyPathSpending) {
      const spent = given.utxosSpent.map(({ scriptPubKey, amountSats }) => ({
        value: amountSats,
        script: Buffer.from(scriptPubKey, 'hex')
      }));
      const spend = new Spend(scanWholeTransaction(Buffer.from(auxiliary.fullySignedTx, 'hex')), spent);
      const inputs = spent.flatMap(({ script }, input) => (isTaproot(script) ? [input] : []));
      expect(inputs).to.deep.equal(inputSpending.map(({ given: { txinIndex } }) => txinIndex));
      for (const {
        given: { txinIndex },
        expected
      } of inputSpending) {
        expect(spend.witness(txinIndex).map((item) => item.toString('hex'))).to.deep.equal(expected.witness);
        for (const rules of ['block', 'policy'] as const) expect(verdict(spend, txinIndex, rules, curve)).to.equal(VALID);
      }
    }
  });
});
