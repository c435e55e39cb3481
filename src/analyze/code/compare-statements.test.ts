import { expect, test } from 'vitest';
import { argument, branch, loop, statement, transaction, abort, type UnitStep } from '../index.ts';
import type { NotUnderstood, Unit } from '../application.ts';
import { differences } from './compare-statements.ts';
import type { SentStatement } from './sent-statements.ts';

const read = statement('SELECT n FROM a WHERE id = $1', [argument('id')], 'a');
const write = statement('UPDATE a SET n = $2 WHERE id = $1', [argument('id'), argument('n')]);
const log = statement('INSERT INTO log VALUES ($1)', [argument('id')]);
const unread: NotUnderstood = {
  kind: 'not-understood',
  place: { file: 'a.ts', line: 7 },
  reason: 'it is built in a loop',
};

const place = { file: 'a.ts', line: 1 };
const unitOf = (steps: readonly UnitStep[]): Unit => ({ name: 'unit', place, steps });

/** `version` stands for what names no table. */
function sent(...texts: readonly string[]): readonly SentStatement[] {
  const roles = { BEGIN: 'begin', COMMIT: 'commit', ROLLBACK: 'rollback' } as const;
  return texts.map((sql) => ({
    sql,
    role: sql in roles ? roles[sql as keyof typeof roles] : 'data',
    error: null,
    isAboutTables: sql !== 'SELECT version()',
  }));
}

const [SELECT, UPDATE, INSERT] = [read, write, log].map(({ sql }) => sql) as [string, string, string];
const guarded = transaction('t', null, [read, branch(argument('ok'), [write], [abort()])]);

test.each<[name: string, steps: readonly UnitStep[], texts: readonly string[]]>([
  ['one statement', [read], [SELECT]],
  ['other constants and space', [statement('SELECT n FROM a WHERE id = 1')], ['SELECT n  FROM a WHERE id = 2']],
  ['either side of a branch', [guarded, log], ['BEGIN', SELECT, UPDATE, 'COMMIT', INSERT]],
  ['an abort ends the unit', [guarded, log], ['BEGIN', SELECT, 'ROLLBACK']],
  ['a caught abort does not', [guarded, log], ['BEGIN', SELECT, 'ROLLBACK', INSERT]],
  ['a loop that does not run', [loop('item', argument('items'), [write]), log], [INSERT]],
  ['a loop that runs twice', [loop('item', argument('items'), [write]), log], [UPDATE, UPDATE, INSERT]],
  ['what a driver asks for itself', [read], ['SELECT version()', SELECT, 'SELECT version()']],
])('no difference: %s', (_name, steps, texts) => {
  expect(differences(unitOf(steps), sent(...texts), 'postgres')).toEqual([]);
});

test.each<
  [name: string, steps: readonly UnitStep[], texts: readonly string[], source: string | null, found: string | null]
>([
  ['another statement', [read, write], [SELECT, INSERT], UPDATE, INSERT],
  ['another order', [read, write], [UPDATE, SELECT], SELECT, UPDATE],
  ['one more', [read], [SELECT, UPDATE], null, UPDATE],
  ['one less', [read, write], [SELECT], UPDATE, null],
  ['no transaction', [transaction('t', null, [read])], [SELECT], 'BEGIN', SELECT],
  [
    'a commit in between',
    [transaction('t', null, [read, write])],
    ['BEGIN', SELECT, 'COMMIT', UPDATE],
    UPDATE,
    'COMMIT',
  ],
  ['no commit', [transaction('t', null, [read])], ['BEGIN', SELECT, 'ROLLBACK'], 'COMMIT', 'ROLLBACK'],
])('a difference: %s', (_name, steps, texts, source, found) => {
  expect(differences(unitOf(steps), sent(...texts), 'postgres')).toMatchObject([{ source, sent: found, reason: null }]);
});

test('a difference is at the place of the statement that the source has', () => {
  expect(differences(unitOf([read, write]), sent(SELECT, INSERT), 'postgres')).toMatchObject([{ place: write.place }]);
});

test('where the source is not understood, each statement that ran is a difference', () => {
  expect(differences(unitOf([read, unread, write]), sent(SELECT, INSERT, INSERT, UPDATE), 'postgres')).toEqual(
    [1, 2].map(() => ({ place: unread.place, source: null, reason: unread.reason, sent: INSERT })),
  );
});

test('a list of any length is one', () => {
  const steps = [statement('SELECT n FROM a WHERE id IN (?)', [argument('ids')])];
  expect(differences(unitOf(steps), sent('SELECT n FROM a WHERE id IN (1, 2, 3)'), 'mysql')).toEqual([]);
});
