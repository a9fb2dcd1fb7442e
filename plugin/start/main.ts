// `npm start`: a bcoin node with the plugin. All bcoin options are passed through. If neither a network nor a folder is named, it is
// a regtest node in its own folder that begins with a small demonstration chain.

import { loadBcoin } from '../bcoin';
import { questionOf, versionText } from '../cli/question';
import { failureText } from './failure';
import { unknownOptions } from './mistyped';
import { makeNode, runNode } from './node';
import { startSettings } from './settings';
import { USAGE } from './usage';

async function main(args: readonly string[]): Promise<void> {
  const question = questionOf(args);
  if (question === 'help') {
    process.stdout.write(USAGE);
    return;
  }
  const bcoin = loadBcoin();
  if (question === 'version') {
    process.stdout.write(`${versionText()}, bcoin ${bcoin.pkg.version}\n`);
    return;
  }
  for (const { text, isFatal } of unknownOptions(args)) {
    if (isFatal) throw new Error(text);
    console.log(`${text}.`);
  }
  const settings = await startSettings(bcoin);
  const { apiKey } = settings;
  if (apiKey?.isNew === true) {
    const kept = apiKey.file === undefined ? 'for this once' : `kept in ${apiKey.file}`;
    console.log(`The key of bcoin's RPC and wallet, ${kept}: ${apiKey.key}`);
  }
  const node = makeNode(bcoin, settings);
  try {
    await runNode(node, bcoin, settings, endSignal());
  } catch (error) {
    throw new Error(failureText(error, node, settings), { cause: error });
  }
}

/** Aborted by Ctrl-C; a second Ctrl-C ends the process at once. */
function endSignal(): AbortSignal {
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => {
      end.abort();
    });
  return end.signal;
}

process.on('unhandledRejection', (error) => {
  throw error;
});

main(process.argv.slice(2)).then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
);
