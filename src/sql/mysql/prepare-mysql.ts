/** From MySQL's text to what the session runs. */
import type { Node } from '@pgsql/types';
import { userVariableSetter } from '../expressions/index.ts';
import { SqlError, type StatementView, type Waiting } from '../model/index.ts';
import { prepareTree, type PrepareOptions } from '../prepare.ts';
import type { DdlOutcome, DdlStatement, Statement } from '../statement.ts';
import { parseMysql } from './parse-mysql.ts';
import type { Parsed } from './parsed.ts';
import type { Execution } from '../execution.ts';
import { temporarySchema } from '../catalog/name.ts';

/** Plans one statement of MySQL's. @throws SqlError */
export function prepareMysqlStatement(sql: string, options: PrepareOptions): Statement {
  const parsed = parseMysql(sql, options.database);
  const prepare: Prepare = (tree, more) =>
    prepareTree(tree, { ...options, ...more }, (location) => Array.from(sql.slice(0, location)).length + 1);
  switch (parsed.kind) {
    case 'statement':
      return inDatabase(parsed.statement, options);
    case 'tree':
      return prepare(parsed.tree, {});
    case 'effects':
      return withoutRows(prepare({ SelectStmt: parsed.query }, {}));
    case 'into':
      return intoVariables(prepare({ SelectStmt: parsed.query }, {}), parsed.variables);
    case 'several':
      return inOrder(parsed, prepare, options);
  }
}

type Prepare = (tree: Node, more: Partial<PrepareOptions>) => Statement;

/**
 * A name that no CREATE DATABASE has made is the database that is there from the start, here as in `name.table`: clients connect to whatever
 * their configuration says.
 */
function inDatabase(statement: Statement, { catalog }: PrepareOptions): Statement {
  if (statement.kind !== 'setting' || statement.what !== 'set' || statement.command !== 'USE') return statement;
  const name = (statement.value ?? '').slice(1, -1).replaceAll('""', '"');
  return catalog.hasSchema(name) ? statement : { ...statement, value: null };
}

/** SET and DO: computed for what it does. */
function withoutRows(statement: Statement): Statement {
  if (statement.kind !== 'query') return statement;
  return {
    ...statement,
    command: 'SET',
    columns: null,
    *run(execution, view) {
      yield* statement.run(execution, view);
      return { rows: [], rowCount: 0, foundRows: 0, insertId: 0n };
    },
  };
}

/** SELECT ... INTO @a, @b: the client gets the number of rows. @throws SqlError 21000 (1222) */
function intoVariables(statement: Statement, names: readonly string[]): Statement {
  if (statement.kind !== 'query') return statement;
  const { columns } = statement;
  if (columns?.length !== names.length)
    throw new SqlError('21000', 'The used SELECT statements have a different number of columns', { mysqlNumber: 1222 });
  const setters = columns.map(({ type, modifier }, i) => userVariableSetter(names[i] ?? '', type, modifier));
  return {
    ...statement,
    columns: null,
    *run(execution, view) {
      const { rows, ...counts } = yield* statement.run(execution, view);
      const [first, another] = rows;
      if (first !== undefined) for (const [i, set] of setters.entries()) set(first[i] ?? null, execution);
      if (another !== undefined)
        throw new SqlError('42000', 'Result consisted of more than one row', { mysqlNumber: 1172 });
      return { ...counts, rows: [] };
    },
  };
}

/** Each is planned when those before it have run: an index needs its table. When one fails, what was done is undone. */
function inOrder(
  { command, isTemporary, parts }: Extract<Parsed, { kind: 'several' }>,
  prepare: Prepare,
  options: PrepareOptions,
): DdlStatement {
  function* run(execution: Execution, view: StatementView): Waiting<DdlOutcome> {
    // The session's own schema may be made by the first part.
    const own = isTemporary ? [temporarySchema(execution.surroundings.sessionId)] : [];
    const searchPath = [...own, ...options.searchPath.filter((schema) => !own.includes(schema))];
    const done: DdlOutcome[] = [];
    const undo = (): void => {
      for (const outcome of done.toReversed()) outcome.undo();
    };
    try {
      for (const part of parts) done.push(yield* runDdl(prepare(part, { searchPath }), execution, view));
    } catch (error) {
      undo();
      throw error;
    }
    return { undo, rowCount: 0, notices: done.flatMap(({ notices }) => notices) };
  }
  return {
    kind: 'ddl',
    command,
    isTemporary,
    outsideBlocks: null,
    locks: () => [],
    names: () => [],
    makesNamesFirst: false,
    run,
  };
}

function* runDdl(statement: Statement, execution: Execution, view: StatementView): Waiting<DdlOutcome> {
  if (statement.kind === 'ddl') return yield* statement.run(execution, view);
  return { undo: () => undefined, rowCount: 0, notices: [] };
}
