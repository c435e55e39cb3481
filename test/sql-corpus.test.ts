/** What PostgreSQL answered, we answer: rows, names of columns, counts, codes and messages of errors. */
import { describe, expect, test } from 'vitest';
import answers from './support/sql-corpus.answers.json' with { type: 'json' };
import { corpus, statementsOf } from './support/sql-corpus.ts';
import { TestDatabase } from './support/sql-test-database.ts';

const recorded: Readonly<Record<string, readonly unknown[]>> = answers;

describe.each(corpus.map((script) => [script.name, script] as const))('%s', (name, script) => {
  const statements = statementsOf(script);

  test('every statement has an answer of PostgreSQL', () => {
    expect(statements.length).toBeGreaterThan(0);
    expect(recorded[name]).toHaveLength(statements.length);
  });

  test('we answer the same', () => {
    const database = new TestDatabase();
    const own = statements.map((sql) => ({ sql, answer: database.run(sql) }));
    expect(own).toEqual(statements.map((sql, i) => ({ sql, answer: recorded[name]?.[i] })));
  });
});
