/** Runs the same statements here and on a real server, until an answer differs. */
import * as fc from 'fast-check';
import { connectTo } from '../../src/serve/index.ts';
import { openSqlDatabase, parseProfile } from '../../src/database/index.ts';
import type { Dialect } from '../../src/sql/model/index.ts';
import {
  answerText,
  type Client,
  isSameAnswer,
  isUnsupported,
  mysqlClient,
  postgresClient,
  type Statement,
} from './answer.ts';
import { isKnownDifference } from './known-differences.ts';
import { Choices, numbers } from './choices.ts';
import { randomStatement, type RandomStatement } from './forms.ts';
import { randomSchema } from './schema.ts';

export interface Scenario {
  readonly setUp: readonly string[];
  readonly statements: readonly RandomStatement[];
}

export function scenarios(dialect: Dialect, statementsMax: number): fc.Arbitrary<Scenario> {
  const bodies = fc.array(numbers, { minLength: 1, maxLength: statementsMax, size: 'max' });
  return fc.tuple(numbers, bodies).map(([schemaNumbers, statementNumbers]) => {
    const { tables, statements } = randomSchema(new Choices(schemaNumbers), dialect);
    return { setUp: statements, statements: statementNumbers.map((list) => randomStatement(list, dialect, tables)) };
  });
}

export interface Difference {
  readonly form: string;
  readonly statement: Statement;
  readonly ours: string;
  readonly theirs: string;
  readonly before: readonly string[];
}

/** Empties the database of the real server. */
const emptying: Readonly<Record<Dialect, readonly string[]>> = {
  postgres: ['ROLLBACK', 'DEALLOCATE ALL', 'DROP SCHEMA public CASCADE', 'CREATE SCHEMA public'],
  mysql: ['ROLLBACK', 'DROP DATABASE test', 'CREATE DATABASE test', 'USE test'],
};

export function realClient(dialect: Dialect, port: number): Promise<Client> {
  return dialect === 'postgres'
    ? postgresClient({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
    : mysqlClient({ host: '127.0.0.1', port, user: 'root', database: 'test' });
}

/** A new database of ours, and a client of it. */
export async function mockClient(dialect: Dialect): Promise<Client> {
  const database = await openSqlDatabase({ profile: parseProfile({ engine: dialect }) });
  const bugs: unknown[] = [];
  const onBug = (error: unknown): void => void bugs.push(error);
  const stream = () => connectTo(database, { onBug });
  const client =
    dialect === 'postgres'
      ? await postgresClient({ stream, user: 'postgres', database: 'postgres' })
      : await mysqlClient({ stream, user: 'root', database: 'test' });
  return {
    ask: async (statement) => {
      const answer = await client.ask(statement);
      const bug = bugs.shift();
      if (bug !== undefined) throw new Error(`a bug of ours: ${statement.sql}`, { cause: bug });
      return answer;
    },
    end: async () => {
      await client.end();
      database.close();
    },
  };
}

/** The first difference, if there is one. What we do not support ends the scenario: from there on the states may differ. */
export async function firstDifference(
  dialect: Dialect,
  real: Client,
  { setUp, statements }: Scenario,
  onUnsupported: (message: string) => void = () => undefined,
): Promise<Difference | undefined> {
  for (const sql of emptying[dialect]) await real.ask({ sql });
  const mock = await mockClient(dialect);
  try {
    const before: string[] = [];
    const all = [...setUp.map((sql) => ({ sql, form: 'tables', isWrite: false })), ...statements];
    for (const statement of all) {
      for (const asked of [statement, ...(statement.isWrite ? contents : [])]) {
        const theirs = await real.ask(asked);
        const ours = await mock.ask(asked);
        if (isSameAnswer(ours, theirs)) continue;
        if (isUnsupported(ours) || isKnownDifference(dialect, asked.sql, ours, theirs)) {
          onUnsupported(answerText(ours));
          return undefined;
        }
        const form = asked === statement ? statement.form : `${statement.form}, then the table`;
        const known = asked === statement ? before : [...before, statementText(statement)];
        return { form, statement: asked, ours: answerText(ours), theirs: answerText(theirs), before: known };
      }
      before.push(statementText(statement));
    }
    return undefined;
  } finally {
    await mock.end();
  }
}

const contents: readonly Statement[] = ['t0', 't1', 't2'].map((name) => ({
  sql: `SELECT * FROM ${name}`,
  hasExactTypes: true,
}));

export function differenceText({ form, statement, ours, theirs, before }: Difference): string {
  return [...before, `-- ${form}`, statementText(statement), `  ours:   ${ours}`, `  theirs: ${theirs}`].join('\n');
}

function statementText({ sql, values }: Statement): string {
  return values === undefined ? sql : `${sql} with ${JSON.stringify(values)}`;
}
