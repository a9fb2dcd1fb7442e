// A client that asks the readers of a fleet all the time, and compares every answer with the state of the chain at the block that the answer
// names. It also watches that its own answers never go back, and that what it broadcast is there afterwards.

import { setTimeout } from 'node:timers/promises';
import type { Fleet, FleetReader } from './fleet';
import type { KnownBlock } from './known-chain';
import type { Spend } from './spends';

const ANSWER_MS = 8_000;
const PAUSE_MS = 15;
/** How many wrong answers are described. */
const MOST_WRONG = 20;

/** How long a broadcast is looked for while a reader does not answer, and the pause between two looks. */
const PATIENCE_MS = 60_000;
const LOOK_PAUSE_MS = 200;
/** How long a node may take to say which blocks it has made. */
const MADE_MS = 5_000;

/** Blocks that a node may undo when it hears of another branch, which may be known here before. */
const MOST_UNDONE = 20;

interface Health {
  /** Of the highest block that any node has made; not of the reader. */
  readonly made: number;
  readonly incarnation?: string;
  readonly term?: number;
}

interface Answer {
  readonly status: number;
  readonly tip: KnownBlock | undefined;
  readonly tipText: string | undefined;
  readonly sequence: string | undefined;
  readonly body: Buffer;
}

export class Prober {
  readonly wrong: string[] = [];
  /**
   * Answers that were judged; answers that a client would try again; broadcasts that were taken, and those with a point of the log; looks at
   * these afterwards, which saw the transaction, got no answer, or missed it for a reason that has a name.
   */
  readonly counts = {
    judged: 0,
    unavailable: 0,
    broadcast: 0,
    promised: 0,
    seen: 0,
    unanswered: 0,
    missed: { log: 0, leader: 0, coin: 0, block: 0, coinbase: 0 }
  };
  /** What was broadcast over a reader. */
  readonly broadcast = new Map<string, Buffer>();
  readonly #fleet: Fleet;
  readonly #random: () => number;
  readonly #spendable: () => Spend | undefined;
  #isOver = false;
  #running: Promise<unknown> = Promise.resolve();

  /** `spendable`: makes a transaction that can be broadcast. */
  constructor(fleet: Fleet, random: () => number, spendable: () => Spend | undefined) {
    this.#fleet = fleet;
    this.#random = random;
    this.#spendable = spendable;
  }

  start(clients: number): void {
    this.#running = Promise.all([this.#broadcaster(), ...Array.from({ length: clients }, () => this.#client())]);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #client(): Promise<void> {
    let seen: { readonly height: number; readonly text: string } | undefined;
    while (!this.#isOver) {
      const reader = this.#pick(this.#fleet.readers) as FleetReader; // there are two
      const answer = await this.#question(reader, seen?.text);
      if (answer?.tip !== undefined && answer.tipText !== undefined) {
        if (seen !== undefined && answer.tip.height < seen.height)
          this.#note(`${reader.name}: asked for ${seen.text}, and got an answer of ${answer.tipText}`);
        if (seen === undefined || answer.tip.height >= seen.height) seen = { height: answer.tip.height, text: answer.tipText };
        // An operator's client begins anew after a while: a reorganization may have made the chain shorter.
        if (this.#random() < 0.02) seen = undefined;
      }
      await setTimeout(PAUSE_MS);
    }
  }

  async #broadcaster(): Promise<void> {
    while (!this.#isOver) {
      await this.#broadcastAndSee();
      await setTimeout(LOOK_PAUSE_MS);
    }
  }

  /** Asks something about any block, and judges the answer. */
  async #question(reader: FleetReader, minTip: string | undefined): Promise<Answer | undefined> {
    const { chain, tip } = this.#fleet;
    const height = Math.floor(this.#random() * (tip.height + 2));
    const recent = Math.max(0, tip.height - Math.floor(this.#random() * 6));
    const block = chain.at(tip, this.#random() < 0.5 ? Math.min(height, tip.height) : recent) ?? chain.genesis;
    const headers = minTip === undefined ? {} : { 'x-rest-min-tip': minTip };
    const ask = (path: string): Promise<Answer | undefined> => this.#ask(reader, path, headers);
    switch (Math.floor(this.#random() * 6)) {
      case 0:
        return this.#judge(reader, 'chaininfo', await ask('/rest/chaininfo.json'), ({ body }, at) => {
          const { blocks, bestblockhash } = JSON.parse(body.toString()) as { blocks: number; bestblockhash: string };
          return blocks === at.height && bestblockhash === at.hash;
        });
      case 1:
        return this.#judge(reader, `hash at ${height}`, await ask(`/rest/blockhashbyheight/${height}.hex`), ({ status, body }, at) => {
          const expected = chain.at(at, height)?.hash;
          return status === 200 ? body.toString().trim() === expected : expected === undefined;
        });
      case 2:
        return this.#judge(reader, `block ${block.hash}`, await ask(`/rest/block/${block.hash}.bin`), ({ status, body }, at) =>
          status === 200 ? body.equals(block.raw) : chain.at(at, block.height) !== block
        );
      case 3: {
        const outpoint = this.#pick([...block.made.keys(), ...block.spent]);
        if (outpoint === undefined) return undefined;
        const path = `/rest/getutxos/${outpoint.replace(':', '-')}.json`;
        return this.#judge(reader, path, await ask(path), ({ status, body }, at) => {
          if (status !== 200) return false;
          const { chaintipHash, bitmap, utxos } = JSON.parse(body.toString()) as {
            chaintipHash: string;
            bitmap: string;
            utxos: readonly { height: number; value: number }[];
          };
          const expected = chain.coin(at, outpoint);
          if (chaintipHash !== at.hash || bitmap !== (expected === undefined ? '0' : '1')) return false;
          return (
            expected === undefined || (utxos[0]?.height === expected.height && Math.round(utxos[0].value * 1e8) === expected.coin.value)
          );
        });
      }
      case 4: {
        const txid = this.#pick([...block.txids.keys()]) ?? '';
        const raw = block.txids.get(txid);
        return this.#judge(reader, `transaction ${txid}`, await ask(`/rest/tx/${txid}.bin`), ({ status, body }, at) =>
          status === 200 ? raw?.equals(body) === true : at.height === 0 || chain.blockOf(at, txid) === undefined || block.height === 0
        );
      }
      default: {
        const spent = [...block.spent].map((outpoint) => chain.made(tip, outpoint));
        const scriptHash = this.#pick([...block.made.values(), ...spent])?.scriptHash;
        if (scriptHash === undefined) return undefined;
        const path = `/api/scripthash/${scriptHash}`;
        return this.#judge(reader, path, await ask(path), ({ status, body }, at) => {
          if (status !== 200) return false;
          const found = (JSON.parse(body.toString()) as { chain_stats: Readonly<Record<string, number>> }).chain_stats;
          return Object.entries(chain.stats(at, scriptHash)).every(([name, value]) => found[name] === value);
        });
      }
    }
  }

  /** Broadcasts over one reader. Whoever asks for that state must be shown the transaction, by any reader and at any time. */
  async #broadcastAndSee(): Promise<void> {
    const spend = this.#spendable();
    if (spend === undefined) return;
    const [first, second] = this.#random() < 0.5 ? this.#fleet.readers : [...this.#fleet.readers].reverse();
    if (first === undefined || second === undefined) return;
    const before = await this.#health(first);
    const answer = await this.#ask(first, '/api/tx', {}, spend.raw.toString('hex'));
    if (answer?.status !== 200) return;
    this.counts.broadcast++;
    this.broadcast.set(spend.txid, spend.raw);
    await this.#fleet.pool([spend]);
    const { sequence } = answer;
    // Nothing is promised while the log is away.
    if (sequence === undefined || before === undefined) return;
    this.counts.promised++;
    for (const reader of [second, first, second]) {
      await this.#see(reader, spend, sequence, before);
      await setTimeout(LOOK_PAUSE_MS);
    }
  }

  /** Asks until there is an answer. `before`: the health of a reader before the broadcast. */
  async #see(reader: FleetReader, spend: Spend, sequence: string, before: Health): Promise<void> {
    const { txid, raw } = spend;
    const end = performance.now() + PATIENCE_MS;
    while (!this.#isOver && performance.now() < end) {
      const answer = await this.#ask(reader, `/rest/tx/${txid}.bin`, { 'x-rest-min-seq': sequence });
      // The log and the leader at the time of the answer, or later.
      const after = answer && (await this.#health(reader));
      if (answer?.status === 200) {
        if (answer.body.equals(raw)) this.counts.seen++;
        else this.#note(`${reader.name}: ${txid} is another transaction at ${sequence}`);
        return;
      }
      if (answer !== undefined && after !== undefined) {
        const reason = this.#whyMissed(answer, spend, { log: sequence.split(' ')[1], before, after });
        if (reason !== undefined) this.counts.missed[reason]++;
        else
          this.#note(`${reader.name}: ${txid} was broadcast and is not there at ${sequence} (${answer.status}, ${answer.tipText ?? ''})`);
        return;
      }
      await setTimeout(LOOK_PAUSE_MS);
    }
    this.counts.unanswered++;
  }

  /** Why nothing was promised. undefined: for no reason. */
  #whyMissed(
    { status, tip }: Answer,
    { txid, outpoint }: Spend,
    { log, before, after }: { readonly log: string | undefined; readonly before: Health; readonly after: Health }
  ): keyof Prober['counts']['missed'] | undefined {
    if (status !== 404) return undefined;
    if (after.incarnation !== log) return 'log';
    // Its pool is the fleet's now; it may not have got the transaction, or may have lost it when it was killed.
    if (after.term !== before.term) return 'leader';
    // After a reorganization. bcoin's own pool takes back nothing that spends a coinbase, and nothing at all if it is empty; and it drops
    // whatever spends a coinbase.
    const { chain } = this.#fleet;
    if (tip === undefined || chain.blockOf(tip, txid) !== undefined) return undefined;
    const coin = chain.made(tip, outpoint);
    if (coin === undefined) return 'coin';
    const blocks = [...chain.blocks.values()];
    if (blocks.some(({ txids }) => txids.has(txid))) return 'block';
    const isUndone = (block: KnownBlock): boolean =>
      block.height > before.made - MOST_UNDONE && chain.at(this.#fleet.tip, block.height) !== block;
    return coin.coinbase && blocks.some(isUndone) ? 'coinbase' : undefined;
  }

  async #health(reader: FleetReader): Promise<Health | undefined> {
    try {
      const response = await fetch(reader.url('/fleet/health'), { signal: AbortSignal.timeout(ANSWER_MS) });
      return { ...((await response.json()) as Omit<Health, 'made'>), made: this.#fleet.tip.height };
    } catch {
      return undefined;
    }
  }

  #judge(
    reader: FleetReader,
    what: string,
    answer: Answer | undefined,
    isRight: (answer: Answer, tip: KnownBlock) => boolean
  ): Answer | undefined {
    if (answer === undefined) return undefined;
    const { status, tip, tipText, body } = answer;
    if (tip === undefined) {
      this.#note(
        `${reader.name}: the answer about ${what} names ${tipText === undefined ? 'no block' : `an unknown block, ${tipText}`} (${status})`
      );
      return undefined;
    }
    this.counts.judged++;
    if (!isRight(answer, tip))
      this.#note(`${reader.name} at ${tipText ?? ''}: ${what}: ${status} ${body.subarray(0, 200).toString('latin1')}`);
    return answer;
  }

  /** undefined: the client would try again. */
  async #ask(reader: FleetReader, path: string, headers: Readonly<Record<string, string>>, body?: string): Promise<Answer | undefined> {
    try {
      const response = await fetch(reader.url(path), {
        headers,
        signal: AbortSignal.timeout(ANSWER_MS),
        ...(body !== undefined && { method: 'POST', body })
      });
      const bytes = Buffer.from(await response.arrayBuffer());
      if (response.status === 503) {
        this.counts.unavailable++;
        return undefined;
      }
      const tipText = response.headers.get('x-rest-tip') ?? undefined;
      const tip = await this.#blockNamed(tipText?.split(' ')[1]);
      return { status: response.status, tip, tipText, sequence: response.headers.get('x-rest-min-seq') ?? undefined, body: bytes };
    } catch {
      this.counts.unavailable++;
      return undefined;
    }
  }

  /** Readers may show a block before the node that has made it has said so here. undefined: it stays unknown. */
  async #blockNamed(hash: string | undefined): Promise<KnownBlock | undefined> {
    if (hash === undefined) return undefined;
    const { blocks } = this.#fleet.chain;
    for (const end = performance.now() + MADE_MS; !blocks.has(hash) && performance.now() < end;) await setTimeout(LOOK_PAUSE_MS);
    return blocks.get(hash);
  }

  #note(text: string): void {
    if (this.wrong.length < MOST_WRONG) this.wrong.push(text);
  }

  /** undefined: the list is empty. */
  #pick<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.#random() * list.length)];
  }
}
