import { chmod, chown, cp, mkdir, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { IndexUnavailableError } from '../../lib/index/errors';
import { DiskStore } from '../../lib/store/disk-store';
import { mine } from '../support/bcoin/regtest-node';
import { activeChain, chainWithSpends } from '../support/chain/regtest-chain';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { expectIndexOf } from '../support/index/utxo-model';

/** The user id of `nobody`, who owns nothing. */
const NOBODY = 65_534;

describe("the folder of a node's index", () => {
  let folder: string;
  const prefixOf = (name: string): string => join(folder, name);
  const indexOf = (name: string): string => join(prefixOf(name), 'regtest/rest/index');

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rest-folder-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function withNode(name: string, use: (served: RestNode) => Promise<void>): Promise<void> {
    const served = await openRestNode({ prefix: prefixOf(name) });
    await untilReady(served);
    await use(served);
    await served.node.close();
  }

  it("may have another chain's index, which becomes the node's", async () => {
    await withNode('one', async ({ node }) => {
      await chainWithSpends(node);
    });
    await withNode('other', async ({ node }) => {
      await mine(node, 3);
    });
    await rm(indexOf('other'), { recursive: true });
    await cp(indexOf('one'), indexOf('other'), { recursive: true });
    let chain: Buffer[] = [];
    await withNode('other', async ({ rest }) => {
      chain = await activeChain(rest.node);
    });
    expect(chain).to.have.length(4);
    const store = new DiskStore(indexOf('other'));
    await store.open();
    await expectIndexOf(store, chain);
    await store.close();
  });

  /** Expects that the node runs, follows its chain, and says at each request why it is not answered. */
  /** The reason is in the log. Strangers are not told about folders. */
  async function expectClosed(name: string, reason: RegExp): Promise<void> {
    const settings = { logFile: true, logLevel: 'error' };
    const { node, rest, baseUrl } = await openRestNode({ prefix: prefixOf(name), settings });
    await mine(node, 1);
    const reply = await fetch(`${baseUrl}/rest/chaininfo.json`);
    expect(reply.status).to.equal(503);
    expect(await reply.text()).to.equal('Service temporarily unavailable: index failed; the log of the node says why\r\n');
    expect(node.chain.height).to.equal(1);
    expect(() => rest.reader.read(() => 0)).to.throw(IndexUnavailableError);
    await node.close();
    expect(await readFile(join(prefixOf(name), 'regtest/debug.log'), 'utf8')).to.match(reason);
  }

  it('may be in use: the node runs, and its log says why requests are not answered', async () => {
    await mkdir(indexOf('one'), { recursive: true });
    const holder = new DiskStore(indexOf('one'));
    await holder.open();
    await expectClosed('one', new RegExp(`The index was not opened: cannot open the store in ${indexOf('one')}: .*lock`));
    await holder.close();
  });

  it('may be one that LevelDB cannot use: the node runs, and its log says so', async () => {
    await mkdir(join(indexOf('one'), 'LOCK'), { recursive: true });
    await expectClosed('one', /The index was not opened: cannot open the store in .*LOCK: Is a directory/);
  });

  it('may be inaccessible: the node runs, and its log says so', async () => {
    await mkdir(indexOf('one'), { recursive: true });
    await asSomebody(async () => {
      await chmod(indexOf('one'), 0o500);
      await expectClosed('one', /The index was not opened: cannot open the store in .*: Permission denied/);
      await chmod(indexOf('one'), 0o700);
    });
  });

  /** Nothing is inaccessible to the superuser: then this runs as another user, and the folder belongs to a third. */
  async function asSomebody(use: () => Promise<void>): Promise<void> {
    if (process.geteuid?.() !== 0) return use();
    for (const path of [folder, ...(await readdir(folder, { recursive: true }))]) await chown(resolve(folder, path), NOBODY, NOBODY);
    process.seteuid?.(NOBODY);
    try {
      await use();
    } finally {
      process.seteuid?.(0);
    }
  }
});
