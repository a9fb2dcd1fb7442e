// Compares what pages of the explorer show with what the node's API answers.

import { expect } from 'chai';
import { ask } from './http';
import type { Page } from 'playwright-core';

interface ApiOutput {
  readonly value: number;
  readonly scriptpubkey_address?: string;
}

export interface ApiTransaction {
  readonly txid: string;
  readonly weight: number;
  readonly fee: number;
  readonly vin: readonly { readonly is_coinbase: boolean; readonly prevout: ApiOutput | null }[];
  readonly vout: readonly ApiOutput[];
  readonly status: { readonly confirmed: boolean; readonly block_height?: number };
}

export interface ApiBlock {
  readonly id: string;
  readonly height: number;
  readonly tx_count: number;
  readonly weight: number;
  readonly size: number;
  readonly version: number;
  readonly bits: number;
  readonly nonce: number;
  readonly merkle_root: string;
  readonly difficulty: number;
}

/** A row of inputs or outputs, as it is shown. */
interface Row {
  /** Satoshis; null: not known. */
  readonly sats: string | null;
  readonly spend: string | null;
}

// What the browser is asked for, in its own language. `satsIn`: the first amount in an element.

const SATS_IN = `const satsIn = (element) => element.querySelector('[data-sats]')?.dataset.sats ?? null;`;

/** An expression that gives something for each element. */
const each = (selector: string, of: string): string =>
  `(() => { ${SATS_IN} return [...document.querySelectorAll('${selector}')].map((one) => (${of})); })()`;

const BLOCK_CARDS = each('[data-height]', "one.dataset.height + ' ' + one.querySelector('.block-main').textContent");
const POOL_ROWS = each('tr[data-txid]', '[one.dataset.txid, satsIn(one), one.lastElementChild.textContent]');
const CARDS = each(
  'article[data-txid]',
  `{ txid: one.dataset.txid,
     inputs: [...one.querySelectorAll('[data-input]')].map(satsIn),
     outputs: [...one.querySelectorAll('[data-output]')].map(satsIn) }`
);
const rowsOf = (kind: string): string =>
  each(`[data-${kind}]`, "{ sats: satsIn(one), spend: one.querySelector('[data-spend]')?.dataset.spend ?? null }");
const EFFECTS = each('article > header strong', 'Number(satsIn(one))');

const FACTS = `Object.fromEntries([...document.querySelectorAll('.fact dt')].map((one) => [one.textContent, one.nextElementSibling.innerText.trim()]))`;
/** Of each bar of the pool: its rates, its size, and how much of it the next block would take. */
const BARS = each(
  '.bar-row',
  "[one.querySelector('.bar-rate'), one.querySelector('.bar-size'), one.lastElementChild].map((cell) => cell.textContent)"
);

/** Rows of each side that lists show at once. */
const ROWS_IN_LIST = 5;

/** Digits of a number as pages show it. */
export const grouped = (value: number): string => value.toLocaleString('en-US');

/** Satoshis per virtual byte, in hundredths. */
const rateText = (fee: number, vsize: number): string =>
  (fee / vsize).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** `168 B`, `1.29 kvB`, with three digits. */
function sizeText(bytes: number, unit: string): string {
  if (bytes < 1_000) return `${bytes} ${unit}`;
  return `${(bytes / 1_000).toFixed(bytes < 10_000 ? 2 : bytes < 100_000 ? 1 : 0)} k${unit}`;
}

const hex32 = (value: number): string => `0x${value.toString(16).padStart(8, '0')}`;

const rateOf = ({ fee, weight }: ApiTransaction): string => {
  const vsize = Math.ceil(weight / 4);
  return rateText(fee, vsize);
};

export class ExplorerPages {
  readonly #port: number;
  readonly #page: Page;

  constructor(page: Page, port: number) {
    this.#page = page;
    this.#port = port;
  }

  async api<T>(path: string): Promise<T> {
    const { status, body } = await ask(this.#port, { path: `/api${path}` });
    if (status !== 200) throw new Error(`expected a reply to ${path}, got ${status}: ${body.toString()}`);
    return JSON.parse(body.toString()) as T;
  }

  /** Goes to a page, and waits until it shows something. */
  async open(path: string, shown: string): Promise<void> {
    await this.#page.goto(`/explorer${path}`);
    await this.#page.waitForSelector(shown);
  }

  /** The text of a field. */
  async field(name: string): Promise<string> {
    return (await this.#page.locator(`[data-field="${name}"]`).first().innerText()).trim();
  }

  /** The satoshis of a field. */
  async sats(name: string): Promise<number> {
    return Number(await this.#page.locator(`[data-field="${name}"] [data-sats]`).first().getAttribute('data-sats'));
  }

  async expectHome(): Promise<void> {
    await this.open('', '[data-field="tip"]');
    await this.#page.waitForSelector('.pool-chart, .card p');
    const blocks = await this.api<ApiBlock[]>('/blocks');
    expect(await this.field('tip')).to.equal(grouped(blocks[0]?.height ?? -1));
    const cards = await this.#page.evaluate<string[]>(BLOCK_CARDS);
    expect(cards.length).to.be.at.least(Math.min(8, blocks.length));
    for (const [i, card] of cards.slice(0, blocks.length).entries()) {
      const { height, tx_count } = blocks[i] ?? expect.fail('a block too many');
      expect(card).to.equal(`${height} ${grouped(tx_count)} ${tx_count === 1 ? 'transaction' : 'transactions'}`);
    }
    const pool = await this.api<{ count: number }>('/mempool');
    await this.#page.locator('.block.next', { hasText: `${grouped(pool.count)} transaction` }).waitFor();
    const fees = await this.api<Record<string, number>>('/v1/fees/precise');
    // With three digits; a pool for tests has no rate of more.
    for (const name of ['fastestFee', 'halfHourFee', 'hourFee', 'economyFee'])
      expect(await this.field(name)).to.equal(String(Number(fees[name]?.toPrecision(3))));
    await this.#expectRecent();
    // Of regtest.
    expect(await this.field('difficulty')).to.equal(blocks[0]?.difficulty.toExponential(2));
  }

  /** Of a pool that fits into a block, so that the next one would take all of it. */
  async expectPoolChart(): Promise<void> {
    await this.open('/pool', '.bar-row');
    // Sizes as the pool counts them: with what operations for signatures add.
    const { body } = await ask(this.#port, { path: '/rest/mempool/contents.json' });
    const pooled = Object.values(
      JSON.parse(body.toString()) as Record<string, { readonly size: number; readonly fees: { readonly base: number } }>
    );
    const bars = await this.#page.evaluate<[rates: string, size: string, next: string][]>(BARS);
    let count = 0;
    for (const [rates, size, next] of bars) {
      const [from, to] = rates.split('–').map(Number);
      const within = pooled.filter((entry) => {
        const rate = Math.round(entry.fees.base * 1e8) / entry.size;
        return rate >= (from ?? 0) && rate < (to ?? 0);
      });
      count += within.length;
      const vsize = within.reduce((sum, entry) => sum + entry.size, 0);
      expect([size, next], rates).to.deep.equal([sizeText(vsize, 'vB'), sizeText(vsize, 'vB')]);
    }
    expect(count).to.equal(pooled.length);
  }

  async expectPool(): Promise<void> {
    await this.open('/pool', '[data-field="count"]');
    const { count } = await this.api<{ count: number }>('/mempool');
    expect(await this.field('count')).to.equal(grouped(count));
    await this.#expectRecent();
  }

  async #expectRecent(): Promise<void> {
    const recent = await this.api<{ txid: string; value: number; fee: number; vsize: number }[]>('/mempool/recent');
    if (recent.length > 0) await this.#page.waitForSelector('tr[data-txid]');
    const rows = await this.#page.evaluate<string[][]>(POOL_ROWS);
    expect(rows).to.deep.equal(recent.map(({ txid, value, fee, vsize }) => [txid, String(value), rateText(fee, vsize)]));
  }

  /** `page`: from 1. */
  async expectBlock(hash: string, page = 1): Promise<void> {
    await this.open(`/block/${hash}${page > 1 ? `?page=${page}` : ''}`, 'article[data-txid]');
    await this.#page.waitForSelector('[data-field="confirmations"]');
    const [block, [tip], list] = await Promise.all([
      this.api<ApiBlock>(`/block/${hash}`),
      this.api<ApiBlock[]>('/blocks'),
      this.api<ApiTransaction[]>(`/block/${hash}/txs/${(page - 1) * 25}`)
    ]);
    const { height, tx_count, weight } = block;
    expect(await Promise.all(['height', 'transactions', 'weight', 'confirmations'].map((name) => this.field(name)))).to.deep.equal([
      grouped(height),
      grouped(tx_count),
      grouped(weight),
      grouped((tip?.height ?? 0) - height + 1)
    ]);
    const { Size, Difficulty, Version, Bits, Nonce, 'Merkle root': merkleRoot } = await this.#page.evaluate<Record<string, string>>(FACTS);
    expect([Size, Difficulty, Version, Bits, Nonce, merkleRoot?.slice(0, 64)]).to.deep.equal([
      sizeText(block.size, 'B'),
      block.difficulty.toExponential(2),
      hex32(block.version),
      hex32(block.bits),
      grouped(block.nonce),
      block.merkle_root
    ]);
    await this.#expectList(list);
  }

  /** Transactions in cards, each with the first of its inputs and outputs. */
  async #expectList(list: readonly ApiTransaction[]): Promise<void> {
    // Lists come in pages of their own: the last card stands for all.
    const last = list.at(-1);
    if (last !== undefined) await this.#page.waitForSelector(`article[data-txid="${last.txid}"]`);
    const cards = await this.#page.evaluate<unknown[]>(CARDS);
    expect(cards).to.deep.equal(
      list.map(({ txid, vin, vout }) => ({
        txid,
        inputs: vin.slice(0, ROWS_IN_LIST).map(({ prevout }) => (prevout === null ? null : String(prevout.value))),
        outputs: vout.slice(0, ROWS_IN_LIST).map(({ value }) => String(value))
      }))
    );
  }

  async expectTransaction(txid: string): Promise<void> {
    await this.open(`/tx/${txid}`, '[data-field="state"]');
    const [transaction, spends, [tip]] = await Promise.all([
      this.api<ApiTransaction>(`/tx/${txid}`),
      this.api<{ txid?: string }[]>(`/tx/${txid}/outspends`),
      this.api<ApiBlock[]>('/blocks')
    ]);
    const { vin, vout, weight, fee, status } = transaction;
    const spent = spends.findIndex((one, i) => one.txid !== undefined && i < 50);
    if (spent >= 0) await this.#page.waitForSelector(`[data-spend="${spends[spent]?.txid ?? ''}"]`);
    expect(await this.sats('total')).to.equal(vout.reduce((sum, { value }) => sum + value, 0));
    expect(await this.field('weight')).to.equal(grouped(weight));
    if (vin[0]?.is_coinbase !== true) {
      expect(await this.sats('fee')).to.equal(fee);
      expect(await this.field('rate')).to.equal(`${rateOf(transaction)} sat/vB`);
    }
    const confirmations = (tip?.height ?? 0) - (status.block_height ?? 0) + 1;
    expect(await this.field('state')).to.equal(
      status.confirmed
        ? `${grouped(confirmations)} ${confirmations === 1 ? 'confirmation' : 'confirmations'}`
        : 'in the pool, not confirmed'
    );
    const rows = (kind: string): Promise<Row[]> => this.#page.evaluate<Row[]>(rowsOf(kind));
    const known = (value: ApiOutput | null): string | null => (value === null ? null : String(value.value));
    expect(await rows('input')).to.deep.equal(vin.slice(0, 50).map(({ prevout }) => ({ sats: known(prevout), spend: null })));
    expect(await rows('output')).to.deep.equal(
      vout.slice(0, 50).map((output, i) => ({ sats: known(output), spend: spends[i]?.txid ?? null }))
    );
  }

  async expectAddress(address: string): Promise<void> {
    await this.open(`/address/${address}`, '[data-field="balance"]');
    interface Stats {
      readonly funded_txo_sum: number;
      readonly spent_txo_sum: number;
      readonly tx_count: number;
    }
    const [{ chain_stats, mempool_stats }, history] = await Promise.all([
      this.api<{ chain_stats: Stats; mempool_stats: Stats }>(`/address/${address}`),
      this.api<ApiTransaction[]>(`/address/${address}/txs`)
    ]);
    expect([await this.sats('balance'), await this.sats('received'), await this.sats('spent')]).to.deep.equal([
      chain_stats.funded_txo_sum - chain_stats.spent_txo_sum,
      chain_stats.funded_txo_sum,
      chain_stats.spent_txo_sum
    ]);
    expect(await this.field('transactions')).to.equal(grouped(chain_stats.tx_count));
    if (mempool_stats.tx_count > 0) expect(await this.sats('pending')).to.equal(mempool_stats.funded_txo_sum - mempool_stats.spent_txo_sum);
    await this.#expectList(history);
    const effects = await this.#page.evaluate<number[]>(EFFECTS);
    const own = ({ scriptpubkey_address, value }: ApiOutput): number => (scriptpubkey_address === address ? value : 0);
    expect(effects).to.deep.equal(
      history.map(
        ({ vin, vout }) =>
          vout.reduce((sum, output) => sum + own(output), 0) - vin.reduce((sum, { prevout }) => sum + (prevout ? own(prevout) : 0), 0)
      )
    );
  }
}
