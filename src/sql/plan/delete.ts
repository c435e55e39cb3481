/** DELETE. */
import { assert } from '../../base/index.ts';
import type { Row } from '../model/index.ts';
import type { MysqlDelete } from '../tree/mysql.ts';
import { planCommonTables } from './common-table.ts';
import type { DataModification } from './data-modification.ts';
import { newFrame, type Values, restore } from './query.ts';
import { planReturning, rulesFor, writableTable } from './returning.ts';
import type { QueryScope } from './scope.ts';
import { planWriteTarget } from './write-target.ts';

export function planDelete(statement: MysqlDelete, scope: QueryScope): DataModification {
  const { relation, usingClause, returningClause, withClause, visited } = statement;
  assert(relation !== undefined, 'DELETE names a table');
  const order = visited === undefined ? null : { ...visited, changes: [] };
  planCommonTables(withClause, scope);
  const table = writableTable(relation, ['onDelete'], scope);
  const target = planWriteTarget(table, statement, usingClause, order, scope);
  const rules = rulesFor(table, scope);
  const returning = planReturning(returningClause?.exprs, scope);
  return {
    command: 'DELETE',
    columns: returning?.columns ?? null,
    *run(outer, running) {
      const frame = newFrame(scope.rowCount, running, outer);
      const at = target.item.row;
      const rows: Values[] = [];
      let rowCount = 0;
      yield* target.visit(frame, running, {
        request: { strength: 'update', ifLocked: 'wait', reading: 'statement', purpose: 'delete' },
        collects: false,
        *write(combination) {
          restore(frame, combination, []);
          rowCount++;
          if (returning !== null) rows.push(...returning.values(frame));
          yield* rules.delete(combination[at] as Row, running);
        },
      });
      return { rows, rowCount, foundRows: rowCount, insertId: 0n };
    },
  };
}
