// The commands: `status` of both indexes, `verify` and `rebuild` of either.

import { existsSync } from 'node:fs';
import { duration } from '../../../lib/index/progress/text';
import { RefusedBlockFile, RefusedBlockFileError, refusedText } from '../../../lib/watch/refused-block';
import { ImpossibleError } from './errors';
import { mainIndex } from './main-index';
import { blockJson, blockText, EXIT, type Report } from './report';
import { scriptIndex } from './script-index';
import { emptyIndex, missingText, withIndex, type CommandContext, type OpenIndex, type StoppedIndex } from './stopped-index';
import type { StoppedNode } from './stopped-node';

export type Command = (context: CommandContext, index?: StoppedIndex) => Promise<Report>;

/**
 * The state of both indexes, and their sizes. Exit code 1 means that one of them is not on the node's chain, or that other nodes refuse a
 * block of that chain, or may do so; 3 that only the index by script is there.
 */
export async function status(context: CommandContext): Promise<Report> {
  const { stopped } = context;
  const statusOf = async (open: OpenIndex) => ({ ...(await open.status()), onNodeChain: open.onNodeChain });
  const hasScripts = existsSync(stopped.scriptsFolder);
  const main = existsSync(stopped.indexFolder) || !hasScripts ? await withIndex(context, mainIndex, statusOf) : undefined;
  const scripts = hasScripts ? await withIndex(context, scriptIndex(), statusOf) : undefined;
  const refused = await findRefused(stopped);
  const missing = [['Index', missingText(stopped, mainIndex)] as const];
  const lines = [...(main?.lines ?? missing), refused && (['Refused', refused.text] as const), ...(scripts?.lines ?? [])].filter(
    (line) => line !== undefined && line !== false
  );
  const isRight = main?.onNodeChain !== false && scripts?.onNodeChain !== false && refused === undefined;
  return {
    exit: !isRight ? EXIT.different : main === undefined ? EXIT.impossible : EXIT.done,
    json: { ...(main?.json ?? { index: null }), refused: refused?.json, scripts: scripts?.json },
    text: lines.map(([name, value]) => `${name.padEnd(9)}${value}`).join('\n')
  };
}

/** The block of the node's chain that other nodes refuse, if the node has found one (`--rest-pool=modern`); or why it is not known. */
async function findRefused({ node, refusedFile }: StoppedNode): Promise<Pick<Report, 'text' | 'json'> | undefined> {
  try {
    const refused = await new RefusedBlockFile(refusedFile).read();
    if (refused === undefined || (await node.activeHash(refused.height))?.equals(refused.hash) !== true) return undefined;
    return { text: refusedText(refused), json: { ...blockJson(refused), fault: refused.fault } };
  } catch (error) {
    if (!(error instanceof RefusedBlockFileError)) throw error;
    return { text: error.message, json: { error: error.message } };
  }
}

/** Compares an index with what the node has. Exit code 1 means that there is a difference, or that it is not on the node's chain. */
export function verify(context: CommandContext, index = mainIndex): Promise<Report> {
  const { name, key, nothing } = index;
  return withIndex(context, index, async (open) => {
    const { tip, onNodeChain, forkHeight, filling } = open;
    if (filling !== undefined)
      throw new ImpossibleError(`the ${name} is being filled (${filling}); the node continues when it next starts with --rest-addresses`);
    if (tip === undefined) return { exit: EXIT.done, json: { verified: true, [key]: null, ...nothing }, text: `The ${name} is empty.` };
    if (onNodeChain) return await open.verify(tip);
    const fork = forkHeight === undefined ? '' : `: they fork after block ${forkHeight}`;
    return {
      exit: EXIT.different,
      json: { verified: false, [key]: blockJson(tip), onNodeChain, forkHeight },
      text: `The ${name}, at ${blockText(tip)}, is not on the node's chain${fork}. Nothing more was compared.`
    };
  });
}

/** Empties an index and builds it again at once. */
export async function rebuild(context: CommandContext, index = mainIndex): Promise<Report> {
  const { name, key, rebuilt } = index;
  await index.requireBuildable(context.stopped);
  await emptyIndex(context, index);
  const start = performance.now();
  await index.build(context);
  const seconds = Math.ceil((performance.now() - start) / 1_000);
  const tip = context.stopped.node.tip();
  return {
    exit: EXIT.done,
    json: { [key]: blockJson(tip), seconds },
    text: `The ${name} was ${rebuilt} up to ${blockText(tip)}, in ${duration(seconds)}.`
  };
}
