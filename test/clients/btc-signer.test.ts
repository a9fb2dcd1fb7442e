// Transactions that @scure/btc-signer builds and signs, as it is published, for a node with today's pool.

import { randomBytes } from 'node:crypto';
import {
  Address,
  p2tr,
  p2tr_ms,
  p2tr_ns,
  p2tr_pk,
  SigHash,
  taprootListToTree,
  taprootNumsKey,
  Transaction,
  utils
} from '@scure/btc-signer';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { coreRegtestPrefixes } from '../support/chain/chain-a';
import { withEarlyForks } from '../support/chain/early-forks';
import { ask } from '../support/client/http';
import { KeyWallet } from '../support/chain/key-wallet';
import { WalletNode } from './wallet-node';

const { bech32, pubkeyhash, scripthash } = coreRegtestPrefixes;
const NETWORK = { bech32, pubKeyHash: pubkeyhash, scriptHash: scripthash, wif: 0xef };

const COINS = 20;
const PAID = 1_000_000;
const FEE = 1_000;
const TIMEOUT_MS = 60_000;

const ANCHOR = Buffer.from('51024e73', 'hex');

type Input = Parameters<Transaction['addInput']>[0];

/** Without a script, or with scripts. */
type Output = Pick<ReturnType<typeof p2tr>, 'script' | 'tapInternalKey'> &
  Partial<Pick<ReturnType<typeof p2tr>, 'tapLeafScript' | 'tapMerkleRoot'>>;

interface PackageAnswer {
  readonly package_msg: string;
  readonly 'tx-results': Readonly<Record<string, { readonly txid: string; readonly error?: string }>>;
}

const pair = () => {
  const secret = randomBytes(32);
  return { secret, xonly: utils.pubSchnorr(secret) };
};

const tree = (...leaves: readonly { readonly script: Uint8Array }[]) => taprootListToTree(leaves.map(({ script }) => ({ script })));

describe('@scure/btc-signer', function () {
  this.timeout(TIMEOUT_MS);
  withEarlyForks();
  const shop = new KeyWallet();
  const [a, b, c] = [pair(), pair(), pair()];
  let served: WalletNode;

  before(async () => {
    served = await WalletNode.open(COINS, { 'rest-pool': 'modern' });
  });
  after(() => served.close());

  const inputOf = ({ script, tapInternalKey, tapLeafScript, tapMerkleRoot }: Output, txid: string): Input => ({
    txid,
    index: 0,
    witnessUtxo: { script, amount: BigInt(PAID) },
    tapInternalKey,
    ...(tapMerkleRoot && { tapMerkleRoot }),
    ...(tapLeafScript && { tapLeafScript })
  });

  /** An input that spends an output that is paid now. */
  const paid = async (output: Output): Promise<Input> => {
    const address = Address(NETWORK).encode({ type: 'tr', pubkey: output.script.subarray(2) });
    return inputOf(output, await served.faucet.pays(address, PAID));
  };

  const post = async (path: string, body: string): Promise<{ readonly status: number; readonly text: string }> => {
    const { status, body: reply } = await ask(served.port, { method: 'POST', path, body: Buffer.from(body) });
    return { status, text: reply.toString() };
  };

  const get = async (path: string): Promise<unknown> => JSON.parse((await ask(served.port, { path })).body.toString());

  /** All but the fee goes to the shop. */
  const spend = (inputs: readonly Input[], fee: number, secrets: readonly Uint8Array[]): Transaction => {
    const transaction = new Transaction();
    for (const input of inputs) transaction.addInput(input);
    transaction.addOutputAddress(shop.address, BigInt(inputs.length * PAID - fee), NETWORK);
    for (const secret of secrets) transaction.sign(secret, [SigHash.DEFAULT, SigHash.ALL, SigHash.SINGLE_ANYONECANPAY]);
    transaction.finalize();
    return transaction;
  };

  const expectSent = async (transaction: Transaction): Promise<void> => {
    expect(await post('/api/tx', transaction.hex)).to.deep.equal({ status: 200, text: transaction.id });
  };

  const expectMined = async (transactions: readonly Transaction[]): Promise<void> => {
    await served.confirm();
    for (const { id } of transactions) expect(await get(`/api/tx/${id}/status`)).to.deep.include({ confirmed: true });
  };

  const ways: Readonly<Record<string, { readonly output: Output; readonly secrets: readonly Uint8Array[] }>> = {
    'by its key': { output: p2tr(a.xonly, undefined, NETWORK), secrets: [a.secret] },
    'by its key, although there are scripts': { output: p2tr(a.xonly, tree(p2tr_pk(b.xonly)), NETWORK), secrets: [a.secret] },
    'by the script of a key': { output: p2tr(undefined, tree(p2tr_pk(b.xonly)), NETWORK), secrets: [b.secret] },
    'by one of three scripts': {
      output: p2tr(taprootNumsKey(), tree(...p2tr_ns(2, [a.xonly, b.xonly, c.xonly])), NETWORK),
      secrets: [b.secret, c.secret]
    },
    'by a script that counts signatures': {
      output: p2tr(undefined, tree(p2tr_ms(2, [a.xonly, b.xonly, c.xonly])), NETWORK),
      secrets: [a.secret, c.secret]
    }
  };

  for (const [way, { output, secrets }] of Object.entries(ways))
    it(`spends a taproot output ${way}`, async () => {
      const transaction = spend([await paid(output)], FEE, secrets);
      await expectSent(transaction);
      await expectMined([transaction]);
    });

  it('spends several at once, with signatures for parts of the transaction', async () => {
    const inputs: Input[] = [];
    for (const sighashType of [SigHash.SINGLE_ANYONECANPAY, SigHash.ALL, undefined]) {
      const output = p2tr(c.xonly, undefined, NETWORK);
      inputs.push({ ...(await paid(output)), ...(sighashType !== undefined && { sighashType }) });
    }
    const transaction = spend(inputs, FEE, [c.secret]);
    await expectSent(transaction);
    await expectMined([transaction]);
  });

  it('is told that a signature is wrong', async () => {
    const [keyed, scripted] = [p2tr(a.xonly, undefined, NETWORK), p2tr(undefined, tree(p2tr_pk(b.xonly)), NETWORK)];
    for (const { output, secrets } of [
      { output: keyed, secrets: [a.secret] },
      { output: scripted, secrets: [b.secret] }
    ]) {
      const raw = Buffer.from(spend([await paid(output)], FEE, secrets).extract());
      // A byte of the amount that was signed for.
      const hex = raw.toString('hex');
      const amount = Buffer.alloc(8);
      amount.writeBigUInt64LE(BigInt(PAID - FEE));
      const other = Buffer.alloc(8);
      other.writeBigUInt64LE(BigInt(PAID - FEE - 1));
      const { status, text } = await post('/api/tx', hex.replace(amount.toString('hex'), other.toString('hex')));
      expect(status).to.equal(400);
      expect(text).to.match(/"code":-26,"message":"mempool-script-verify-flag-failed \(Invalid Schnorr signature\)/);
    }
  });

  it('replaces what it has sent, if it pays enough more', async () => {
    const output = p2tr(a.xonly, undefined, NETWORK);
    const input = await paid(output);
    const [first, same, better] = [FEE, FEE + 1, 2 * FEE].map((fee) => spend([input], fee, [a.secret])) as [
      Transaction,
      Transaction,
      Transaction
    ];
    await expectSent(first);
    const refused = await post('/api/tx', same.hex);
    expect(refused.status).to.equal(400);
    expect(refused.text).to.include('insufficient fee, rejecting replacement');
    await expectSent(better);
    expect((await ask(served.port, { path: `/api/tx/${first.id}` })).status).to.equal(404);
    await expectMined([better]);
  });

  it('pays for a parent without a fee in a package', async () => {
    const output = p2tr(b.xonly, undefined, NETWORK);
    const input = await paid(output);
    // A transaction of version 3 spends no unconfirmed one of another version.
    await served.confirm();
    const parent = new Transaction({ version: 3, allowUnknownOutputs: true });
    parent.addInput(input);
    parent.addOutput({ script: output.script, amount: BigInt(PAID) });
    parent.addOutput({ script: ANCHOR, amount: 0n });
    parent.sign(b.secret);
    parent.finalize();
    const child = new Transaction({ version: 3, allowUnknownInputs: true });
    child.addInput(inputOf(output, parent.id));
    child.addInput({ txid: parent.id, index: 1, witnessUtxo: { script: ANCHOR, amount: 0n }, finalScriptSig: new Uint8Array() });
    child.addOutputAddress(shop.address, BigInt(PAID - FEE), NETWORK);
    child.signIdx(b.secret, 0);
    child.finalizeIdx(0);
    const alone = await post('/api/tx', parent.hex);
    expect(alone.text).to.include('min relay fee not met, 0 < ');
    const { status, text } = await post('/api/txs/package', JSON.stringify([parent.hex, child.hex]));
    const answer = JSON.parse(text) as PackageAnswer;
    expect({ status, message: answer.package_msg }).to.deep.equal({ status: 200, message: 'success' });
    expect(Object.values(answer['tx-results']).map(({ txid }) => txid)).to.have.members([parent.id, child.id]);
    await expectMined([parent, child]);
  });
});
