/** Expressions without tables: what `SELECT <expression>` needs, for tests. */
import type { Node } from '@pgsql/types';
import { loadModule, parseSync } from 'libpg-query';
import type { Dialect } from '../model/dialect.ts';
import type { Expression, Frame, Scope } from '../expression.ts';
import { Sequence, sequenceOptions } from '../catalog/sequence.ts';
import { DeferredChecks } from '../run/deferred-checks.ts';
import { notSupported, SqlError } from '../model/sql-error.ts';
import { formatText } from '../model/text-format.ts';
import { types } from '../model/type.ts';
import type { SqlType } from '../model/type.ts';
import type { SqlValue } from '../model/value.ts';
import { parseMysql } from '../mysql/parse-mysql.ts';
import { coerce } from './coerce.ts';
import { nameless } from './nameless.test-support.ts';
import { unlocked } from './unlocked.test-support.ts';
import { compileExpression } from './compile.ts';
import { KeptResults, type Surroundings } from '../execution.ts';

await loadModule();

export interface Result {
  readonly text: string | null;
  readonly type: SqlType;
  readonly value: SqlValue;
}

/** The parser's tree of an expression. @throws SqlError 42601 */
export function parseExpression(sql: string): Node {
  return targetOf(parseSelect(`SELECT ${sql}`));
}

function targetOf(tree: Node): Node {
  const [target] = 'SelectStmt' in tree ? (tree.SelectStmt.targetList ?? []) : [];
  if (target === undefined || !('ResTarget' in target) || target.ResTarget.val === undefined)
    throw notSupported('this SELECT list');
  return target.ResTarget.val;
}

function parseSelect(sql: string): Node {
  try {
    const [statement] = (parseSync(sql) as { readonly stmts?: readonly { readonly stmt?: Node }[] }).stmts ?? [];
    if (statement?.stmt !== undefined) return statement.stmt;
  } catch (error) {
    throw new SqlError('42601', String(error));
  }
  throw new SqlError('42601', 'no statement');
}

/** The moment of all tests: 2024-02-29 12:34:56.789 UTC. */
const testMoment = 1_709_210_096_789_000n;

const testSurroundings: Surroundings = {
  transactionTime: testMoment,
  statementTime: testMoment,
  clock: () => testMoment,
  random: () => 0.5,
  setting: (name) => (name === 'timezone' ? 'UTC' : undefined),
  globalSetting: () => undefined,
  setSetting: () => undefined,
  user: 'postgres',
  database: 'postgres',
  sessionId: 7,
  sequence: (name) => new Sequence(1, 'public', name, sequenceOptions('int8')),
  nextValue: () => 1n,
  currentValue: () => 1n,
  setValue: (_sequence, value) => value,
  lastInsertId: 5n,
  setLastInsertId: (value) => value,
  foundRows: 3n,
  rowCount: 2n,
  version: 'PostgreSQL 15',
  transactionId: 1,
  catalog: nameless,
  deferred: new DeferredChecks(),
  locks: unlocked,
  activity: () => [],
  signal: () => false,
  onCatalogQuery: () => undefined,
};

export function testScope(dialect: Dialect = 'postgres', columns: Readonly<Record<string, Expression>> = {}): Scope {
  return {
    dialect,
    column: (names) => {
      const column = columns[names.join('.')];
      if (column === undefined) throw new SqlError('42703', `column "${names.join('.')}" does not exist`);
      return column;
    },
    columnsOf: (names) => {
      throw new SqlError('42P01', `missing FROM-clause entry for table "${names.join('.')}"`);
    },
    parameter: (number) => {
      throw new SqlError('42P02', `there is no parameter $${number}`);
    },
    // A subquery here is a list of constant rows: VALUES, or a SELECT without FROM.
    subquery: (select) => constantRows(select, dialect),
    aggregate: () => undefined,
    type: (name) => {
      throw new SqlError('42704', `type "${name}" does not exist`);
    },
  };
}

function constantRows(select: Node, dialect: Dialect): ReturnType<Scope['subquery']> {
  if (!('SelectStmt' in select)) throw notSupported('this subquery');
  const { valuesLists, targetList = [], whereClause } = select.SelectStmt;
  const scope = testScope(dialect);
  const lists: readonly (readonly Node[])[] = valuesLists?.map((list) =>
    'List' in list ? (list.List.items ?? []) : [],
  ) ?? [
    targetList.flatMap((target) =>
      'ResTarget' in target && target.ResTarget.val !== undefined ? [target.ResTarget.val] : [],
    ),
  ];
  const rows = lists.map((list) => list.map((node) => compileExpression(node, scope, types.text)));
  const holds = whereClause === undefined ? undefined : compileExpression(whereClause, scope);
  const [first = []] = rows;
  const found = (frame: Frame): SqlValue[][] =>
    rows
      .filter(() => holds === undefined || holds.evaluate(frame) === true)
      .map((row) => row.map(({ evaluate }) => evaluate(frame)));
  return {
    columns: first.map(({ type }, i) => ({ name: `column${i + 1}`, type })),
    rows: found,
    hasRow: (frame) => found(frame).length > 0,
    isCorrelated: false,
    keptIn: () => new KeptResults(),
  };
}

export function testFrame(parameters: readonly SqlValue[] = []): Frame {
  return { rows: [], computed: [], execution: { parameters, surroundings: testSurroundings }, outer: null };
}

/** `SELECT <expression>`: literals without a type are text in the end. @throws SqlError */
export function evaluateSql(sql: string, dialect: Dialect = 'postgres', scope: Scope = testScope(dialect)): Result {
  return evaluateTree(parseExpression(sql), dialect, scope);
}

function evaluateTree(tree: Node, dialect: Dialect, scope: Scope): Result {
  const compiled = compileExpression(tree, scope);
  const shown = compiled.type.name === 'unknown' ? coerce(compiled, types.text, -1, 'implicit', scope) : compiled;
  const value = shown.evaluate(testFrame());
  return { value, type: shown.type, text: value === null ? null : formatText(value, shown.type, dialect) };
}

/** The text of the value, or `!` and the SQLSTATE. */
export function outcomeOf(sql: string, dialect: Dialect = 'postgres'): string | null {
  try {
    return evaluateSql(sql, dialect).text;
  } catch (error) {
    if (error instanceof SqlError) return `!${error.code}`;
    throw error;
  }
}

/** The same for an expression in MySQL's grammar. */
export function mysqlOutcomeOf(sql: string): string {
  try {
    const parsed = parseMysql(`SELECT ${sql}`);
    if (parsed.kind !== 'tree') throw notSupported(sql);
    const tree = targetOf(parsed.tree);
    return evaluateTree(tree, 'mysql', testScope('mysql')).text ?? 'null';
  } catch (error) {
    if (error instanceof SqlError) return `!${error.code}`;
    throw error;
  }
}
