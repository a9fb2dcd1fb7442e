import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { bcoin, bcoinTarget } from '../support/bcoin/bcoin';
import { BcoinApi } from './bcoin-api';
import { BcoinProcess, bcoinFolder } from '../support/bcoin/process';
import { COINBASE_SATS } from '../support/chain/coinbases';
import { newFolder } from '../support/process/folders';

const project = resolve(__dirname, '../..');
/** In this project the package of this name is the project itself; another bcoin needs the folder. */
const pluginName = bcoinTarget === 'bcoin' ? 'rest' : project;
const startProgram = join(project, 'dist/plugin/start/main.js');
const bcoinProgram = join(bcoinFolder, 'bin/node');

const MATURITY = 100;
const SENT_SATS = 100_000_000;
const API_KEY = 'sesame';
/** Between two looks at a history, each of which takes the wallet's process from its work. */
const LOOK_MS = 50;
/** A key that is imported into the wallet just before its rescan. */
const foreign = bcoin.KeyRing.fromPrivate(Buffer.alloc(32, 2), true);

interface WalletTransaction {
  readonly hash: string;
  readonly height: number;
}

/** The answers of a wallet and of the address index. */
interface Told {
  readonly listed: readonly string[];
  readonly coins: readonly { readonly hash: string; readonly index: number }[];
  readonly balance: { readonly confirmed: number; readonly unconfirmed: number };
  /** Transactions of one address of the wallet, from the node's index. */
  readonly ofAddress: readonly string[];
}

describe('a wallet and an address index on disk', function () {
  this.timeout(120_000);
  let folder: string;
  let running: BcoinProcess | undefined;

  beforeEach(async () => {
    folder = await newFolder();
  });
  afterEach(() => running?.kill());

  /** Receives and sends, and compares the answers after a restart and after a rescan. */
  async function session(start: () => Promise<BcoinProcess>): Promise<void> {
    const elsewhere = foreign.getAddress('string', 'regtest');
    running = await start();
    const { node, wallet } = await apisOf(running);
    const { address } = await wallet.post<{ readonly address: string }>('/wallet/primary/address', { account: 'default' });
    await node.call('generatetoaddress', 2, address);
    await node.call('generatetoaddress', MATURITY, elsewhere);
    const received = await told(node, wallet, address, 2);
    expect(received.coins).to.have.length(2);
    expect(received.balance.confirmed).to.equal(2 * COINBASE_SATS);
    expect(received.ofAddress).to.deep.equal(received.listed);

    const sent = await wallet.post<{ readonly hash: string }>('/wallet/primary/send', {
      rate: 10_000,
      outputs: [{ address: elsewhere, value: SENT_SATS }]
    });
    await node.call('generatetoaddress', 1, elsewhere);
    const after = await told(node, wallet, address, 3);
    expect(after.listed).to.include(sent.hash);
    expect(after.balance.confirmed)
      .to.be.lessThan(2 * COINBASE_SATS - SENT_SATS)
      .and.greaterThan(COINBASE_SATS);
    expect(after.ofAddress).to.have.members(after.listed);
    await node.call('stop');
    await running.ended();

    running = await start();
    const again = await apisOf(running);
    expect(await told(again.node, again.wallet, address, 3), 'after a restart').to.deep.equal(after);
    await again.wallet.call('importprivkey', foreign.toSecret('regtest'), '', true);
    // Without the spend: 1.0.2 does not confirm its own spends again, even with a wallet in memory.
    const all = await told(again.node, again.wallet, address, 2 + MATURITY + 1);
    expect(all.listed, 'after a rescan')
      .to.have.length(2 + MATURITY + 2)
      .and.to.include.members(after.listed);
    await again.node.call('stop');
    await running.ended();
  }

  async function apisOf(process: BcoinProcess): Promise<{ readonly node: BcoinApi; readonly wallet: BcoinApi }> {
    await process.printed(/Node is loaded/);
    return { node: new BcoinApi(process.ports.http, API_KEY), wallet: new BcoinApi(process.ports.wallet, API_KEY) };
  }

  /** The answers once this many transactions of the wallet are confirmed; those that it does not list never are. */
  async function told(node: BcoinApi, wallet: BcoinApi, address: string, confirmed: number): Promise<Told> {
    let history: readonly WalletTransaction[] = [];
    while (history.filter(({ height }) => height > 0).length < confirmed) {
      await setTimeout(LOOK_MS);
      history = await wallet.get('/wallet/primary/tx/history');
    }
    const coins = await wallet.get<Told['coins']>('/wallet/primary/coin');
    const ofAddress = await node.get<readonly WalletTransaction[]>(`/tx/address/${address}`);
    return {
      listed: history.map(({ hash }) => hash).sort(),
      coins: coins.map(({ hash, index }) => ({ hash, index })).sort((a, b) => (a.hash < b.hash ? -1 : 1)),
      balance: await wallet.get('/wallet/primary/balance'),
      ofAddress: ofAddress.map(({ hash }) => hash).sort()
    };
  }

  const start =
    (...args: string[]): (() => Promise<BcoinProcess>) =>
    () =>
      BcoinProcess.regtest(args, folder, [
        '--index-tx',
        '--index-address',
        '--api-key',
        API_KEY,
        '--wallet-prefix',
        join(folder, 'regtest')
      ]);

  it('are complete with the preload', () => session(start('-r', 'bcoin-rest/leveldown-6', bcoinProgram)));

  it('are complete with the plugin', () => session(start(bcoinProgram, '--plugins', pluginName)));

  it('are complete in a node of `npm start`', () => session(start(startProgram)));
});
