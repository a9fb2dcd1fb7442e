import { cp } from 'node:fs/promises';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { newFolder } from '../support/process/folders';
import { needsNats } from '../support/fleet/nats';
import { HandFedReaders, LENGTH } from './hand-fed-readers';
import type { BcoinNode } from '../../lib/node/bcoin';
import type { HandFedLog } from './hand-fed-log';

describe('a reader that was away', () => {
  let fed: HandFedReaders;
  let node: BcoinNode;
  let log: HandFedLog;

  beforeEach(async function () {
    fed = await HandFedReaders.open(needsNats(this));
    ({ node, log } = fed);
  });

  afterEach(() => fed.close());

  /** The folder of a reader that is closed, and has read the log up to height 3. */
  async function readUpTo3(): Promise<string> {
    const folder = await newFolder();
    await log.writeStart(2);
    const before = await fed.reader({ folder });
    await before.reaches(await fed.pointAt(2));
    await log.writeBlock(3);
    await before.reaches(await fed.pointAt(3));
    await fed.closeReaders();
    return folder;
  }

  it('takes blocks that came while it was away from the log, and asks nodes for none of them', async () => {
    const folder = await readUpTo3();
    for (let height = 4; height <= LENGTH; height++) await log.writeBlock(height);
    const [blocks, headers] = [fed.asked('block'), fed.asked('headers')];
    const after = await fed.reader({ folder });
    await after.reaches(node.tip());
    expect(fed.asked('block')).to.equal(blocks);
    expect(fed.asked('headers')).to.equal(headers + 1);
  });

  it('leaves out what somebody else wrote into the log while it was away', async () => {
    const folder = await readUpTo3();
    for (let height = 4; height <= LENGTH; height++) {
      await log.bus.jetstream.publish(log.subjects.record.chain, 'hello');
      await log.writeBlock(height);
    }
    const blocks = fed.asked('block');
    const after = await fed.reader({ folder });
    await after.reaches(node.tip());
    expect(fed.asked('block')).to.equal(blocks);
  });

  it('takes blocks that came while it was away from a log that begins with them, and asks nodes where it begins later', async () => {
    const [folder, copy] = [await readUpTo3(), await newFolder()];
    await cp(folder, copy, { recursive: true });
    const read = log.last;
    for (let height = 4; height <= LENGTH; height++) await log.writeBlock(height);
    for (const [dropped, from, blocksAsked] of [
      [0, folder, 0],
      [1, copy, LENGTH - 3]
    ] as const) {
      await log.bus.manager.streams.update(log.subjects.stream, { max_msgs: log.last - read - dropped });
      const blocks = fed.asked('block');
      const after = await fed.reader({ folder: from });
      await after.reaches(node.tip());
      expect(fed.asked('block')).to.equal(blocks + blocksAsked);
    }
  });

  it('asks nodes for what came while it was away where the log is another one', async () => {
    const folder = await newFolder();
    await log.writeStart(3);
    const before = await fed.reader({ folder });
    await before.reaches(await fed.pointAt(3));
    await fed.closeReaders();
    await log.startAnew();
    await log.writeStart(LENGTH);
    const blocks = fed.asked('block');
    const after = await fed.reader({ folder });
    await after.reaches(node.tip());
    expect(fed.asked('block')).to.equal(blocks + LENGTH - 3);
  });
});
