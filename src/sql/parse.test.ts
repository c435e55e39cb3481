import { beforeAll, expect, test } from 'vitest';
import { characterPosition, loadParser, parseStatement, splitStatements } from './parse.ts';
import { SqlError } from './model/sql-error.ts';

beforeAll(loadParser);

test.each([
  ['one', 'SELECT 1', ['SELECT 1']],
  ['one with an end', 'SELECT 1;', ['SELECT 1;']],
  ['several', 'SELECT 1; SELECT 2 ;', ['SELECT 1', 'SELECT 2']],
  ['empty ones are left out', ';; SELECT 1; ; SELECT 2', ['SELECT 1', 'SELECT 2']],
  ['nothing', '  \n', []],
  ['comments alone', '-- a\n/* b */ ;', []],
  ['semicolons inside', "SELECT ';'; SELECT $$;$$", ["SELECT ';'", 'SELECT $$;$$']],
  ['bytes are not characters', "SELECT 'é€😀'; SELECT 'ü'", ["SELECT 'é€😀'", "SELECT 'ü'"]],
])('split: %s', (_name, sql, statements) => expect(splitStatements(sql)).toEqual(statements));

test.each([
  ['selec 1', 'syntax error at or near "selec"', 1],
  ['SELECT FROM WHERE', 'syntax error at or near "WHERE"', 13],
  ["SELECT 'x", 'unterminated quoted string at or near "\'x"', 8],
])('%s is a syntax error with its place', (sql, message, position) => {
  const error = errorOf(() => parseStatement(sql));
  expect(error.code).toBe('42601');
  expect(error.message).toBe(message);
  expect(error.detail.position).toBe(position);
});

test('a prepared statement is one statement', () => {
  expect(errorOf(() => parseStatement('SELECT 1; SELECT 2')).message).toBe(
    'cannot insert multiple commands into a prepared statement',
  );
});

test('places are counted in characters', () => {
  expect(characterPosition("SELECT '😀', x", 15)).toBe(13);
  expect(characterPosition('SELECT x', 7)).toBe(8);
});

function errorOf(run: () => unknown): SqlError {
  try {
    run();
  } catch (error) {
    if (error instanceof SqlError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
