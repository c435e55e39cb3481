/**
 * Columns that have other values in each run: what clocks, sequences and chance give, and what is computed, shown or written from it. Runs are compared without them.
 * By name, of tables and of results alike: one that is left out too much hides a difference, and never makes one.
 */
import type { Node } from '@pgsql/types';
import { columnAtCell, type Table } from '../sql/index.ts';
import type { AnyStep, Value } from './application.ts';
import type { ParameterColumns } from './parameter-columns.ts';
import { statementsIn } from './paths.ts';
import type { SchemaPart } from './schema-part.ts';
import type { Schema } from './schema.ts';
import { isComputedAnew } from './statement-columns.ts';

/** Until nothing is added: O(columns * size of the statements). */
export function runDependentColumns(
  { catalog }: Schema,
  part: Pick<SchemaPart, 'has'>,
  steps: readonly AnyStep[],
  columns: ParameterColumns,
): ReadonlySet<string> {
  const statements = statementsIn(steps).map((statement) => ({ statement, ...columns.assigned(statement) }));
  const tables = catalog.tables().filter(({ schema, name }) => schema === 'public' && part.has(name));
  const inserted = new Set(statements.flatMap((one) => [...one.inserted]));
  const found = new Set(columns.computedAnew(steps));
  for (const table of tables) for (const name of filledByServer(table, inserted.has(table.id))) found.add(name);
  for (let known = -1; known < found.size; ) {
    known = found.size;
    for (const { statement, derived } of statements)
      for (const { column, from, parameters } of derived) {
        const isGiven = [...parameters].some((number) => isOf(statement.parameters[number - 1], found));
        if (isGiven || [...from].some((name) => found.has(name))) found.add(column);
      }
    for (const table of tables)
      for (const { cells, parent: parentId, parentCells } of table.foreignKeys) {
        const parent = catalog.tableById(parentId);
        for (const [at, cell] of cells.entries()) {
          const name = parent === undefined ? undefined : columnAtCell(parent, parentCells[at] ?? -1)?.name;
          if (name !== undefined && found.has(name)) found.add(columnAtCell(table, cell)?.name ?? '');
        }
      }
  }
  return found;
}

/** @param hasNewRows do the statements insert into it? The keys of rows that are there at first are always the same */
function filledByServer({ columns }: Table, hasNewRows: boolean): readonly string[] {
  return columns.flatMap(({ name, sequence, identity, default: given, onUpdate }) => {
    const isNumbered = hasNewRows && (sequence !== null || identity !== null);
    return isNumbered || hasFunction(given) || onUpdate !== null ? [name] : [];
  });
}

function hasFunction(given: Node | null): boolean {
  return given !== null && isComputedAnew(given);
}

/** Does the value come from one of these columns of an earlier result? */
export function isOf(value: Value | undefined, columns: ReadonlySet<string>): boolean {
  switch (value?.kind) {
    case 'expression':
      return value.operands.some((operand) => isOf(operand, columns));
    case 'column':
      return columns.has(value.column);
    case 'element':
      return value.field !== null && columns.has(value.field);
    default:
      return false;
  }
}
