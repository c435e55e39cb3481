/** The columns of a statement's values, by their slots: two values of one column are of one kind, whatever they are. */
import type { Node } from '@pgsql/types';
import { columnAtCell, exactColumn, type Catalog, statementTree } from '../../sql/index.ts';
import type { Schema } from '../schema.ts';
import { type ParameterColumn, type ResultColumn, StatementColumns } from '../statement-columns.ts';
import { type Shape, type Slot, textOfShape } from './statement-shape.ts';

export interface ShapeColumns {
  readonly slots: ReadonlyMap<Slot, ParameterColumn>;
  /** By the name of a column of the result: the table's column that it is. */
  readonly outputs: ReadonlyMap<string, ResultColumn>;
  /** `SELECT accounts`, `UPDATE accounts`; the first word alone where there is no table. */
  readonly title: string;
  /** Of the first table. */
  readonly relation: string | null;
}

/** Without columns where the text does not parse. */
export function columnsOfShape(shape: Shape, schema: Schema): ShapeColumns {
  const { sql, slots } = textOfShape(shape, () => true);
  const word = (/^\W*(\w+)/.exec(sql)?.[1] ?? 'statement').toUpperCase();
  let tree: Node | null = null;
  try {
    tree = statementTree(sql, schema.dialect);
  } catch {
    // The analysis says why it is not understood.
  }
  if (tree === null) return { slots: new Map(), outputs: new Map(), title: word, relation: null };
  const { parameters, outputs, relation } = new StatementColumns(tree, schema);
  return {
    slots: new Map([...parameters].map(([parameter, column]) => [slots[parameter - 1] ?? parameter - 1, column])),
    outputs,
    title: relation === null ? word : `${word} ${relation}`,
    relation,
  };
}

/** The column that a foreign key says it is, at the end of all of them: `accounts.id` for `transfers.account`. */
export function domainOf({ table, column }: ResultColumn, catalog: Catalog): string {
  let [owner, name] = [table, column];
  for (let steps = 0; steps < foreignKeysMax; steps += 1) {
    const cell = exactColumn(owner, name)?.cell;
    const key = owner.foreignKeys.find(({ cells }) => cell !== undefined && cells.includes(cell));
    const parent = key === undefined ? undefined : catalog.tableById(key.parent);
    const parentCell = key?.parentCells[key.cells.indexOf(cell ?? -1)];
    const parentColumn = parent === undefined ? undefined : columnAtCell(parent, parentCell ?? -1);
    if (parent === undefined || parentColumn === undefined || parent.id === owner.id) break;
    [owner, name] = [parent, parentColumn.name];
  }
  return `${owner.schema}.${owner.name}.${name}`;
}

const foreignKeysMax = 8;
