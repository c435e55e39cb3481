import { expect, test } from 'vitest';
import type { Checked } from './check-file.ts';
import { checkPage } from './check-page.ts';

function textOf(answers: Checked['answers'], strongest: Checked['strongest']): string {
  const page = { size: '', notes: [], violation: null };
  const rest = { file: 'h', text: '', json: {}, assumed: [], cut: null, drawing: null, page };
  const asked = { heading: '', level: null, kind: 'described', summary: '', assumed: [] } as const;
  return checkPage([{ kind: 'checked', answers, strongest, ...rest }], asked).verdict.text;
}

test('a history at no level is told from one whose level is not known', () => {
  const violated = { kind: 'violated', text: 'violated' } as const;
  const unknown = { kind: 'unknown', text: 'unknown: stopped' } as const;
  expect(textOf({ 'read-uncommitted': violated, 'read-committed': violated }, null)).toBe('the history is at no level');
  expect(textOf({ 'read-uncommitted': unknown, 'read-committed': violated }, null)).toBe(
    'the strongest level is not known',
  );
  expect(textOf({ 'read-uncommitted': { kind: 'satisfied', text: 'satisfied' } }, 'read-uncommitted')).toBe(
    'the strongest level is read-uncommitted',
  );
});
