/** The mock database gives exactly the histories of its level: no other, and none is missing. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { satisfies, constrainingLevels, type ConstrainingLevel, type IsolationLevel } from '../src/isolation/index.ts';
import { historiesByDefinition, historiesOfMockDatabase } from './support/brute-force.ts';
import { knownCounts, levelsOfCounts } from './support/known-counts.ts';
import { smallProgram, smallText } from './support/small-program.ts';

test.each(knownCounts)('known counts of histories: %s', async (_name, program, expected) => {
  const found = await Promise.all(
    levelsOfCounts.map(async (level) => (await historiesOfMockDatabase(program, level)).size),
  );
  expect(found).toEqual(expected);
});

/** MOIRAI_HEAVY=1 runs the campaign that the closing notes of a release quote. */
const numRuns = process.env['MOIRAI_HEAVY'] === '1' ? 5_000 : 150;

describe('the histories are exactly those of the definition', () => {
  test.each(constrainingLevels)('%s', { timeout: 3_600_000 }, async (level) => {
    await fc.assert(
      fc.asyncProperty(smallText, async (text) => {
        const program = smallProgram(text);
        const found = await historiesOfMockDatabase(program, level, (history, commitOrder) => {
          if (!satisfies(history, commitOrder, level, { abortedReads: 'constrained' }))
            throw new Error('not at its level by its own commit order');
        });
        expect([...found].toSorted()).toEqual([...(await historiesByDefinition(program, level))].toSorted());
      }),
      { numRuns },
    );
  });

  test('mixed levels, one for each transaction', { timeout: 3_600_000 }, async () => {
    const levels = fc.array(fc.constantFrom(...constrainingLevels), { minLength: 8, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(smallText, levels, async (text, chosen) => {
        const levelOf = (session: number, index: number): ConstrainingLevel =>
          chosen[(session * 3 + index) % 8] ?? 'causal';
        const program = smallProgram(text, levelOf);
        const found = await historiesOfMockDatabase(program, 'causal', (history, commitOrder) => {
          const level = (t: number): IsolationLevel =>
            (history.transactions[t]?.level as IsolationLevel | undefined) ?? 'causal';
          if (!satisfies(history, commitOrder, level, { abortedReads: 'constrained' }))
            throw new Error('not at its levels by its own commit order');
        });
        expect([...found].toSorted()).toEqual([...(await historiesByDefinition(program, 'causal'))].toSorted());
      }),
      { numRuns },
    );
  });
});
