/** Which column each parameter of a statement is compared with, or written to, and which columns its result shows. */
import type { A_Expr, ColumnRef, FuncCall, Node, UpdateStmt } from '@pgsql/types';
import { columnNamed, type MysqlInsert, type Table } from '../sql/index.ts';
import type { Dialect } from './application.ts';
import { type Schema, tableNamed } from './schema.ts';
import { aliasOf, namesOf, partsOf } from './sql-tree.ts';

export interface ResultColumn {
  readonly table: Table;
  readonly column: string;
}

export interface ParameterColumn extends ResultColumn {
  /** Of an assignment or an inserted row; otherwise it is compared with the column. */
  readonly isWritten: boolean;
}

/** A column of a result or of a table, and what its value is computed from. */
export interface DerivedColumn {
  readonly column: string;
  readonly from: ReadonlySet<string>;
  /** By number. */
  readonly parameters: ReadonlySet<number>;
}

/** Of its parameters and its results. O(size of the tree) */
export class StatementColumns {
  /** By the number of the parameter. */
  readonly parameters = new Map<number, ParameterColumn>();
  readonly outputs = new Map<string, ResultColumn>();
  /** Columns of the tables and of the result that a clock, a sequence or chance fills: each run has others. */
  readonly computedAnew = new Set<string>();
  /** Of all its SELECTs, RETURNING, SET and VALUES. */
  readonly derived: DerivedColumn[] = [];
  /** Numbers of the tables into which it inserts. */
  readonly inserted = new Set<number>();
  readonly relation: string | null;
  readonly #aliases = new Map<string, Table>();
  readonly #dialect: Dialect;

  constructor(tree: Node, schema: Schema) {
    this.#dialect = schema.dialect;
    const { relations, selects } = partsOf(tree);
    for (const relation of relations) {
      const table = tableNamed(schema, relation.schemaname, relation.relname ?? '');
      if (table !== undefined) this.#aliases.set(aliasOf(relation), table);
    }
    this.relation = relations[0]?.relname ?? null;
    this.#visit(tree);
    const [statement] = Object.values(tree) as unknown[];
    const targets = 'SelectStmt' in tree ? (tree.SelectStmt.targetList ?? []) : returningOf(statement);
    for (const target of targets) this.#output(target);
    for (const target of [...selects.flatMap(({ targetList }) => targetList ?? []), ...targets]) this.#shown(target);
  }

  #output(target: Node): void {
    if (!('ResTarget' in target)) return;
    const { name, val } = target.ResTarget;
    if (val !== undefined && isComputedAnew(val)) this.computedAnew.add(name ?? functionName(val));
    if (val === undefined || !('ColumnRef' in val)) return;
    if (namesOf(val.ColumnRef).at(-1) === null) {
      for (const table of this.#aliases.values())
        for (const { name: column } of table.columns) this.outputs.set(column, { table, column });
      return;
    }
    const found = this.#column(val.ColumnRef);
    if (found !== undefined) this.outputs.set(name ?? found.column, found);
  }

  /** `created_at AS "createdAt"`, `max(at)`; `count(at)` says nothing of the times. */
  #shown(target: Node): void {
    const { name, val } = 'ResTarget' in target ? target.ResTarget : {};
    if (val === undefined || ('FuncCall' in val && nameOf(val.FuncCall) === 'count')) return;
    const own = 'ColumnRef' in val ? (namesOf(val.ColumnRef).at(-1) ?? '') : functionName(val);
    this.#derive(name ?? own, val);
  }

  #derive(column: string, value: Node): void {
    const { columns, parameters } = partsOf([value]);
    const from = new Set(columns.flatMap((reference) => namesOf(reference).at(-1) ?? []));
    this.derived.push({ column, from, parameters: new Set(parameters) });
  }

  #visit(node: unknown): void {
    if (Array.isArray(node)) for (const each of node) this.#visit(each);
    else if (typeof node === 'object' && node !== null) {
      for (const [name, value] of Object.entries(node)) {
        if (name === 'A_Expr') this.#compare(value as A_Expr);
        if (name === 'InsertStmt') this.#insert(value as MysqlInsert);
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

  #insert({ relation, cols, selectStmt, onConflictClause, onDuplicate }: MysqlInsert): void {
    const table = this.#aliases.get(aliasOf(relation ?? {}));
    if (table === undefined) return;
    this.inserted.add(table.id);
    const named = (cols ?? []).map((node) => ('ResTarget' in node ? (node.ResTarget.name ?? '') : ''));
    const names = named.length > 0 ? named : table.columns.map(({ name }) => name);
    const select = selectStmt !== undefined && 'SelectStmt' in selectStmt ? selectStmt.SelectStmt : undefined;
    const rows = (select?.valuesLists ?? []).map((row) => ('List' in row ? (row.List.items ?? []) : []));
    for (const row of rows) for (const [at, value] of row.entries()) this.#assign(table, names[at] ?? '', value);
    const shown = (select?.targetList ?? []).flatMap((target) => ('ResTarget' in target ? [target.ResTarget.val] : []));
    for (const [at, value] of shown.entries()) this.#assign(table, names[at] ?? '', value);
    const overwritten = onDuplicate?.kind === 'update' ? onDuplicate.targetList : onConflictClause?.targetList;
    for (const target of overwritten ?? []) this.#target(table, target);
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
    if (found === undefined) return;
    if (value !== undefined && isComputedAnew(value)) this.computedAnew.add(found.name);
    if (value !== undefined) this.#derive(found.name, value);
    this.#set(value, { table, column: found.name, isWritten: true });
  }

  /** The parameter itself, under a cast, or each of a list. The first that is said counts. */
  #set(node: Node | undefined, column: ParameterColumn): void {
    if (node === undefined) return;
    if ('TypeCast' in node) this.#set(node.TypeCast.arg, column);
    if ('List' in node) for (const item of node.List.items ?? []) this.#set(item, column);
    if (!('ParamRef' in node)) return;
    const number = node.ParamRef.number ?? 0;
    if (!this.parameters.has(number)) this.parameters.set(number, column);
  }

  #column(reference: ColumnRef): ResultColumn | undefined {
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

/** Does it call a clock, a sequence or chance? */
export function isComputedAnew(value: Node): boolean {
  const { functions, kinds } = partsOf([value]);
  return kinds.has('SQLValueFunction') || functions.some((call) => anew.test(nameOf(call)));
}

const anew = /^(?:now|\w+_timestamp|timeofday|cur(?:date|time)|utc_\w+|sysdate|rand|random|\w*uuid\w*|nextval)$/i;

function nameOf({ funcname = [] }: FuncCall): string {
  const last = funcname.at(-1);
  return last !== undefined && 'String' in last ? (last.String.sval ?? '') : '';
}

/** Of a result's column without a name of its own. */
function functionName(value: Node): string {
  if ('SQLValueFunction' in value) return (value.SQLValueFunction.op ?? '').replace('SVFOP_', '').toLowerCase();
  return 'FuncCall' in value ? nameOf(value.FuncCall) : '';
}

function returningOf(statement: unknown): readonly Node[] {
  const { returningClause } = (statement ?? {}) as { readonly returningClause?: unknown };
  const { exprs = returningClause } = (returningClause ?? {}) as { readonly exprs?: unknown };
  return Array.isArray(exprs) ? (exprs as readonly Node[]) : [];
}

const comparisons = new Set(['=', '<', '<=', '>', '>=', '<>']);
