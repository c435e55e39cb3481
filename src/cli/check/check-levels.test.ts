import { describe, expect, test } from 'vitest';
import { isolationLevels, type IsolationLevel } from '../../isolation/index.ts';
import type { CompactLevel } from '../../check/index.ts';
import { cyclePicture } from '../../report/index.ts';
import { type CheckedLevel, type CheckedLevels, checkLevels } from './check-levels.ts';
import type { Answer, Violation } from './check-report.ts';

type Kind = Answer['kind'];
const letters: Record<string, Kind> = { s: 'satisfied', v: 'violated', u: 'unknown' };

/** What becomes of the answers of single levels, weakest first; `checked`: the levels that were asked about. */
function told(single: string, order: 'weakest-first' | 'strongest-first', above: Kind | null = null) {
  const levels = isolationLevels.slice(0, single.length);
  const stronger = isolationLevels[single.length] ?? null;
  const checked: IsolationLevel[] = [];
  const check = (level: CompactLevel): CheckedLevel => {
    const isAsked = levels.includes(level as IsolationLevel);
    const kind = isAsked
      ? (letters[single[levels.indexOf(level as IsolationLevel)] as string] as Kind)
      : (above as Kind);
    checked.push(level as IsolationLevel);
    const shown: Violation = {
      level,
      title: '',
      json: {},
      lines: () => [],
      drawing: { nodes: [], edges: [] },
      picture: () => cyclePicture({ message: '', cause: [], transactions: [], edges: [] }),
    };
    return { answer: { kind, text: kind }, violation: kind === 'violated' ? shown : null };
  };
  const soFar: string[] = [];
  const textOf = (found: CheckedLevels): string => [...found.answers.values()].map(({ kind }) => kind[0]).join('');
  const found = checkLevels(levels, order, check, (now) => soFar.push(textOf(now)), above === null ? null : stronger);
  const { violation } = found;
  return {
    all: textOf(found),
    soFar,
    violated: violation === null ? null : levels.indexOf(violation.level as IsolationLevel),
    checked: checked.length,
  };
}

describe('satisfied goes down and violated goes up', () => {
  test.each([
    ['ssvv', 'weakest-first', 'ssvv', 2, 3],
    ['ssvv', 'strongest-first', 'ssvv', 2, 3],
    ['suus', 'weakest-first', 'ssss', null, 4],
    ['suus', 'strongest-first', 'ssss', null, 1],
    ['suvu', 'weakest-first', 'suvv', 2, 3],
    ['suvu', 'strongest-first', 'suvv', 2, 4],
    ['suuu', 'weakest-first', 'suuu', null, 4],
    ['suusu', 'strongest-first', 'ssssu', null, 2],
  ] as const)('%s, %s: %s', (single, order, all, violated, checked) => {
    expect(told(single, order)).toMatchObject({ all, violated, checked });
  });

  test.each([
    ['suu', 'satisfied', 'sss', 2],
    ['suu', 'violated', 'suu', 4],
    ['ssu', 'unknown', 'ssu', 3],
    ['uus', 'violated', 'sss', 1],
  ] as const)('%s, and a stronger level %s: %s', (single, above, all, checked) => {
    expect(told(single, 'strongest-first', above)).toMatchObject({ all, checked, violated: null });
  });

  test('what is known so far, before each level and after the last', () => {
    expect(told('ssvv', 'weakest-first').soFar).toEqual(['uuuu', 'suuu', 'ssuu', 'ssvv']);
    expect(told('suvu', 'strongest-first').soFar).toEqual(['uuuu', 'uuuu', 'uuvv', 'uuvv', 'suvv']);
  });
});
