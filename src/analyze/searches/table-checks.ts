/** What CHECK constraints ask of the columns of their tables. */
import { exactColumn, type Table } from '../../sql/index.ts';
import { namesOf } from '../sql-tree.ts';
import { type Asked, askedBy } from './asked.ts';

export class TableChecks {
  readonly #known = new Map<number, readonly Asked[]>();

  of(table: Table): readonly Asked[] {
    const known = this.#known.get(table.id);
    if (known !== undefined) return known;
    const found = table.checks.flatMap(({ expression }) =>
      askedBy(expression, (node) => {
        const name = 'ColumnRef' in node ? (namesOf(node.ColumnRef).at(-1) ?? '') : '';
        return exactColumn(table, name) === undefined ? undefined : { alias: table.name, name };
      }),
    );
    this.#known.set(table.id, found);
    return found;
  }
}
