// The calls described, as OpenRPC has it.

import { DISCOVER, DISCOVER_SUMMARY, DOCUMENT } from '../../describe/open-rpc';
import { jsonAnswer, type CallDefinition } from '../call';

export const discoverCalls = {
  [DISCOVER]: {
    summary: DISCOVER_SUMMARY,
    parameters: [],
    result: () => DOCUMENT,
    answer: (_, { document }) => jsonAnswer(document())
  }
} satisfies Readonly<Record<string, CallDefinition>>;
