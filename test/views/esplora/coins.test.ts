import { expect } from 'chai';
import { describe, it } from 'mocha';
import { writeEsploraCoin, writeOutspend, writeStats } from '../../../lib/views/esplora/coins';
import { JsonWriter } from '../../../lib/views/json-writer';

const text = (write: (writer: JsonWriter) => void): string => {
  const writer = new JsonWriter();
  write(writer);
  return writer.toString();
};

const txid = Buffer.alloc(32, 1).fill(2, 31);
const shownTxid = `02${'01'.repeat(31)}`;
const hash = Buffer.alloc(32, 3).fill(4, 31);
const status = { height: 7, hash, time: 1546422457 };
const shownStatus = `{"confirmed":true,"block_height":7,"block_hash":"04${'03'.repeat(31)}","block_time":1546422457}`;

describe('writeEsploraCoin', () => {
  it('writes where the coin was made, and its value in satoshis', () => {
    const coin = { txid, index: 3, value: 21e14 };
    expect(text((writer) => writeEsploraCoin(writer, { ...coin, status }))).to.equal(
      `{"txid":"${shownTxid}","vout":3,"status":${shownStatus},"value":2100000000000000}`
    );
    expect(text((writer) => writeEsploraCoin(writer, { ...coin, status: undefined }))).to.equal(
      `{"txid":"${shownTxid}","vout":3,"status":{"confirmed":false},"value":2100000000000000}`
    );
  });
});

describe('writeOutspend', () => {
  it('writes the input that spends, if any', () => {
    expect(text((writer) => writeOutspend(writer, undefined))).to.equal('{"spent":false}');
    expect(text((writer) => writeOutspend(writer, { txid, input: 2, status }))).to.equal(
      `{"spent":true,"txid":"${shownTxid}","vin":2,"status":${shownStatus}}`
    );
  });
});

describe('writeStats', () => {
  const chain = { transactions: 5, funded: { count: 1, value: 2 }, spent: { count: 3, value: 4 } };
  const pool = { transactions: 0, funded: { count: 0, value: 0 }, spent: { count: 0, value: 0 } };
  const shownChain = '{"funded_txo_count":1,"funded_txo_sum":2,"spent_txo_count":3,"spent_txo_sum":4,"tx_count":5}';
  const shownPool = '{"funded_txo_count":0,"funded_txo_sum":0,"spent_txo_count":0,"spent_txo_sum":0,"tx_count":0}';

  it('writes its keys in alphabetical order, and the address as it was asked', () => {
    expect(text((writer) => writeStats(writer, { kind: 'address', text: 'BC1QQ' }, chain, pool))).to.equal(
      `{"address":"BC1QQ","chain_stats":${shownChain},"mempool_stats":${shownPool}}`
    );
  });

  it('writes the hash of a script as it was asked', () => {
    const asked = 'AB'.repeat(32);
    expect(text((writer) => writeStats(writer, { kind: 'scripthash', text: asked }, chain, pool))).to.equal(
      `{"chain_stats":${shownChain},"mempool_stats":${shownPool},"scripthash":"${asked}"}`
    );
  });
});
