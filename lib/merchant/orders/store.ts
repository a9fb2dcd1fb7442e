// A merchant's records in a PaymentStorage:
//
//   <id>.json           a request, the Payments that came for it with decisions, ACKs and refund outputs,
//                       and what its outputs have received
//   <id>.watched        empty: blocks are searched for the scripts of the request
//   <txid>.claims.json  which request each output of a transaction has paid: index to id
//   position.json       the block up to which the chain was searched
//
// Ids are 32 hex digits; txids are in display order.

import { PaymentError } from '../../payments/error';
import { displayTxid } from '../../payments/rules/transaction';
import { objectOf, readBlock, readRecord, undamaged, writeBlock, writeRecord, type StoredRequest } from './record';
import type { PayingOutput } from '../../payments/rules/payment';
import type { ConfirmingBlock } from './chain';
import type { PaymentStorage } from './storage';

type ClaimedOutput = Pick<PayingOutput, 'txid' | 'index'>;
/** Ids of requests by the index of the output. */
type Claims = Readonly<Record<number, string>>;

const ID = /^[0-9a-f]{32}$/;
const POSITION = 'position.json';

export class PaymentStore {
  readonly #storage: PaymentStorage;

  constructor(storage: PaymentStorage) {
    this.#storage = storage;
  }

  /** @throws PaymentError `unknown-request`, or DamagedRecordError. */
  async request(id: string): Promise<StoredRequest> {
    const name = `${id}.json`;
    // The check also keeps everything but ids out of file names.
    const bytes = ID.test(id) ? await this.#storage.read(name) : undefined;
    if (!bytes) throw new PaymentError('unknown-request', 'No such payment request.');
    return undamaged(name, bytes, (json) => readRecord(id, json));
  }

  async save(request: StoredRequest): Promise<void> {
    await this.#storage.write(`${request.id}.json`, Buffer.from(`${JSON.stringify(writeRecord(request), undefined, 2)}\n`));
  }

  /** Records that blocks are searched for the scripts of a request. */
  async watch(id: string): Promise<void> {
    await this.#storage.write(watchedName(id), Buffer.alloc(0));
  }

  async unwatch(id: string): Promise<void> {
    await this.#storage.remove(watchedName(id));
  }

  /** The ids of requests that are watched: all requests if the chain was never searched. */
  async watched(): Promise<string[]> {
    const names = await this.#storage.names();
    const ending = names.includes(POSITION) ? '.watched' : '.json';
    return idsAmong(names, ending);
  }

  /** The ids of all requests, in no order. */
  async ids(): Promise<string[]> {
    return idsAmong(await this.#storage.names(), '.json');
  }

  /** The block up to which the chain was searched. @throws DamagedRecordError */
  async position(): Promise<ConfirmingBlock | undefined> {
    const bytes = await this.#storage.read(POSITION);
    return bytes && undamaged(POSITION, bytes, readBlock);
  }

  async savePosition(block: ConfirmingBlock): Promise<void> {
    await this.#storage.write(POSITION, Buffer.from(`${JSON.stringify(writeBlock(block))}\n`));
  }

  /** Without the outputs that have paid another request than `id`. @throws DamagedRecordError */
  async unclaimed<Output extends ClaimedOutput>(outputs: readonly Output[], id: string): Promise<Output[]> {
    const claims = new Map<Buffer, Claims>();
    for (const { txid } of outputs) if (!claims.has(txid)) claims.set(txid, await this.#claimsOn(txid));
    return outputs.filter(({ txid, index }) => (claims.get(txid)?.[index] ?? id) === id);
  }

  /**
   * Records for good that these outputs have paid request `id` and no other. Without this, one payment to a script that a merchant uses
   * twice would settle two orders. Outputs of one transaction must share the Buffer that is its txid.
   * @throws DamagedRecordError
   */
  async claim(outputs: readonly ClaimedOutput[], id: string): Promise<void> {
    for (const txid of new Set(outputs.map((output) => output.txid))) {
      const own = outputs.filter((output) => output.txid === txid).map(({ index }) => [index, id]);
      const claims = { ...(await this.#claimsOn(txid)), ...(Object.fromEntries(own) as Claims) };
      await this.#storage.write(claimsName(txid), Buffer.from(`${JSON.stringify(claims)}\n`));
    }
  }

  /** The requests that outputs of a transaction have paid already. */
  async #claimsOn(txid: Buffer): Promise<Claims> {
    const name = claimsName(txid);
    const bytes = await this.#storage.read(name);
    return bytes ? undamaged(name, bytes, readClaims) : {};
  }
}

/** The ids in names of files that end so. */
function idsAmong(names: readonly string[], ending: string): string[] {
  return names
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length))
    .filter((id) => ID.test(id));
}

function watchedName(id: string): string {
  return `${id}.watched`;
}

function claimsName(txid: Buffer): string {
  return `${displayTxid(txid)}.claims.json`;
}

function readClaims(json: unknown): Claims {
  const claims = objectOf(json);
  if (!Object.values(claims).every((id) => typeof id === 'string' && ID.test(id))) throw new Error('ids of requests expected');
  return claims as Claims;
}
