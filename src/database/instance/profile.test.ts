import { describe, expect, test } from 'vitest';
import { constrainingLevels } from '../../isolation/index.ts';
import { parseProfile, type ProfileOptions, profileText, recordedProfile } from './profile.ts';
import { isolationNamed, isolationNames } from '../../engine/index.ts';

describe('an engine', () => {
  test.each<[ProfileOptions, string]>([
    [{}, 'PostgreSQL, read committed'],
    [{ engine: 'postgres' }, 'PostgreSQL, read committed'],
    [{ engine: 'postgresql', isolation: 'Repeatable-Read' }, 'PostgreSQL, repeatable read'],
    [{ engine: 'mysql' }, 'InnoDB, repeatable read'],
    [{ engine: 'mariadb', isolation: 'serializable' }, 'InnoDB, serializable'],
    [{ engine: 'innodb', isolation: 'read uncommitted' }, 'InnoDB, read uncommitted'],
    [{ engine: 'mariadb' }, 'InnoDB, repeatable read'],
    [{ engine: 'mariadb-11.6' }, 'MariaDB 11.6, repeatable read'],
    [{ dialect: 'mysql' }, 'InnoDB, repeatable read'],
  ])('%o is %s', (options, text) => expect(profileText(parseProfile(options))).toBe(text));
});

describe('a level of the axioms', () => {
  test.each(constrainingLevels)('%s', (level) => {
    expect(parseProfile({ level })).toEqual({ family: 'axiomatic', dialect: 'postgres', level, granularity: 'row' });
  });

  test('has a dialect and a granularity', () => {
    const profile = parseProfile({ level: 'causal', dialect: 'mysql', granularity: 'cell' });
    expect(profileText(profile)).toBe('any behaviour of causal (axiomatic, cell granularity), mysql dialect');
  });
});

test.each<[ProfileOptions, string]>([
  [{ engine: 'oracle' }, 'option/engine'],
  [{ engine: 'toString' }, 'option/engine'],
  [{ level: 'causal', dialect: 'mariadb-11.6' }, 'option/dialect'],
  [{ dialect: 'oracle' }, 'option/engine'],
  [{ level: 'causal', dialect: 'oracle' }, 'option/dialect'],
  [{ engine: 'postgres', level: 'causal' }, 'option/engine'],
  [{ engine: 'postgres', dialect: 'mysql' }, 'option/dialect'],
  [{ engine: 'postgres', isolation: 'causal' }, 'option/isolation'],
  [{ engine: 'postgres', granularity: 'row' }, 'option/granularity'],
  [{ granularity: 'cell' }, 'option/granularity'],
  [{ level: 'causal', isolation: 'serializable' }, 'option/isolation'],
  [{ level: 'repeatable read' }, 'option/level'],
  [{ level: 'toString' }, 'option/level'],
  [{ level: 'causal', granularity: 'table' }, 'option/granularity'],
])('%o is refused: %s', (options, code) =>
  expect(() => parseProfile(options)).toThrow(expect.objectContaining({ code })),
);

test('a failure that was kept before engines had names is of the first of its dialect', () => {
  const profile = parseProfile({ engine: 'mysql' });
  const { engine: _, ...before } = { ...profile } as Record<string, string>;
  expect(recordedProfile(before)).toEqual(profile);
  for (const each of [parseProfile({ engine: 'mariadb-11.6' }), parseProfile({ level: 'causal' })])
    expect(recordedProfile({ ...each })).toEqual(each);
});

test.each(isolationNames)('%s in any spelling', (name) => {
  expect(isolationNamed(` ${name.toUpperCase().replace(' ', '-')} `)).toBe(name);
});
