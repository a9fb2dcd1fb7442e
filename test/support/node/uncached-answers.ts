// What interfaces answer from, made anew: nothing is cached, and nothing that was cached is used.

import { answersOf, scriptAnswersOf, type ScriptAnswers } from '../../../lib/answers/answers';
import { AnswerCache } from '../../../lib/server/cache/answer-cache';
import type { ServedNode } from './served-node';

/** For the same indexes, pool and gates as those of the node. */
export function uncachedAnswers({ serving, answers, scripts }: Pick<ServedNode, 'serving' | 'answers' | 'scripts'>): ScriptAnswers {
  const { node, reader, gate, options } = serving;
  const { profile, witness, filters, txidsOf, warnings, pool } = answers;
  const parts = { node, reader, gate, options, cache: new AnswerCache(1) };
  return scriptAnswersOf(answersOf(parts, { profile, witness, filters }, { txidsOf, warnings }), gate, scripts, pool);
}
