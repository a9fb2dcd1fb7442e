import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { scanBlock } from '../../lib/bitcoin/block';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { bcoin } from '../support/bcoin/bcoin';
import { chainAActiveBlocks, type ChainABlock } from '../support/chain/chain-a';
import { CHAIN_A_TIMEOUT_MS, openChainANode } from '../support/node/chain-a-node';
import { coldAnswers } from './cold-answers';
import { indexerOn, reach } from '../support/node/indexed-node';
import { untilReady, type RestNode } from '../support/node/rest-node';
import { forgetStoredBlock } from '../support/bcoin/stored-block';
import { withSuperfluousWitnesses } from '../support/chain/superfluous-witness';

/** Blocks above are disconnected, changed and connected again. */
const KEPT_HEIGHT = 699;

const wire = (hash: string): Buffer => Buffer.from(hash, 'hex').reverse();

describe('blocks that came with superfluous witnesses', () => {
  let served: RestNode;
  const changed: (ChainABlock & { readonly stored: Buffer })[] = [];
  const paths: string[] = [];
  let answersBefore: readonly string[];

  const answers = async (): Promise<string[]> => {
    const cold = coldAnswers(served);
    const all: string[] = [];
    for (const path of paths) all.push(await cold(path));
    return all;
  };

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    served = await openChainANode();
    const blocks = chainAActiveBlocks().slice(KEPT_HEIGHT + 1);
    for (const block of blocks) {
      const stored = withSuperfluousWitnesses(block.raw);
      if (stored !== block.raw && stored.length > block.raw.length) changed.push({ ...block, stored });
    }
    for (const { hash, raw } of changed) {
      for (const { txid } of scanBlock(raw).transactions)
        paths.push(...['bin', 'hex', 'json'].map((format) => `/rest/tx/${toDisplayHex(txid)}.${format}`));
      paths.push(...['bin', 'hex', 'json'].map((format) => `/rest/block/${hash}.${format}`), `/rest/block/notxdetails/${hash}.json`);
    }
    answersBefore = await answers();
    await served.node.chain.reset(KEPT_HEIGHT);
    for (const { hash } of changed) await forgetStoredBlock(served.node, wire(hash));
    for (const { height, raw } of blocks)
      await served.node.chain.add(bcoin.Block.fromRaw(changed.find((block) => block.height === height)?.stored ?? raw));
    await untilReady(served);
  });

  after(() => served.node.close());

  it('are kept by the node unchanged', async () => {
    expect(changed).to.have.length.above(1);
    for (const { hash, stored } of changed) {
      const kept = await served.node.chain.getRawBlock(hostHash(hash));
      expect(kept?.equals(stored)).to.equal(true);
    }
  });

  it('are answered, like their transactions, as Bitcoin Core would', async () => {
    expect(await answers()).to.deep.equal(answersBefore);
    const cold = coldAnswers(served);
    for (const { hash, raw } of changed) expect(await cold(`/rest/block/${hash}.bin`)).to.equal(raw.toString('latin1'));
  });

  it('are read in parts at the positions of their transactions', async () => {
    for (const { hash, raw } of changed) {
      const block = scanBlock(raw);
      for (const { offset, length, raw: transaction } of block.transactions)
        expect((await served.rest.node.rawBlockPart(wire(hash), offset, length, raw.length))?.equals(transaction)).to.equal(true);
    }
  });

  it('lead to the same index, whether it followed or caught up', async () => {
    const index = indexerOn(served.rest.node);
    await index.open();
    await reach('live', index);
    try {
      for (const reader of [index.reader, served.rest.reader])
        reader.read((snapshot) => {
          for (const { hash, raw, height } of changed) {
            for (const { txid, offset, length } of scanBlock(raw).transactions)
              expect(snapshot.location(txid)).to.deep.equal({
                block: { hash: wire(hash), height },
                offset,
                length,
                blockLength: raw.length
              });
          }
          expect(snapshot.tip.chainBytes).to.equal(chainAActiveBlocks().reduce((sum, { raw }) => sum + raw.length, 0));
        });
    } finally {
      await index.close();
    }
  });

  const hostHash = (hash: string): string | Buffer =>
    typeof served.node.chain.tip.hash === 'string' ? wire(hash).toString('hex') : wire(hash);
});
