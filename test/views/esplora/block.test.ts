import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { scanBlock } from '../../../lib/bitcoin/block';
import { writeEsploraBlock } from '../../../lib/views/esplora/block';
import { doubleText, JsonWriter } from '../../../lib/views/json-writer';
import { chainAActiveBlocks } from '../../support/chain/chain-a';
import { chainAView } from '../chain-a-views';
import { recordedJson } from '../../support/recorded/esplora';
import { needsShared } from '../../support/recorded/shared';

function textOf(hash: string): string {
  const view = chainAView(hash);
  const { length, strippedLength } = scanBlock(view.raw);
  const writer = new JsonWriter();
  writeEsploraBlock(writer, { ...view, length, weight: strippedLength * 3 + length });
  return writer.toString();
}

describe('writeEsploraBlock', () => {
  it('writes all fields in their order, for the genesis block without a block below', () => {
    expect(textOf(chainAActiveBlocks()[0]?.hash ?? '')).to.equal(
      '{"id":"0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206","height":0,"version":1,"timestamp":1296688602,' +
        '"tx_count":1,"size":285,"weight":1140,"merkle_root":"4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b",' +
        '"previousblockhash":null,"mediantime":1296688602,"nonce":2,"bits":545259519,"difficulty":4.6565423739069247e-10}'
    );
  });

  it('reads versions as unsigned', () => {
    const view = chainAView(chainAActiveBlocks()[1]?.hash ?? '');
    const header = Buffer.from(view.header);
    header.writeInt32LE(-2);
    const writer = new JsonWriter();
    writeEsploraBlock(writer, { ...view, header, length: 285, weight: 1_140 });
    expect(JSON.parse(writer.toString())).to.include({ version: 0xffff_fffe });
  });

  it('writes the blocks of chain A as they were recorded', function () {
    const folder = needsShared(this);
    const records = recordedJson(join(folder, 'fixtures/wallet/A-mempool-backend.jsonl.gz'), /^\/block\/[0-9a-f]{64}$/);
    expect(records).to.have.length.above(700);
    for (const { json } of records) {
      const recorded = json as { id: string; version: number };
      const ours = JSON.parse(textOf(recorded.id)) as { difficulty: number };
      // The recorded node prints 16 digits.
      const known = { ...ours, difficulty: Number(doubleText(ours.difficulty)) };
      expect({ previousblockhash: null, ...recorded, version: recorded.version >>> 0 }).to.deep.include(known);
    }
  });
});
