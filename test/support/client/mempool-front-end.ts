// What mempool's web front end requires of answers and messages: the fields that its TypeScript interfaces do not mark as optional, each interface
// under its name. Where from: `frontend/src/app/interfaces/node-api.interface.ts` (N), `websocket.interface.ts` (W) and
// `electrs.interface.ts` (E) of mempool/mempool at 3b6ed8b.

import Ajv, { type SchemaObject } from 'ajv/dist/2020';

const [number, text, flag] = [{ type: 'number' }, { type: 'string' }, { type: 'boolean' }];
const nothing = { type: 'null' };

const list = (items: SchemaObject): SchemaObject => ({ type: 'array', items });
const nullable = (schema: SchemaObject): SchemaObject => ({ anyOf: [schema, nothing] });
const of = (name: string): SchemaObject => ({ $ref: `#/$defs/${name}` });

/** An interface: the fields that it requires, then those that it may lack. */
const fields = (required: Readonly<Record<string, SchemaObject>>, optional: Readonly<Record<string, SchemaObject>> = {}): SchemaObject => ({
  type: 'object',
  properties: { ...required, ...optional },
  required: Object.keys(required)
});

const tuple = (...items: readonly SchemaObject[]): SchemaObject => ({
  type: 'array',
  prefixItems: items,
  minItems: items.length,
  maxItems: items.length
});

const all = (names: string, schema: SchemaObject): Record<string, SchemaObject> =>
  Object.fromEntries(names.split(' ').map((name) => [name, schema]));

const INTERFACES = {
  // E
  Status: fields({ confirmed: flag }, { block_height: number, block_hash: text, block_time: number }),
  Transaction: fields({
    txid: text,
    ...all('version locktime size weight fee', number),
    vin: list({ type: 'object' }),
    vout: list({ type: 'object' }),
    status: of('Status')
  }),
  Block: fields({
    id: text,
    ...all('height version timestamp bits nonce difficulty tx_count size weight', number),
    merkle_root: text,
    previousblockhash: nullable(text)
  }),
  AddressTxSummary: fields({ txid: text, ...all('value height time', number) }, { tx_position: number }),
  // N
  BlockExtension: fields(
    {},
    {
      ...all('totalFees medianFee minFee maxFee reward', number),
      feeRange: list(number),
      coinbaseRaw: text,
      pool: fields({ id: number, name: text, slug: text, minerNames: nullable(list(text)) }),
      orphans: list(fields({ height: number, hash: text, status: text, prevhash: text })),
      ...all('matchRate expectedFees expectedWeight', nullable(number))
    }
  ),
  BlockExtended: { allOf: [of('Block'), fields({ extras: of('BlockExtension') })] },
  TransactionStripped: fields({ txid: text, ...all('fee vsize value', number) }, { ...all('rate flags time', number), acc: flag }),
  Ancestor: fields({ txid: text, weight: number, fee: number }),
  CpfpInfo: fields(
    { ancestors: list(of('Ancestor')) },
    {
      descendants: list(of('Ancestor')),
      bestDescendant: nullable(of('Ancestor')),
      ...all('effectiveFeePerVsize sigops adjustedVsize', number),
      cluster: fields({
        txs: list(fields({ txid: text, fee: number, weight: number, parents: list(number) })),
        chunks: list(fields({ txs: list(number), feerate: number })),
        chunkIndex: number
      })
    }
  ),
  DifficultyAdjustment: fields(
    all(
      'progressPercent difficultyChange estimatedRetargetDate remainingBlocks remainingTime previousRetarget previousTime nextRetargetHeight timeAvg adjustedTimeAvg timeOffset expectedBlocks',
      number
    )
  ),
  AddressInformation: fields(
    { isvalid: flag },
    { address: text, scriptPubKey: text, isscript: flag, iswitness: flag, witness_version: number, witness_program: text }
  ),
  RewardStats: fields(all('startBlock endBlock totalReward totalFee totalTx', number)),
  MempoolPosition: fields({ block: number, vsize: number }),
  // W
  MempoolBlock: fields({ ...all('blockSize blockVSize nTx medianFee totalFees', number), feeRange: list(number) }),
  MempoolInfo: fields({ loaded: flag, ...all('size bytes usage maxmempool mempoolminfee minrelaytxfee', number) }),
  TransactionCompressed: tuple(text, number, number, number, number, number, number),
  MempoolDeltaChange: tuple(text, number, number, number),
  MempoolBlockDeltaCompressed: fields({
    added: list(of('TransactionCompressed')),
    removed: list(text),
    changed: list(of('MempoolDeltaChange'))
  }),
  IBackendInfo: fields({ gitCommit: text, version: text }, { hostname: text }),
  Recommendedfees: fields(all('fastestFee halfHourFee hourFee minimumFee economyFee', number)),
  ReplacedTransaction: fields({ txid: text }),
  ProjectedBlockTransactions: fields(
    { index: number, sequence: number },
    { blockTransactions: list(of('TransactionCompressed')), delta: of('MempoolBlockDeltaCompressed') }
  ),
  WebsocketResponse: {
    ...fields(
      {},
      {
        backend: { enum: ['esplora', 'electrum', 'none'] },
        block: of('BlockExtended'),
        blocks: list(of('BlockExtended')),
        conversions: { type: 'object', additionalProperties: number },
        txConfirmed: text,
        mempoolInfo: of('MempoolInfo'),
        vBytesPerSecond: number,
        tx: of('Transaction'),
        rbfTransaction: of('ReplacedTransaction'),
        txReplaced: of('ReplacedTransaction'),
        rbfLatest: list({ type: 'object' }),
        rbfLatestSummary: list({ type: 'object' }),
        utxoSpent: { type: 'object' },
        transactions: list(of('TransactionStripped')),
        loadingIndicators: { type: 'object', additionalProperties: number },
        backendInfo: of('IBackendInfo'),
        da: of('DifficultyAdjustment'),
        fees: of('Recommendedfees'),
        // Not in the interface, but read by websocket.service.ts.
        'mempool-blocks': list(of('MempoolBlock')),
        'projected-block-transactions': of('ProjectedBlockTransactions'),
        txPosition: fields({ txid: text, position: of('MempoolPosition') }, { cpfp: of('CpfpInfo') }),
        'track-txs-error': text,
        'tracked-txs': { type: 'object', additionalProperties: { type: 'object' } },
        'address-transactions': list(of('Transaction')),
        'address-removed-transactions': list(of('Transaction')),
        'block-transactions': list(of('Transaction')),
        'multi-address-transactions': { type: 'object' },
        accelerations: fields({ accelerations: list({ type: 'object' }) }),
        pong: flag
      }
    ),
    additionalProperties: false
  }
} as const satisfies Record<string, SchemaObject>;

export type FrontEndInterface = keyof typeof INTERFACES;

const ajv = new Ajv({ strict: false });

/** What an interface of the front end finds wrong; undefined: nothing. `isList`: a list of them. */
export function frontEndFault(name: FrontEndInterface, value: unknown, isList = false): string | undefined {
  const valid = ajv.compile({ $defs: INTERFACES, ...(isList ? list(of(name)) : of(name)) });
  return valid(value) ? undefined : `${name}: ${ajv.errorsText(valid.errors)}`;
}
