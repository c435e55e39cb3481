import { expect, test } from 'vitest';
import { unlimited } from '../base/time-limit.ts';
import { type History, parseHistory, relationsOf } from '../history/index.ts';
import type { Verdict } from './verdict.ts';
import { checkChoices } from './writer-choices.ts';

test.each([
  ['both are refuted', ['violated', 'violated'], 'violated'],
  ['one is refuted, of the other nothing is known', ['violated', 'unknown'], 'unknown'],
  ['one is refuted, the other is right', ['violated', 'satisfied'], 'satisfied'],
] as const)('a read of a value that two wrote: %s', (_name, kinds, expected) => {
  const history = parseHistory('w x 1 \n w x 1 \n r x 1');
  const { ambiguous } = relationsOf(history);
  const ofChoice = (resolved: History): Verdict => {
    const [read] = resolved.transactions[2]?.operations ?? [];
    const from = read?.kind === 'read' ? read.from : undefined;
    switch (from === undefined ? 'satisfied' : kinds[from]) {
      case 'violated':
        return { kind: 'violated', anomaly: 'G1c', cycle: [] };
      case 'unknown':
        return { kind: 'unknown', reason: 'step-limit' };
      default:
        return { kind: 'satisfied', commitOrder: [0, 1, 2] };
    }
  };
  expect(ambiguous).toHaveLength(1);
  const { kind } = checkChoices(history, ambiguous, ofChoice, { choicesMax: 10, limit: unlimited });
  expect(kind).toBe(expected);
});
