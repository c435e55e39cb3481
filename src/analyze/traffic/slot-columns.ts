/** Which column each value of a statement is compared with, or written to: two values of one column are of one kind, whatever they are. */
import type { A_Expr, ColumnRef, InsertStmt, Node, UpdateStmt } from '@pgsql/types';
import type { Catalog, Table } from '../../sql/index.ts';
import { columnAtCell, columnNamed } from '../../sql/catalog/relation.ts';
import type { Dialect } from '../application.ts';
import { type Schema, tableNamed } from '../schema.ts';
import { aliasOf, namesOf, partsOf } from '../sql-tree.ts';
import { statementTree } from '../statement-tree.ts';
import { type Shape, type Slot, textOfShape } from './statement-shape.ts';

export interface SlotColumn {
  readonly table: Table;
  readonly column: string;
  /** Of an assignment or an inserted row; otherwise it is compared with the column. */
  readonly isWritten: boolean;
}

export interface StatementColumns {
  readonly slots: ReadonlyMap<Slot, SlotColumn>;
  /** By the name of a column of the result: the table's column that it is. */
  readonly outputs: ReadonlyMap<string, Pick<SlotColumn, 'table' | 'column'>>;
  /** `SELECT accounts`, `UPDATE accounts`; the first word alone where there is no table. */
  readonly title: string;
  /** Of the first table. */
  readonly relation: string | null;
}

/** Without columns where the text does not parse. */
export function columnsOfShape(shape: Shape, schema: Schema): StatementColumns {
  const { sql, slots } = textOfShape(shape, () => true);
  const word = (/^\W*(\w+)/.exec(sql)?.[1] ?? 'statement').toUpperCase();
  let tree: Node | null = null;
  try {
    tree = statementTree(sql, schema.dialect);
  } catch {
    // The analysis says why it is not understood.
  }
  if (tree === null) return { slots: new Map(), outputs: new Map(), title: word, relation: null };
  const { columns, outputs, relation } = new ColumnFinder(tree, schema);
  return {
    slots: new Map([...columns].map(([parameter, column]) => [slots[parameter - 1] ?? parameter - 1, column])),
    outputs,
    title: relation === null ? word : `${word} ${relation}`,
    relation,
  };
}

/** The column that a foreign key says it is, at the end of all of them: `accounts.id` for `transfers.account`. */
export function domainOf({ table, column }: Pick<SlotColumn, 'table' | 'column'>, catalog: Catalog): string {
  let [owner, name] = [table, column];
  for (let steps = 0; steps < foreignKeysMax; steps += 1) {
    const cell = columnNamed(owner, name)?.cell;
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

class ColumnFinder {
  /** By the number of the parameter. */
  readonly columns = new Map<number, SlotColumn>();
  readonly outputs = new Map<string, Pick<SlotColumn, 'table' | 'column'>>();
  readonly relation: string | null;
  readonly #aliases = new Map<string, Table>();
  readonly #dialect: Dialect;

  constructor(tree: Node, schema: Schema) {
    this.#dialect = schema.dialect;
    const { relations } = partsOf(tree);
    for (const relation of relations) {
      const table = tableNamed(schema, relation.schemaname, relation.relname ?? '');
      if (table !== undefined) this.#aliases.set(aliasOf(relation), table);
    }
    this.relation = relations[0]?.relname ?? null;
    this.#visit(tree);
    const [statement] = Object.values(tree) as unknown[];
    const targets = 'SelectStmt' in tree ? (tree.SelectStmt.targetList ?? []) : returningOf(statement);
    for (const target of targets) this.#output(target);
  }

  #output(target: Node): void {
    if (!('ResTarget' in target)) return;
    const { name, val } = target.ResTarget;
    if (val === undefined || !('ColumnRef' in val)) return;
    if (namesOf(val.ColumnRef).at(-1) === null) {
      for (const table of this.#aliases.values())
        for (const { name: column } of table.columns) this.outputs.set(column, { table, column });
      return;
    }
    const found = this.#column(val.ColumnRef);
    if (found !== undefined) this.outputs.set(name ?? found.column, found);
  }

  #visit(node: unknown): void {
    if (Array.isArray(node)) for (const each of node) this.#visit(each);
    else if (typeof node === 'object' && node !== null) {
      for (const [name, value] of Object.entries(node)) {
        if (name === 'A_Expr') this.#compare(value as A_Expr);
        if (name === 'InsertStmt') this.#insert(value as InsertStmt);
        if (name === 'UpdateStmt') this.#update(value as UpdateStmt);
        this.#visit(value);
      }
    }
  }

  #compare({ name = [], lexpr, rexpr }: A_Expr): void {
    const [sign] = name;
    const text = sign !== undefined && 'String' in sign ? (sign.String.sval ?? '') : '';
    if (!comparisons.has(text)) return;
    for (const [column, values] of [
      [lexpr, rexpr],
      [rexpr, lexpr],
    ] as const) {
      const found = column !== undefined && 'ColumnRef' in column ? this.#column(column.ColumnRef) : undefined;
      if (found !== undefined) this.#set(values, { ...found, isWritten: false });
    }
  }

  #insert({ relation, cols, selectStmt, onConflictClause }: InsertStmt): void {
    const table = this.#aliases.get(aliasOf(relation ?? {}));
    if (table === undefined) return;
    const named = (cols ?? []).map((node) => ('ResTarget' in node ? (node.ResTarget.name ?? '') : ''));
    const names = named.length > 0 ? named : table.columns.map(({ name }) => name);
    const select = selectStmt !== undefined && 'SelectStmt' in selectStmt ? selectStmt.SelectStmt : undefined;
    const rows = (select?.valuesLists ?? []).map((row) => ('List' in row ? (row.List.items ?? []) : []));
    for (const row of rows) for (const [at, value] of row.entries()) this.#assign(table, names[at] ?? '', value);
    for (const target of onConflictClause?.targetList ?? []) this.#target(table, target);
  }

  #update({ relation, targetList = [] }: UpdateStmt): void {
    const table = this.#aliases.get(aliasOf(relation ?? {}));
    if (table !== undefined) for (const target of targetList) this.#target(table, target);
  }

  #target(table: Table, target: Node): void {
    if ('ResTarget' in target) this.#assign(table, target.ResTarget.name ?? '', target.ResTarget.val);
  }

  #assign(table: Table, column: string, value: Node | undefined): void {
    const found = columnNamed(table, column, this.#dialect);
    if (found !== undefined) this.#set(value, { table, column: found.name, isWritten: true });
  }

  /** The parameter itself, under a cast, or each of a list. The first that is said counts. */
  #set(node: Node | undefined, column: SlotColumn): void {
    if (node === undefined) return;
    if ('TypeCast' in node) this.#set(node.TypeCast.arg, column);
    if ('List' in node) for (const item of node.List.items ?? []) this.#set(item, column);
    if (!('ParamRef' in node)) return;
    const number = node.ParamRef.number ?? 0;
    if (!this.columns.has(number)) this.columns.set(number, column);
  }

  #column(reference: ColumnRef): Pick<SlotColumn, 'table' | 'column'> | undefined {
    const names = namesOf(reference);
    const name = names.at(-1) ?? '';
    const qualifier = names.at(-2);
    const owners = [...this.#aliases].filter(
      ([alias, table]) =>
        (names.length === 1 || alias === qualifier) && columnNamed(table, name, this.#dialect) !== undefined,
    );
    const [owner] = owners;
    return owner === undefined || new Set(owners.map(([, { id }]) => id)).size > 1
      ? undefined
      : { table: owner[1], column: columnNamed(owner[1], name, this.#dialect)?.name ?? name };
  }
}

function returningOf(statement: unknown): readonly Node[] {
  const { returningClause } = (statement ?? {}) as { readonly returningClause?: unknown };
  const { exprs = returningClause } = (returningClause ?? {}) as { readonly exprs?: unknown };
  return Array.isArray(exprs) ? (exprs as readonly Node[]) : [];
}

const comparisons = new Set(['=', '<', '<=', '>', '>=', '<>']);
