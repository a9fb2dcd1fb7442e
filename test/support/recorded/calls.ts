// Calls that were put to a Bitcoin Core 31 about chain A, and what it answered; put to a node with the plugin, and compared to the byte.

import { RpcCaller } from '../client/rpc';

export interface RecordedCall {
  readonly id: string;
  readonly state: 'confirmed' | 'with-mempool' | 'with-peer' | 'growing';
  readonly rpc: {
    readonly method: string;
    readonly params?: readonly unknown[] | Readonly<Record<string, unknown>>;
    /** The text of the parameters, where it says more than they do. */
    readonly paramsText?: string;
  };
  readonly status: number;
  /** The reply; its id is `r`. */
  readonly body: string;
}

/** A request of any form. */
export interface RecordedRequest {
  readonly id: string;
  /** `auth`: `user:password`, or `ok` for those that are right; null: there are none. */
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly auth: string | null;
    readonly body: string;
  };
  readonly status: number;
  readonly body: string;
}

/** Values that differ between sound nodes: they must be there, with the same type. */
interface Varying {
  readonly methods: readonly string[];
  readonly value: RegExp;
  readonly why: string;
}

const POOL_ENTRIES = ['getmempoolancestors', 'getmempooldescendants', 'getmempoolentry', 'getrawmempool'];

const VARYING: readonly Varying[] = [
  { methods: POOL_ENTRIES, value: /(?<="time":)\d+/g, why: 'when the transaction entered' },
  { methods: POOL_ENTRIES, value: /(?<="unbroadcast":)(?:true|false)/g, why: 'whether a peer has asked for it' },
  { methods: ['getrawmempool'], value: /(?<="mempool_sequence":)\d+/g, why: 'a counter of the process' },
  { methods: ['getblockchaininfo'], value: /(?<="size_on_disk":)\d+/g, why: 'depends on the store' },
  { methods: ['getblockchaininfo'], value: /(?<="verificationprogress":)[\d.e-]+/g, why: 'an estimate' },
  { methods: ['getblockchaininfo'], value: /(?<="initialblockdownload":)(?:true|false)/g, why: 'the clock' },
  {
    methods: ['getblockchaininfo', 'getmininginfo', 'getnetworkinfo'],
    value: /(?<="warnings":)\[[^\]]*/g,
    why: 'texts about the software'
  },
  { methods: ['getmempoolinfo'], value: /(?<="(?:usage|maxmempool)":)\d+/g, why: 'memory, and a setting' },
  { methods: ['getrpcinfo'], value: /(?<="duration":)\d+/g, why: 'a time' },
  { methods: ['getrpcinfo'], value: /(?<="logpath":)"[^"]*"/g, why: 'a path on the machine' },
  { methods: ['scantxoutset'], value: /(?<="txouts":)\d+/g, why: 'how many coins were looked at' },
  { methods: ['uptime'], value: /(?<="result":)\d+/g, why: 'a time' }
];

const HELP = /("code":-1,"message":"[a-z]\w+(?: [^\\]|\\[^n]|[^\\])*?\\n)\\n(?:[^"\\]|\\.)*"/g;

/** Without the help that follows the line of usage, which is not ours. */
export const withoutHelp = (text: string): string => text.replace(HELP, '$1"');

/** The reply to a recorded call, and the recorded one, without what varies. */
export async function repliesTo(
  { rpc, status, body }: RecordedCall,
  caller: RpcCaller
): Promise<{ readonly ours: string; readonly theirs: string }> {
  const params = rpc.paramsText ?? JSON.stringify(rpc.params);
  const reply = await caller.post(`{"jsonrpc":"1.0","id":"r","method":${JSON.stringify(rpc.method)},"params":${params}}`);
  return { ours: masked(`${reply.status} ${reply.body.toString()}`, rpc.method), theirs: masked(`${status} ${body}`, rpc.method) };
}

function masked(text: string, method: string): string {
  const known = VARYING.filter(({ methods }) => methods.includes(method)).reduce((left, { value }) => left.replace(value, '…'), text);
  return withoutHelp(known);
}
