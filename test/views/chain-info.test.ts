import { expect } from 'chai';
import { describe, it } from 'mocha';
import { bitsOf, timeOf } from '../../lib/bitcoin/header';
import { chainInfoJson, softForksJson, type ChainInfo } from '../../lib/views/chain-info';
import { PROFILES } from '../../lib/views/profile';
import { chainAChainInfo, chainAChainInfo31, chainAManifest, recordedBody, recordedSuccesses } from '../support/chain/chain-a';
import { chainAView } from './chain-a-views';
import type { Bip9Deployment, Deployments } from '../../lib/node/types/soft-forks';

type RecordedBip9 = Pick<Bip9Deployment, 'status' | 'since' | 'statistics'> & {
  readonly bit?: number;
  readonly startTime: number;
  readonly timeout: string;
};

/** The node's own figures that both editions print. */
interface RecordedState {
  readonly headers: number;
  readonly bestblockhash: string;
  readonly verificationprogress: number;
  readonly initialblockdownload: boolean;
  readonly size_on_disk: number;
}

interface RecordedChainInfo extends RecordedState {
  readonly softforks: readonly { readonly id: string; readonly version: number; readonly reject: { readonly status: boolean } }[];
  readonly bip9_softforks: Readonly<Record<string, RecordedBip9>>;
  readonly warnings: string;
}

interface Info extends ChainInfo {
  readonly deployments: Deployments;
}

const jsonOf = (info: Info): Buffer => chainInfoJson({ ...info, softForks: softForksJson(info.deployments) }, PROFILES['0.17'].fields);

/** Chain info whose facts about the chain come from the blocks, and those about the node from the recording. */
function stateBehind(recorded: RecordedState): Omit<ChainInfo, 'warnings'> {
  const tip = chainAView(recorded.bestblockhash);
  return {
    chain: chainAManifest().network,
    blocks: tip.height,
    headers: recorded.headers,
    bestHash: tip.hash,
    bits: bitsOf(tip.header),
    time: timeOf(tip.header),
    medianTime: tip.medianTime,
    verified: recorded.verificationprogress,
    initialBlockDownload: recorded.initialblockdownload,
    chainwork: tip.chainwork,
    sizeOnDisk: recorded.size_on_disk
  };
}

function infoBehind(text: string): Info {
  const recorded = JSON.parse(text.replace(/"timeout":(\d+)/g, '"timeout":"$1"')) as RecordedChainInfo;
  return {
    ...stateBehind(recorded),
    deployments: {
      versionForks: recorded.softforks.map(({ id, version, reject }) => ({ id, version, active: reject.status })),
      bip9: Object.entries(recorded.bip9_softforks).map(([id, fork]) => ({
        ...fork,
        id,
        bit: fork.bit ?? 28,
        startTime: BigInt(fork.startTime),
        timeout: BigInt(fork.timeout)
      }))
    },
    warnings: [recorded.warnings]
  };
}

const anyInfo = (): Info => infoBehind(chainAChainInfo()['0'] ?? '');

describe('chainInfoJson', () => {
  it('writes what was recorded, byte for byte, as soft forks progress', () => {
    const recorded = Object.entries(chainAChainInfo());
    const states = new Set(recorded.flatMap(([, text]) => infoBehind(text).deployments.bip9.map(({ status }) => status)));
    expect([...states]).to.include.members(['defined', 'started', 'locked_in', 'active']);
    for (const [height, text] of recorded) expect(jsonOf(infoBehind(text)).toString(), `height ${height}`).to.equal(text);
  });

  it('writes every recorded answer byte for byte', () => {
    const answers = recordedSuccesses('chaininfo', 'json');
    expect(answers).to.have.length.above(2);
    for (const answer of answers) {
      const text = recordedBody(answer).toString();
      expect(jsonOf(infoBehind(text)).toString(), answer.id).to.equal(text);
    }
  });

  it('adds the fields of pruning after "pruned", the target only when pruning is automatic', () => {
    const between = (prune: ChainInfo['prune']): string =>
      /"pruned":.*?,"softforks"/.exec(jsonOf({ ...anyInfo(), ...(prune === undefined ? {} : { prune }) }).toString())?.[0] ?? '';
    expect(between(undefined)).to.equal('"pruned":false,"softforks"');
    expect(between({ height: 12, automatic: false })).to.equal('"pruned":true,"pruneheight":12,"automatic_pruning":false,"softforks"');
    expect(between({ height: 1, automatic: true, targetSize: 576716800 })).to.equal(
      '"pruned":true,"pruneheight":1,"automatic_pruning":true,"prune_target_size":576716800,"softforks"'
    );
  });

  it('keeps times of deployments exact beyond 2^53', () => {
    const [deployment] = anyInfo().deployments.bip9;
    expect(deployment?.timeout).to.equal(2n ** 63n - 1n);
    expect(jsonOf(anyInfo()).toString()).to.include('"timeout":9223372036854775807');
  });

  it('escapes warnings', () => {
    expect(jsonOf({ ...anyInfo(), warnings: ['say "no"\n'] }).toString()).to.match(/,"warnings":"say \\"no\\"\\n"}\n$/);
  });
});

describe('chainInfoJson as Bitcoin Core 31 prints it', () => {
  const { fields } = PROFILES.modern;
  const infoOf = (text: string): ChainInfo => {
    const recorded = JSON.parse(text) as RecordedState & { readonly warnings: readonly string[] };
    return { ...stateBehind(recorded), warnings: recorded.warnings };
  };

  it('writes what was recorded, byte for byte, at every height', () => {
    const recorded = Object.entries(chainAChainInfo31());
    expect(recorded).to.have.length.above(10);
    for (const [height, text] of recorded) expect(chainInfoJson(infoOf(text), fields).toString(), `height ${height}`).to.equal(text);
  });

  it('writes only the last warning if a list is not wanted', () => {
    const info = { ...infoOf(chainAChainInfo31()['0'] ?? ''), warnings: ['one', 'two'] };
    const ending = (warningsInList: boolean): string | undefined =>
      /"warnings".*/.exec(chainInfoJson(info, { ...fields, warningsInList }).toString())?.[0];
    expect(ending(true)).to.equal('"warnings":["one","two"]}');
    expect(ending(false)).to.equal('"warnings":"two"}');
  });
});
