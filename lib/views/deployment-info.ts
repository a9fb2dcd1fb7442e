// The JSON of soft forks as a block sees them (getdeploymentinfo of Bitcoin Core since 23).

import { OBJECT_END, JsonWriter } from './json-writer';
import type { DeploymentInfo, SignalledFork } from '../node/types';

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
