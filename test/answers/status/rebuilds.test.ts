import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { scanBlock } from '../../../lib/bitcoin/block';
import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { DamagedIndexError } from '../../../lib/follow/errors';
import { bcoin } from '../../support/bcoin/bcoin';
import { caught } from '../../support/expectations/caught';
import { NotifyingNode } from '../../support/node/notifying-node';
import { PoolWalk, scriptHash } from '../../support/pool/walk';
import { mine } from '../../support/bcoin/regtest-node';

describe('the status of a script while the index by script is rebuilt', () => {
  let walk: PoolWalk;
  let all: NotifyingNode;
  let told: unknown[];
  let address: unknown;

  before(async () => {
    walk = await PoolWalk.start();
  });
  after(() => walk.close());
  beforeEach(async () => {
    told = [];
    address = bcoin.KeyRing.generate().getAddress();
    all = await NotifyingNode.beside(walk.host);
  });
  afterEach(() => all.close());

  /** Mines a block whose coinbase pays to the script. Returns the script's SHA-256. */
  async function reward(): Promise<Buffer> {
    const [block] = await mine(walk.host, 1, undefined, address);
    const [output] = scanBlock(block?.toRaw() ?? Buffer.alloc(0)).transactions[0]?.outputs ?? [];
    return scriptHash(output?.script ?? expect.fail('an output'));
  }

  const statusFrom = async (node: NotifyingNode, script: Buffer): Promise<string | undefined> => {
    const client = node.client((_, [, status]) => told.push(status));
    return (await client.addScript(script, toDisplayHex(script)))?.toString('hex');
  };
  async function present(script: Buffer): Promise<string | undefined> {
    const fresh = await NotifyingNode.beside(walk.host);
    const status = await statusFrom(fresh, script);
    await fresh.close();
    return status;
  }

  /** A reader meets a damaged record: in this turn the index by script becomes unavailable. */
  function meetDamage(): Promise<unknown> {
    return caught(all.scripts.reader.read(() => Promise.reject(new DamagedIndexError('a damaged record'))));
  }

  it('has a block only once that nobody was told of before', async () => {
    const script = await reward();
    await all.untilNotified();
    await statusFrom(all, script);
    const meeting: Promise<unknown>[] = [];
    const watching = all.scripts.watched.changes$.subscribe(({ type }) => {
      if (type === 'connect' && meeting.length === 0) meeting.push(meetDamage());
    });
    await reward();
    await Promise.all(meeting);
    await all.untilNotified();
    watching.unsubscribe();
    // That clients are told later needs no line.
    expect(all.log.lines.filter((line) => line.startsWith('warning'))).to.deep.equal([
      'warning Filling the index by script again: a damaged record.'
    ]);
    expect(told).to.deep.equal([await present(script)]);
  });

  it('no longer has a block that was disconnected meanwhile', async () => {
    const script = await reward();
    await all.untilNotified();
    await statusFrom(all, script);
    const meeting: Promise<unknown>[] = [];
    const watching = all.index.blocks$.subscribe(({ type }) => {
      if (type === 'disconnect') meeting.push(meetDamage());
    });
    await walk.goBack('fork', 1);
    await Promise.all(meeting);
    await all.untilNotified();
    watching.unsubscribe();
    expect(meeting).to.have.length(1);
    expect(told).to.deep.equal([null]);
  });
});
