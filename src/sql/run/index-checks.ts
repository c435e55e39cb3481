/**
 * Foreign keys as InnoDB checks them: index by index while a row is written. The parent is looked up before the row enters the index of the child's
 * columns, children when the row has left the index of the columns that they refer to; both are the first index that begins with the columns.
 */
import type { ForeignKey, Index, Table } from '../catalog/relation.ts';
import type { IndexChecks, IndexId, Row, SqlValue } from '../model/index.ts';
import { afterDelete, afterUpdate, type Child, mustHaveParent } from './foreign-keys.ts';
import type { TableRules } from './table-rules.ts';
import type { Running } from '../execution.ts';

interface RowChange {
  /** `null`: the row is inserted. */
  readonly old: Row | null;
  /** `null`: it is deleted. */
  readonly values: readonly SqlValue[] | null;
  /** The cells that are assigned. */
  readonly columns: readonly number[];
  /** The foreign key whose action changes the row. */
  readonly cascading: ForeignKey | null;
}

/** `undefined`: no foreign key is on the table or refers to it. */
export function indexChecks(
  rules: TableRules,
  { old, values, columns, cascading }: RowChange,
  running: Running,
): IndexChecks | undefined {
  const { table } = rules;
  const children = old === null ? [] : rules.references.children;
  if (table.foreignKeys.length === 0 && children.length === 0) return undefined;
  const { surroundings } = running;
  const isUnchecked = surroundings.setting('foreign_key_checks') === '0';
  if (isUnchecked) return undefined;
  return {
    *entering(index) {
      if (values === null) return;
      for (const key of table.foreignKeys) {
        const isChecked = key !== cascading && indexOf(table, key.cells) === index;
        if (isChecked && !key.cells.some((at) => values[at] === null))
          yield* mustHaveParent(rules, values, key, running);
      }
    },
    *left(index) {
      const own = children.filter(({ key }: Child) => indexOf(table, key.parentCells) === index);
      if (old === null || own.length === 0) return;
      if (values === null) yield* afterDelete(rules, own, old, running);
      else yield* afterUpdate(rules, own, old, values, columns, running);
    },
  };
}

function indexOf(table: Table, cells: readonly number[]): IndexId | undefined {
  const startsWith = ({ parts }: Index): boolean => cells.every((cell, i) => parts[i]?.cell === cell);
  const primary = table.indexes.find(({ isPrimary }) => isPrimary);
  return (primary !== undefined && startsWith(primary) ? primary : table.indexes.find(startsWith))?.id;
}
