/** What explore lists, and programs that fail now and then. */
import { expect } from 'vitest';
import { explore, type ExploreOptions } from '../../src/explore/index.ts';
import { formatHistory } from '../../src/history/index.ts';
import type { ConstrainingLevel } from '../../src/isolation/index.ts';
import type { Program, SessionHandle, TransactionHandle } from '../../src/program/index.ts';

/** The histories that explore lists, as texts, with repetitions if there are any. */
export async function listed(
  tested: Program,
  level: ConstrainingLevel,
  options: ExploreOptions = {},
): Promise<string[]> {
  const texts: string[] = [];
  const { complete, histories } = await explore(tested, {
    ...options,
    level,
    onHistory: (history) => texts.push(formatHistory(history())),
  });
  expect(complete).toBe(true);
  expect(histories).toBe(texts.length);
  return texts;
}

/** Some transactions throw, or the session does after them: one of so many sums of what they read. */
export function withErrors(tested: Program, oneOf: number, inside: boolean): Program {
  const check = (seen: readonly number[]): void => {
    if (seen.reduce((sum, each) => sum + each, 0) % oneOf === 1) throw new Error(`read ${seen.join()}`);
  };
  return {
    ...tested,
    sessions: tested.sessions.map((body) => (s) => {
      const transaction: SessionHandle['transaction'] = async (work, options) => {
        const seen: number[] = [];
        const result = await s.transaction(async (t) => {
          const read = async (key: string) => {
            const value = await t.read<number>(key);
            seen.push(value);
            return value;
          };
          const done = await work({ ...t, read: read as TransactionHandle['read'] });
          if (inside) check(seen);
          return done;
        }, options);
        if (!inside) check(seen);
        return result;
      };
      return body({ ...s, transaction });
    }),
  };
}

/** Fails in about half of the final states, for no reason. */
export function withInvariant(tested: Program): Program {
  const sum = (text: string): number =>
    Array.from(text).reduce((total, char, i) => total + char.charCodeAt(0) * (i % 7), 0);
  return { ...tested, invariant: ({ final }) => sum(JSON.stringify(final)) % 2 !== 0 };
}
