// A block as bytes, as hex, and as the JSON of every interface that shows Bitcoin Core's.

import { blockWithoutWitness, scanBlock } from '../../bitcoin/block';
import { keyOf } from '../../bitcoin/hash';
import { HEADER_LENGTH } from '../../bitcoin/header';
import { blockJson, blockSummaryJson } from '../../views/block';
import { hexLine } from '../../views/hex';
import type { NodeSource } from '../../node/types/source';
import type { Client } from '../../turns/client';
import type { Profile } from '../../views/profile';
import type { TxidsOf } from '../scripts/txids';
import type { KnownBlock } from './known-block';
import type { RawBlocks } from './raw-blocks';
import type { SpentOutputs } from './spent-outputs';
import type { BlockTexts, HeldText } from './texts';

/**
 * `json`: with transactions and, depending on the profile, the outputs that they spend. `fees`: with the fees of transactions instead of
 * these outputs. `summary`: with txids alone: short, but expensive if all transactions have to be hashed for it.
 */
export type JsonForm = 'json' | 'fees' | 'summary';

export interface BlockText extends HeldText {
  /** Whether the node lacks outputs that the text should show: the next request may find them. */
  readonly isLacking: boolean;
}

export interface BlockFormsParts {
  readonly node: NodeSource;
  readonly profile: Profile;
  /** Whether bytes and hex carry witnesses. */
  readonly witness: boolean;
  readonly blocks: RawBlocks;
  readonly texts: BlockTexts;
  readonly spent: SpentOutputs;
  readonly txidsOf: TxidsOf | undefined;
}

/** Marks the keys of texts that lack the outputs that the block spends, because the node does not have them. */
const WITHOUT_SPENT = '-';

const viewWithFees: typeof blockJson = (block, context, allocate) => blockJson(block, { ...context, hidesSpent: true }, allocate);
const VIEWS = { json: blockJson, fees: viewWithFees, summary: blockSummaryJson } as const;

export class BlockForms {
  readonly #parts: BlockFormsParts;

  constructor(parts: BlockFormsParts) {
    this.#parts = parts;
  }

  /** Undefined when the node does not have the block. */
  async bytes(block: KnownBlock, client: Client): Promise<Buffer | undefined> {
    const raw = await this.#parts.blocks.block(block, client, block.tip !== undefined);
    return raw && this.#shown(raw);
  }

  /** Undefined when the node does not have the block. */
  async text(block: KnownBlock, form: 'hex' | JsonForm, client: Client): Promise<BlockText | undefined> {
    const { blocks, texts, spent: spentOutputs, profile, witness, node } = this.#parts;
    const isActive = block.tip !== undefined;
    const key = keyOfText(block, form);
    // Blocks off the active chain are not answered from memory: the node may drop them at any time.
    const made = isActive && !blocks.isPruned(block) ? texts.get(key) : undefined;
    if (made !== undefined) return { ...made, isLacking: false };
    const raw = await this.#parts.blocks.block(block, client, block.tip !== undefined);
    if (raw === undefined) return undefined;
    if (form === 'hex') {
      const hex = await texts.make(key, client, (allocate) => hexLine(this.#shown(raw), allocate));
      return { ...hex, isLacking: false };
    }
    const showsSpent = form === 'fees' || (form === 'json' && profile.fields.spentOutputs);
    // A coinbase alone spends nothing.
    const mayShowSpent = showsSpent && raw[HEADER_LENGTH] !== 1;
    const spent = mayShowSpent ? await spentOutputs.of(block.hash) : undefined;
    const txids = isActive && form === 'summary' ? await this.#parts.txidsOf?.(block) : undefined;
    // A text without the spent outputs is not looked up above: the next request may find them.
    const isLacking = mayShowSpent && spent === undefined;
    const style = { prefixes: node.network.addressPrefixes, fields: profile.fields };
    const text = await texts.make(key + (isLacking ? WITHOUT_SPENT : ''), client, (allocate) =>
      VIEWS[form](scanBlock(raw), { ...style, ...block, spent, txids, hexWithWitness: witness }, allocate)
    );
    return { ...text, isLacking };
  }

  #shown(raw: Buffer): Buffer {
    return this.#parts.witness ? raw : blockWithoutWitness(raw);
  }
}

/** The JSON of a block changes only with its place in the chain, so that is in the key. Hex never changes. */
function keyOfText({ hash, confirmations, nextHash }: KnownBlock, form: 'hex' | JsonForm): string {
  if (form === 'hex') return `hex/${keyOf(hash)}`;
  return `${form}/${keyOf(hash)}${confirmations}${nextHash === undefined ? '' : keyOf(nextHash)}`;
}
