import { expect } from 'chai';
import { describe, it } from 'mocha';
import { scanBlock } from '../../lib/bitcoin/block';
import { fromDisplayHex, toDisplayHex } from '../../lib/bitcoin/hash';
import { scanWholeTransaction, type ScannedTransaction } from '../../lib/bitcoin/transaction';
import { coinsBinary, coinsJson, type CoinsAnswer, type CoinView } from '../../lib/views/coins';
import {
  chainAActiveBlocks,
  chainAManifest,
  chainAPool,
  coreStyles,
  recordedBody,
  recordedSuccesses,
  type RecordedAnswer
} from '../support/chain/chain-a';
import { inBech32m } from '../support/recorded/core';

/** Height that the reference gives outputs of the pool. */
const POOL_HEIGHT = 0x7fffffff;

const REQUEST = /^\/rest\/getutxos(?:\/checkmempool)?((?:\/[0-9a-f]{64}-(?:0|[1-9]\d*))+)\.(?:json|bin)$/;

/** Every output of chain A and its pool, spent or not, by `<txid>-<n>`. */
function outputsOfChainA(): Map<string, CoinView> {
  const outputs = new Map<string, CoinView>();
  const add = (height: number, transactions: readonly ScannedTransaction[]): void => {
    for (const { txid, outputs: made } of transactions)
      made.forEach(({ value, script }, n) => outputs.set(`${toDisplayHex(txid)}-${n}`, { height, value, script }));
  };
  for (const { height, raw } of chainAActiveBlocks()) add(height, scanBlock(raw).transactions);
  add(POOL_HEIGHT, chainAPool().map(scanWholeTransaction));
  return outputs;
}

/** Requests that name outpoints plainly and send no body. */
const plainRequests = (format: 'json' | 'bin'): RecordedAnswer[] =>
  recordedSuccesses('getutxos', format).filter(({ path, requestBodyHex }) => requestBodyHex === undefined && REQUEST.test(path));

describe('answers to queries for coins', () => {
  const outputs = outputsOfChainA();
  const jsonOf = new Map(
    plainRequests('json').map((answer) => [answer.state + answer.path.replace(/\.json$/, ''), recordedBody(answer).toString()])
  );

  /** The coins that the reference found (by its bitmap), with height, value and script from the blocks. */
  const answerTo = ({ state, path }: RecordedAnswer): CoinsAnswer => {
    const recorded = jsonOf.get(state + path.replace(/\.\w+$/, ''));
    const { bitmap, chainHeight, chaintipHash } = JSON.parse(recorded ?? '{}') as {
      bitmap: string;
      chainHeight: number;
      chaintipHash: string;
    };
    const outpoints = (REQUEST.exec(path)?.[1] ?? '').slice(1).split('/');
    return {
      tip: { height: chainHeight, hash: fromDisplayHex(chaintipHash) },
      coins: outpoints.map((outpoint, i) => (bitmap[i] === '1' ? outputs.get(outpoint) : undefined))
    };
  };

  it('are written in JSON byte for byte as recorded', () => {
    expect(jsonOf.size).to.be.above(60);
    for (const answer of plainRequests('json'))
      expect(coinsJson(answerTo(answer), coreStyles['0.17']).toString(), answer.id).to.equal(inBech32m(recordedBody(answer).toString()));
  });

  it('are written in binary byte for byte as recorded', () => {
    const answers = plainRequests('bin');
    expect(answers).to.have.length.above(60);
    for (const answer of answers)
      expect(coinsBinary(answerTo(answer)).toString('hex'), answer.id).to.equal(recordedBody(answer).toString('hex'));
  });

  it('have a bitmap as long as the request even when nothing was found', () => {
    const tipHash = fromDisplayHex(chainAManifest().tip);
    const binary = coinsBinary({ tip: { height: 725, hash: tipHash }, coins: Array<undefined>(9).fill(undefined) });
    expect(binary.toString('hex')).to.equal(`d5020000${tipHash.toString('hex')}02000000`);
    expect(coinsBinary({ tip: { height: 725, hash: tipHash }, coins: [] }).toString('hex')).to.equal(
      `d5020000${tipHash.toString('hex')}0000`
    );
    const many = coinsBinary({ tip: { height: 725, hash: tipHash }, coins: Array<undefined>(8 * 0xfd).fill(undefined) });
    expect(many.toString('hex')).to.equal(`d5020000${tipHash.toString('hex')}fdfd00${'00'.repeat(0xfd)}00`);
  });
});
