// BDK in WebAssembly, as its package is published: a wallet in a separate process, since Node.js loads such a package only with
// --experimental-wasm-modules. It is controlled by messages, see bdk-wallet.ts.
//
//   bdk-process.mjs <url of the interface> <seed in hex> <p2wpkh or p2tr>

import * as bdk from 'bitcoindevkit';

const STOP_GAP = 5;
const AT_ONCE = 4;
const SATS_PER_VBYTE = 2;

const [url, seed, type] = process.argv.slice(2);
const { external, internal } = bdk.seed_to_descriptor(Buffer.from(seed, 'hex'), 'regtest', type);
const wallet = bdk.Wallet.create('regtest', external, internal);
const client = new bdk.EsploraClient(url);

const now = () => BigInt(Math.floor(Date.now() / 1000));

const state = () => {
  const { confirmed, total } = wallet.balance;
  const { height, hash } = wallet.latest_checkpoint;
  const transactions = wallet.transactions().map(({ txid, chain_position: { anchor } }) => ({
    txid: txid.toString(),
    ...(anchor && { height: anchor.block_id.height, block: anchor.block_id.hash })
  }));
  return { confirmed: Number(confirmed.to_sat()), total: Number(total.to_sat()), height, hash, transactions };
};

const broadcast = async (built, rate) => {
  const psbt = built.fee_rate(new bdk.FeeRate(BigInt(rate ?? SATS_PER_VBYTE))).finish();
  const fee = Number(psbt.fee().to_sat());
  if (!wallet.sign(psbt)) throw new Error('the wallet did not sign all inputs');
  const transaction = psbt.extract_tx();
  const txid = transaction.compute_txid().toString();
  await client.broadcast(transaction);
  return { txid, fee };
};

const calls = {
  newAddress: () => wallet.reveal_next_address('external').address.toString(),
  fullScan: async () => {
    wallet.apply_update_at(await client.full_scan(wallet.start_full_scan(), STOP_GAP, AT_ONCE), now());
    return state();
  },
  sync: async () => {
    wallet.apply_update_at(await client.sync(wallet.start_sync_with_revealed_spks(), AT_ONCE), now());
    return state();
  },
  send: (address, sats, rate) => {
    const recipient = new bdk.Recipient(bdk.Address.from_string(address, 'regtest'), bdk.Amount.from_sat(BigInt(sats)));
    return broadcast(wallet.build_tx().add_recipient(recipient), rate);
  },
  sweep: (address, rate) => broadcast(wallet.build_tx().drain_wallet().drain_to(bdk.Address.from_string(address, 'regtest')), rate),
  has: async (txid) => (await client.get_tx(bdk.Txid.from_string(txid))) !== undefined
};

process.on('message', async ({ name, args }) => {
  try {
    process.send({ value: await calls[name](...args) });
  } catch (error) {
    process.send({ error: String(error) });
  }
});
process.send({ value: 'ready' });
