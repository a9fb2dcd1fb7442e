// What a log says, folded record by record, and compared with a node. It fails as soon as a record does not fit those before it.

import { expect } from 'chai';
import { scanBlock } from '../../lib/bitcoin/block';
import { keyOf, toDisplayHex } from '../../lib/bitcoin/hash';
import { previousHashOf } from '../../lib/bitcoin/header';
import { scanWholeTransaction } from '../../lib/bitcoin/transaction';
import type { Beat, BlockPart, ChainPoint, Connect, PoolAdd, PoolChange, PoolRemove, RecordBody } from '../../lib/fleet/messages/records';
import type { BlockPoint } from '../../lib/node/types/chain';
import type { NodeSource } from '../../lib/node/types/source';

interface FoldedBlock {
  readonly raw: Buffer;
  readonly undo: Buffer;
  readonly txids: readonly string[];
}

export class FoldedLog {
  readonly pool = new Map<string, PoolAdd>();
  beat: Beat | undefined;
  /** Names of the nodes that have written it. */
  readonly writers = new Set<string>();
  readonly resets: string[] = [];
  tip: BlockPoint | undefined;
  #point: ChainPoint | undefined;
  /** Blocks by hash that the log has. */
  readonly blocks = new Map<string, FoldedBlock>();
  /** Transactions of blocks that were disconnected, and that were not in the pool then. */
  readonly #left = new Set<string>();
  /** Of the records of a clearing. */
  #kept: string[][] = [];
  #parts: { readonly first: number; readonly parts: BlockPart[] } = { first: 0, parts: [] };

  apply(body: RecordBody, sequence: number): void {
    switch (body.type) {
      case 'block':
        if (body.part === 0) this.#parts = { first: sequence, parts: [] };
        expect(body.part).to.equal(this.#parts.parts.length);
        this.#parts.parts.push(body);
        break;
      case 'connect':
        this.#connect(body);
        break;
      case 'disconnect': {
        expect(this.tip?.hash).to.deep.equal(body.hash);
        const { txids = [] } = this.blocks.get(keyOf(body.hash)) ?? {};
        for (const txid of txids) if (!this.pool.has(txid)) this.#left.add(txid);
        this.tip = { hash: body.previous, height: body.height - 1 };
        this.#point = undefined;
        break;
      }
      case 'reset':
        this.resets.push(body.reason);
        this.tip = body;
        this.#point = body;
        break;
      case 'add':
        this.#add(body);
        break;
      case 'remove':
        this.#remove(body);
        break;
      case 'change':
        this.#change(body);
        break;
      case 'clear': {
        if (body.part === 0) this.#kept = [];
        expect(body.part).to.equal(this.#kept.length);
        this.#kept.push(body.kept.map(keyOf));
        if (body.hasMore) break;
        const kept = new Set(this.#kept.flat());
        for (const key of this.pool.keys()) if (!kept.has(key)) this.pool.delete(key);
        break;
      }
      case 'beat':
        expect(body.tip.hash, 'the tip of the beat').to.deep.equal(this.tip?.hash);
        this.beat = body;
        break;
    }
  }

  /** Compares with the node, which must be at rest. */
  async expectEqual(node: NodeSource): Promise<void> {
    expect(this.tip).to.deep.include({ hash: node.tip().hash, height: node.tip().height });
    if (this.#point !== undefined) {
      const { hash, header, height, chainwork, medianTime, deployments, deploymentInfo } = this.#point;
      expect({ hash, header, height, chainwork, medianTime }).to.deep.equal(await node.entry(hash));
      expect(deployments).to.deep.equal(await node.deployments(hash));
      expect(deploymentInfo).to.deep.equal(await node.deploymentInfo(hash));
    }
    for (const { raw, undo } of this.blocks.values()) {
      const { hash } = scanBlock(raw);
      // A node on another branch may not have it.
      const own = await node.rawBlock(hash);
      if (own !== undefined) expect(raw).to.deep.equal(own);
      const stored = await node.undoRecord(hash);
      if (stored !== undefined) expect(undo).to.deep.equal(stored);
    }
    const expected = node.pool.entries().map((entry) => {
      const { size, adjustedWeight, time, height, fee, modifiedFee, isUnbroadcast } = entry;
      return { txid: toDisplayHex(entry.txid), size, adjustedWeight, time, height, fee, modifiedFee, isUnbroadcast };
    });
    const came = Array.from(this.pool.entries(), ([key, entry]) => {
      const { size, adjustedWeight, time, height, fee, modifiedFee, isUnbroadcast } = entry;
      return { txid: toDisplayHex(Buffer.from(key, 'latin1')), size, adjustedWeight, time, height, fee, modifiedFee, isUnbroadcast };
    });
    const byTxid = (a: { readonly txid: string }, b: { readonly txid: string }): number => (a.txid < b.txid ? -1 : 1);
    expect(came.sort(byTxid)).to.deep.equal(expected.sort(byTxid));
    for (const [key, { raw, coins }] of this.pool) {
      const transaction = await node.pool.withCoins(Buffer.from(key, 'latin1'));
      expect(raw).to.deep.equal(transaction?.raw);
      expect(coins).to.deep.equal(transaction?.coins);
    }
    const { size, bytes, usage } = node.pool.info();
    expect(this.beat?.pool).to.include({ size, bytes, usage });
  }

  #connect(connect: Connect): void {
    const { hash, header, height, blockBytes, undoBytes, blockSequence } = connect;
    const { first, parts } = this.#parts;
    expect(blockSequence, 'the sequence of the block').to.equal(first);
    expect(parts).to.have.length(parts[0]?.parts ?? 0);
    for (const part of parts) expect(part.hash).to.deep.equal(hash);
    const bytes = Buffer.concat(parts.map((part) => part.bytes));
    expect(bytes).to.have.length(blockBytes + undoBytes);
    const raw = bytes.subarray(0, blockBytes);
    const block = scanBlock(raw);
    expect(block.hash).to.deep.equal(hash);
    expect(block.header).to.deep.equal(header);
    expect(previousHashOf(header)).to.deep.equal(this.tip?.hash);
    expect(height).to.equal((this.tip?.height ?? 0) + 1);
    const txids = block.transactions.map(({ txid }) => keyOf(txid));
    this.blocks.set(keyOf(hash), { raw, undo: bytes.subarray(blockBytes), txids });
    for (const txid of txids) this.#left.delete(txid);
    this.tip = { hash, height };
    this.#point = connect;
  }

  #add(add: PoolAdd): void {
    const key = keyOf(scanWholeTransaction(add.raw).txid);
    expect(this.#left.has(key), 'a transaction enters the pool after its block was disconnected').to.equal(false);
    this.pool.set(key, add);
  }

  #remove({ txid }: PoolRemove): void {
    expect(this.pool.delete(keyOf(txid)), 'a transaction that leaves the pool was in it').to.equal(true);
  }

  #change({ txid, ...change }: PoolChange): void {
    const entry = this.pool.get(keyOf(txid));
    if (entry === undefined) throw new Error('expected the transaction in the pool');
    this.pool.set(keyOf(txid), { ...entry, ...change, type: 'add' });
  }
}
