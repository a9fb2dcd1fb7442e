// The JSON of soft forks as a block sees them (getdeploymentinfo of Bitcoin Core since 23).

import { OBJECT_END, JsonWriter } from './json-writer';
import { FORK_STATUS } from './chain-info';
import { anyOf, described, listOf, mapOf, named, object, type Schema } from '../describe/schema';
import { BLOCK_HASH, COUNT, FLAG, HEIGHT, INTEGER, TEXT } from '../describe/values';
import type { DeploymentInfo, SignalledFork } from '../node/types/soft-forks';

/** `{hash, height, script_flags, deployments}`, and a line feed. */
export function deploymentInfoJson({ hash, height, scriptFlags, buried, signalled }: DeploymentInfo): Buffer {
  const writer = new JsonWriter();
  writer.hashField('{"hash":', hash);
  writer.integerField(',"height":', height);
  writer.ascii(`,"script_flags":${JSON.stringify(scriptFlags)},"deployments":{`);
  // A fork is shown as active if it applies to the next block.
  const isActive = (since: number | undefined): boolean => since !== undefined && height + 1 >= since;
  buried.forEach(({ id, height: since }, i) => {
    writer.ascii(`${i === 0 ? '' : ','}"${id}":{"type":"buried","active":${isActive(since)},"height":${since}}`);
  });
  for (const fork of signalled) {
    const since = fork.activeSince === undefined ? '' : `,"height":${fork.activeSince}`;
    writer.ascii(`,"${fork.id}":{"type":"bip9"${since},"active":${isActive(fork.activeSince)},"bip9":`);
    writeSignalled(writer, fork);
    writer.char(OBJECT_END);
  }
  writer.ascii('}}\n');
  return writer.toBuffer();
}

/** Shows the threshold, and whether it can still be reached, only until it is reached. */
function writeSignalled(writer: JsonWriter, fork: SignalledFork): void {
  const { bit, startTime, timeout, status, since, nextStatus, signals, period, threshold } = fork;
  writer.ascii(signals === undefined ? '{' : `{"bit":${bit},`);
  writer.ascii(`"start_time":${startTime},"timeout":${timeout},"min_activation_height":0`);
  writer.ascii(`,"status":"${status}","since":${since},"status_next":"${nextStatus}"`);
  if (signals !== undefined) {
    const [elapsed, count] = [signals.length, signals.filter(Boolean).length];
    writer.ascii(`,"statistics":{"period":${period},"elapsed":${elapsed},"count":${count}`);
    if (status === 'started') writer.ascii(`,"threshold":${threshold},"possible":${period - threshold >= elapsed - count}`);
    writer.ascii(`},"signalling":"${signals.map((signal) => (signal ? '#' : '-')).join('')}"`);
  }
  writer.char(OBJECT_END);
}

const IS_ACTIVE = described('Whether it applies to the next block.', FLAG);

/** What `deploymentInfoJson` writes. */
export function deploymentInfoSchema(): Schema {
  const bip9 = object(
    { start_time: INTEGER, timeout: INTEGER, min_activation_height: COUNT, status: FORK_STATUS, since: HEIGHT, status_next: FORK_STATUS },
    {
      bit: described('The bit of the version with which blocks signal, while they may.', COUNT),
      statistics: object({ period: COUNT, elapsed: COUNT, count: COUNT }, { threshold: COUNT, possible: FLAG }),
      signalling: described('For each block of the period, # if it signals and - if it does not.', TEXT)
    }
  );
  const buried = object({ type: { const: 'buried' }, active: IS_ACTIVE, height: HEIGHT });
  const signalled = object({ type: { const: 'bip9' }, active: IS_ACTIVE, bip9 }, { height: HEIGHT });
  return named(
    'DeploymentInfo',
    object({
      hash: BLOCK_HASH,
      height: HEIGHT,
      script_flags: described('The rules for scripts in this block.', listOf(TEXT)),
      deployments: described('The soft forks by name.', mapOf(TEXT, named('Deployment', anyOf(buried, signalled))))
    })
  );
}
