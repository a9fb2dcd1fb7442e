// `index verify --utxo-hash`: the hash of all coins, to be compared with that of any other node at the same block.

import { existsSync } from 'node:fs';
import { txidsIn } from '../../../../lib/bitcoin/block';
import { toDisplayHex } from '../../../../lib/bitcoin/hash';
import { headerAt, findTip } from '../../../../lib/index/records/chain';
import { utxoHash } from '../../../../lib/index/utxo-hash/utxo-hash';
import { LAYOUT_VERSION, STATE_KEYS } from '../../../../lib/scripts/records/layout';
import { TxidTable } from '../../../../lib/scripts/txids/txid-table';
import { DiskStore } from '../../../../lib/store/disk-store';
import { storedVersion } from '../../../../lib/store/migrate';
import { runAtOnce } from '../../../../lib/turns/slices';
import { ImpossibleError } from '../errors';
import { blockJson, blockText, EXIT, type Report } from '../report';
import type { UtxoHash } from '../../../../lib/index/types';
import type { BlockPoint } from '../../../../lib/node/types/chain';
import type { Store } from '../../../../lib/store/store';
import type { CommandContext } from '../stopped-index';

const SATOSHIS = 100_000_000n;

/** @throws ImpossibleError when the txids of a block are nowhere, DamagedIndexError, the reason of an abort. */
export async function hashCoins({ stopped, display, signal }: CommandContext, store: Store, tip: BlockPoint): Promise<Report> {
  const fromBlocks = async (height: number): Promise<Buffer> => {
    const { hash } = headerAt(store, height);
    const raw = await stopped.node.rawBlock(hash);
    if (raw === undefined)
      throw new ImpossibleError(`the node has not kept ${blockText({ height, hash })}, whose txids the hash of the coins needs`);
    return runAtOnce(txidsIn(raw));
  };
  let records = 0;
  const onRecord = (height: number): void => {
    signal.throwIfAborted();
    display.compared(++records, height / (tip.height + 1));
  };
  const snapshot = store.snapshot();
  try {
    return reportOf(
      tip,
      await withTable(stopped.scriptsFolder, tip, (table) =>
        utxoHash(snapshot, {
          txidsOf: table === undefined ? fromBlocks : (height) => Promise.resolve(table.view.ofBlock(height)),
          onRecord
        })
      )
    );
  } finally {
    display.end();
    snapshot.close();
  }
}

/** With the txids of the index by script, if there is one at this block: otherwise all blocks that have coins must be read. */
async function withTable<T>(folder: string, tip: BlockPoint, use: (table: TxidTable | undefined) => Promise<T>): Promise<T> {
  if (!existsSync(folder)) return await use(undefined);
  const store = new DiskStore(folder, { checkedFirst: STATE_KEYS });
  try {
    await store.open();
    const isThere = (await storedVersion(store)) === LAYOUT_VERSION && (await findTip(store))?.hash.equals(tip.hash) === true;
    return await use(isThere ? await TxidTable.load(store, tip.height + 1) : undefined);
  } finally {
    await store.close();
  }
}

function reportOf(tip: BlockPoint, { muhash, coins, satoshis }: UtxoHash): Report {
  const hash = toDisplayHex(muhash);
  const amount = `${satoshis / SATOSHIS}.${String(satoshis % SATOSHIS).padStart(8, '0')}`;
  return {
    exit: EXIT.done,
    json: { index: blockJson(tip), muhash: hash, coins, amount },
    text: `The index has ${coins} coins of ${amount} BTC at ${blockText(tip)}. Their hash, as of gettxoutsetinfo muhash:\n${hash}`
  };
}
