// Settings as the plugin reads them: from the configuration of a real node.

import { expect } from 'chai';
import { OptionError } from '../../../plugin/options/errors';
import { readOptions, type RestOptions } from '../../../plugin/options/rest-options';
import { createRegtestNode } from '../../support/bcoin/regtest-node';
import type { HostConfig } from '../../../lib/node/host';

export type Settings = Readonly<Record<string, unknown>>;

export async function configOf(settings: Settings): Promise<HostConfig> {
  return (await createRegtestNode({ settings })).config;
}

export async function optionsOf(settings: Settings): Promise<RestOptions> {
  return readOptions(await configOf(settings));
}

/** `sentence`: what the error's message contains, or matches. */
export async function expectRefused(settings: Settings, sentence: string | RegExp): Promise<void> {
  const config = await configOf(settings);
  expect(() => readOptions(config), JSON.stringify(settings)).to.throw(OptionError, sentence);
}
