// Calls about the interface itself: its calls, as texts and as OpenRPC has them, those that are under way, and one that says what it was told.

import { DISCOVER, DISCOVER_SUMMARY, DOCUMENT } from '../../describe/open-rpc';
import { described, listOf, named, object } from '../../describe/schema';
import { COUNT, TEXT } from '../../describe/values';
import { jsonAnswer, plainAnswer, type CallDefinition } from '../call';
import { requireText, type Parameter } from '../parameters';

const MOST_ARGUMENTS = 10;

const US_PER_MS = 1_000;

const ARGUMENTS = Array.from({ length: MOST_ARGUMENTS }, (_, i): Parameter => ({
  name: `arg${i}`,
  type: 'any',
  isOptional: true,
  schema: described('Anything.', {})
}));

export const controlCalls = {
  help: {
    summary: 'All calls, or how one of them is made.',
    parameters: [{ name: 'command', type: 'string', isOptional: true, schema: TEXT }],
    result: () => TEXT,
    answer: ({ all: [command = ''] }, { help }) => plainAnswer(help(requireText(command))) // null is no text, as for Bitcoin Core
  },
  getrpcinfo: {
    summary: 'The calls that are being answered.',
    parameters: [],
    result: () =>
      object({
        active_commands: listOf(named('ActiveCall', object({ method: TEXT, duration: { ...COUNT, description: 'Microseconds.' } }))),
        logpath: described('Empty: where the log is, is not told.', TEXT)
      }),
    answer: (_, { active }) => {
      const now = performance.now();
      const calls = active().map(({ method, begin }) => ({ method, duration: Math.round((now - begin) * US_PER_MS) }));
      return plainAnswer({ active_commands: calls, logpath: '' });
    }
  },
  echo: {
    summary: 'What it was given.',
    parameters: ARGUMENTS,
    result: () => ({ type: 'array' }),
    answer: (parameters) => plainAnswer(parameters.all)
  },
  [DISCOVER]: {
    summary: DISCOVER_SUMMARY,
    parameters: [],
    result: () => DOCUMENT,
    answer: (_, { document }) => jsonAnswer(document())
  }
} satisfies Readonly<Record<string, CallDefinition>>;
