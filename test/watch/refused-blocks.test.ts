import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { RefusedBlocks } from '../../lib/watch/refused-blocks';
import { SCRIPT_ERRORS } from '../../lib/taproot/script-error';
import { ask } from '../support/client/http';
import { bcoin } from '../support/bcoin/bcoin';
import { nodeWith } from '../support/bcoin/changed-node';
import { withEarlyForks } from '../support/chain/early-forks';
import { newFolder } from '../support/process/folders';
import { MemoryLog } from '../support/process/memory-log';
import { mineCoinbases } from '../support/chain/regtest-chain';
import { entryOf, mine, mineOnly } from '../support/bcoin/regtest-node';
import { RpcCaller } from '../support/client/rpc';
import { runIndexHere } from '../support/node/stopped-node';
import { ServedNode } from '../support/node/served-node';
import { until } from '../support/expectations/until';
import { byKey, byScript, payment, wrongly, type TaprootCoin } from '../taproot/spent-coins';
import type { HostEntry } from '../../lib/node/host';

const MATURITY = 100;
const DEEP = 150;

describe('blocks that other nodes refuse', function () {
  this.timeout(120_000);
  withEarlyForks();
  let served: ServedNode;
  let prefix: string;
  let coins: TaprootCoin[];

  before(async () => {
    prefix = await newFolder();
    served = await open();
    const ring = bcoin.KeyRing.generate();
    const [block] = await mine(served.node, 1, undefined, ring.getAddress());
    await mine(served.node, MATURITY);
    const [coinbase] = block?.txs ?? [];
    const paid = payment(coinbase ?? expect.fail('no coinbase'), ring, 10);
    coins = paid.coins;
    await mineOnly(served.node, [paid.transaction]);
    await served.settle();
  });

  after(() => served.close());

  const open = (): Promise<ServedNode> =>
    ServedNode.open({ prefix, settings: { 'rest-pool': 'modern', 'rest-core': 'modern' } }, { inMemory: false });

  const warnings = (): readonly string[] => served.answers.warnings();

  const take = (count: number): TaprootCoin[] => coins.splice(0, count);

  it('are none while all spends are valid', async () => {
    await mineOnly(served.node, [byKey(take(1)), byScript(take(1))]);
    await served.settle();
    // Blocks are looked at in their order: what the next tests see is said after this one was looked at.
    expect(warnings()).to.deep.equal([]);
  });

  let refused: HostEntry;

  it('are said at once, in the log and in all answers that have warnings', async () => {
    const wrong = wrongly(take(2));
    refused = await mineOnly(served.node, [byKey(take(1)), wrong]);
    await until(() => warnings().length > 0);
    const hash = toDisplayHex(Buffer.isBuffer(refused.hash) ? refused.hash : Buffer.from(refused.hash, 'hex'));
    const text =
      `Block ${refused.height} (${hash}) of this node's chain is refused by other nodes ` +
      `(input 0 of ${toDisplayHex(wrong.hash())}: ${SCRIPT_ERRORS.SCHNORR_SIG}).`;
    expect(warnings()).to.deep.equal([text]);
    expect(served.log.lines).to.include(`error ${text} Do not rely on anything that this chain confirms.`);
    await served.settle();
    const { body } = await ask(served.port, { path: '/rest/chaininfo.json' });
    expect(JSON.parse(body.toString())).to.have.property('warnings').that.deep.equals([text]);
    const rpc = new RpcCaller(served.port);
    for (const call of ['getblockchaininfo', 'getnetworkinfo'])
      expect(await rpc.call(call))
        .to.have.property('warnings')
        .that.deep.equals([text]);
  });

  it('are said again with each block on top', async () => {
    const lines = served.log.lines.length;
    const [block] = await mine(served.node, 1);
    await served.settle();
    const { height } = await entryOf(served.node, block ?? expect.fail('no block'));
    expect(served.log.lines.slice(lines)).to.include(`error ${warnings().join()} Block ${height} was built on it.`);
    expect(warnings()).to.have.length(1);
  });

  it('are said by the tools for a node that is not running', async () => {
    const [text = ''] = warnings();
    await served.close();
    const { status, out } = await runIndexHere(prefix, 'status');
    expect(status).to.equal(1);
    expect(out).to.include(`\nRefused  ${text}\n`);
    const json = JSON.parse((await runIndexHere(prefix, 'status', '--json')).out) as { readonly refused: { readonly height: number } };
    expect(json.refused).to.have.keys('height', 'hash', 'fault').and.to.include({ height: refused.height });
    served = await open();
  });

  it('are said again at once after a restart, however deep they lie', async () => {
    const [text] = warnings();
    // Deeper than blocks are looked at.
    await mine(served.node, DEEP);
    await served.settle();
    await served.close();
    served = await open();
    expect(warnings()).to.deep.equal([text]);
    expect(served.log.lines).to.include(`error ${text} Do not rely on anything that this chain confirms.`);
  });

  it('are forgotten once they have left the chain', async () => {
    const previous = await served.node.chain.getPrevious(refused);
    await mine(served.node, DEEP + 3, previous ?? undefined);
    await served.settle();
    expect(warnings()).to.deep.equal([]);
    expect(served.log.lines.some((line) => line.startsWith('warning Block') && line.endsWith('has left the chain.'))).to.equal(true);
    const { body } = await ask(served.port, { path: '/rest/chaininfo.json' });
    expect(JSON.parse(body.toString())).to.have.property('warnings').that.deep.equals([]);
    await served.close();
    expect(await runIndexHere(prefix, 'status')).to.have.property('status', 0);
    served = await open();
    expect(warnings()).to.deep.equal([]);
  });

  it('are found where valid ones were before', async () => {
    const { node } = served;
    const valid = await mineOnly(node, []);
    await served.settle();
    const previous = (await node.chain.getPrevious(valid)) ?? undefined;
    const other = await mineOnly(node, [wrongly(take(1))], previous);
    await mineOnly(node, [], other);
    await until(() => warnings().length > 0);
    expect(warnings().join()).to.match(new RegExp(`^Block ${valid.height} `));
    await mine(node, 3, previous);
    await served.settle();
    expect(warnings()).to.deep.equal([]);
  });

  it('are looked for again when what is known of them cannot be read', async () => {
    const wrong = wrongly(take(1));
    await mineOnly(served.node, [wrong]);
    await until(() => warnings().length > 0);
    const [text] = warnings();
    await served.close();
    const [file] = (await readdir(prefix, { recursive: true })).filter((name) => name.endsWith('refused-block.json'));
    await writeFile(join(prefix, file ?? expect.fail('no file')), '{"height":1}');
    const shown = await runIndexHere(prefix, 'status');
    expect(shown).to.have.property('status', 1);
    expect(shown.out).to.match(/^Refused .*refused-block\.json cannot be read/m);
    served = await open();
    await until(() => warnings().length > 0);
    expect(warnings()).to.deep.equal([text]);
    expect(served.log.lines.some((line) => line.startsWith('warning Whether a block was refused'))).to.equal(true);
    await served.close();
    expect((await runIndexHere(prefix, 'status')).out).to.include(text);
    served = await open();
    const previous = await served.node.chain.getPrevious(served.node.chain.tip);
    await mine(served.node, 2, previous ?? undefined);
    await served.settle();
    expect(warnings()).to.deep.equal([]);
  });

  it('are said to be unknown at each start while the file about them cannot be read', async () => {
    await served.close();
    const file = join(prefix, 'regtest', 'rest', 'refused-block.json');
    await writeFile(file, 'garbage');
    for (let start = 0; start < 2; start++) {
      served = await open();
      const lines = served.log.lines.filter((line) => line.startsWith('warning Whether a block was refused'));
      expect(lines).to.have.length(1);
      expect(lines[0]).to.include(file).and.include('Delete the file once you know.');
      await served.close();
      expect(await readFile(file, 'utf8')).to.equal('garbage');
    }
    await rm(file);
    served = await open();
    expect(served.log.lines.filter((line) => line.includes('refused by other nodes'))).to.deep.equal([]);
  });

  it('are not said if they leave the chain while they are looked at', async () => {
    const { node, source, index } = served;
    const log = new MemoryLog();
    const previous = node.chain.tip;
    await mineOnly(node, [wrongly(take(1))]);
    const wrong = source.tip().hash;
    await served.settle();
    let goOn: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const asked = new Set<string>();
    const watched = nodeWith(source, {
      rawBlock: (hash) => {
        asked.add(toDisplayHex(hash));
        return source.rawBlock(hash);
      },
      spentOutputs: async (hash, counts) => {
        const outputs = await source.spentOutputs(hash, counts);
        if (hash.equals(wrong)) await held;
        return outputs;
      }
    });
    const blocks = new RefusedBlocks({ node: watched, index, logger: log, file: undefined });
    await blocks.open();
    try {
      await until(() => asked.has(toDisplayHex(wrong)));
      await mine(node, 2, previous);
      await served.settle();
      goOn();
      // One is looked at after the other.
      await until(() => asked.has(toDisplayHex(source.tip().hash)));
      expect([blocks.warnings, log.lines]).to.deep.equal([[], []]);
    } finally {
      await blocks.close();
    }
  });

  it('are looked for in the other blocks when one cannot be read', async () => {
    const log = new MemoryLog();
    const wrong = wrongly(take(1));
    await mineOnly(served.node, [byKey(take(1))]);
    const unreadable = served.node.chain.height;
    await mineOnly(served.node, [wrong]);
    await served.settle();
    const hash = await served.source.activeHash(unreadable);
    const node = nodeWith(served.source, {
      spentOutputs: (of, counts) => (hash?.equals(of) ? Promise.resolve(Buffer.of(1, 200)) : served.source.spentOutputs(of, counts))
    });
    const blocks = new RefusedBlocks({ node, index: served.index, logger: log, file: undefined });
    await blocks.open();
    try {
      await until(() => blocks.warnings.length > 0);
      expect(log.lines).to.have.length(2);
      expect(log.lines[0]).to.match(new RegExp(`^warning Block ${unreadable} could not be checked for taproot: expected .*\\.$`));
      expect(blocks.warnings[0]).to.include(toDisplayHex(wrong.hash()));
    } finally {
      await blocks.close();
    }
  });

  it('are not looked for without --rest-pool=modern', async () => {
    const other = await ServedNode.open();
    try {
      await mineCoinbases(other.node, 1);
      await other.settle();
      expect(other.answers.warnings()).to.deep.equal([]);
    } finally {
      await other.close();
    }
  });
});
