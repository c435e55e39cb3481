/** From a witness of the robustness algorithm to transactions that can run: arguments and rows that make its rows the same or different. */
import { exactColumn, type IsolationName, type Table } from '../sql/index.ts';
import type { Access, AccessedRow } from './access.ts';
import type { AnyStep, Value } from './application.ts';
import { argumentFor, type RowValue, valueFor } from './column-values.ts';
import { formatValue } from './format-application.ts';
import type { Witness } from './robust-set.ts';
import { isDelete } from './replaced-rows.ts';
import { indexColumns, rowText, uniqueIndexes } from './row-keys.ts';
import { statementsIn } from './paths.ts';
import type { Schema } from './schema.ts';
import type { Arguments } from './run-steps.ts';
import { DecidedSteps, ParameterColumns } from './parameter-columns.ts';
import type { PathTemplate } from './templates.ts';
import type { AnalyzedTransaction } from './transactions.ts';
import { isAbsent } from './variants.ts';
import type { WitnessDefinition, WitnessSession } from './witness-program.ts';
import { stateOf, WitnessRows } from './witness-rows.ts';

/** What nothing decides: the numbers in rows, and those that transactions are called with. */
export interface Amounts {
  readonly inRows: number;
  readonly inArguments: number;
  /** Are the arguments of all instances the same, or does each have a multiple of its own? */
  readonly areArgumentsEqual: boolean;
  /** Of results, by `chosenColumn`: instead of the number in rows. */
  readonly inColumns: ReadonlyMap<string, RowValue>;
}

/** The transactions that a witness numbers. */
export interface WitnessedSet {
  readonly transactions: readonly AnalyzedTransaction[];
  readonly levels: ReadonlyMap<AnalyzedTransaction, IsolationName>;
  readonly schema: Schema;
  /** Of each session. */
  readonly scope: WitnessSession['scope'];
}

export function concreteWitness(
  { split, templates }: Witness,
  { transactions, levels, schema, scope }: WitnessedSet,
  amounts: Amounts,
): WitnessDefinition {
  const paths = [split.first, ...split.between].map(({ template, variables }) => ({
    path: templates[template] as PathTemplate,
    variables,
  }));
  const classes = new ValueClasses();
  unify(paths, classes);
  const instances = paths.map(({ path }, instance) => new Instance(path, instance, classes));
  unifyRows(
    instances.flatMap((instance) => instance.namedColumns()),
    classes,
  );
  for (const instance of instances) instance.computeValues();
  const rows = new WitnessRows(schema);
  for (const instance of instances) instance.addRows(rows);
  for (const instance of instances) instance.chooseColumns(rows, amounts.inColumns);
  const inserted = instances.flatMap((instance) => instance.insertedKeys());
  const isInserted = (table: Table, values: ReadonlyMap<string, RowValue>): boolean =>
    inserted.some(
      (key) => key.table.id === table.id && [...key.values].every(([name, value]) => values.get(name) === value),
    );
  const columns = new ParameterColumns(schema);
  const decided = new DecidedSteps(columns, amounts.inArguments);
  const counts = new Map<string, number>();
  const sessions = instances.map(({ path }, instance) => {
    const transaction = transactions[path.transaction] as AnalyzedTransaction;
    const count = (counts.get(transaction.name) ?? 0) + 1;
    counts.set(transaction.name, count);
    return {
      name: `${transaction.name} ${count}`,
      scope,
      level: levels.get(transaction) as IsolationName,
      arguments: (instances[instance] as Instance).arguments(
        amounts.inArguments * (amounts.areArgumentsEqual ? 1 : instance + 1),
        loopsIn(transaction.steps),
        columns,
      ),
      steps: decided.of(transaction.steps),
    };
  });
  const computedAnew = sessions.flatMap(({ steps }) => columns.computedAnew(steps));
  const part = schema.parts.for(sessions.flatMap(({ steps }) => statementsIn(steps).map(({ sql }) => sql)));
  return {
    schema: [part.ddl, ...rows.statements(isInserted, amounts.inRows)],
    sessions,
    dialect: schema.dialect,
    ...stateOf(schema, part, computedAnew),
    compared: scope === 'one transaction' ? 'state and reads' : 'state',
  };
}

/** @param transaction by number */
export function chosenColumn(transaction: number, result: string, column: string): string {
  return JSON.stringify([transaction, result, column]);
}

type NumberedPath = { readonly path: PathTemplate; readonly variables: ReadonlyMap<number, number> };

/** Variables of one row, by one key, have equal values. */
function unify(paths: readonly NumberedPath[], classes: ValueClasses): void {
  const seen = new Map<string, { readonly instance: number; readonly values: readonly Value[] }>();
  for (const [instance, { path, variables }] of paths.entries()) {
    for (const [variable, number] of variables) {
      const named = path.rows[variable];
      if (named === undefined || named.row.kind !== 'key') continue;
      const { values, index } = named.row;
      const key = `${named.table.id} ${index} ${number}`;
      const other = seen.get(key);
      if (other === undefined) seen.set(key, { instance, values });
      else
        for (const [at, value] of values.entries())
          classes.unite(nodeOf(instance, value), nodeOf(other.instance, other.values[at] as Value));
    }
  }
}

/** A row with the columns that are known: each a node of the classes. */
interface NamedColumns {
  readonly table: Table;
  readonly columns: ReadonlyMap<string, string>;
}

/** Two rows with the same values in the columns of a unique key are one row: what else is known of them is equal, too. */
function unifyRows(rows: readonly NamedColumns[], classes: ValueClasses): void {
  for (let changed = true; changed; ) {
    changed = false;
    for (const [at, a] of rows.entries())
      for (const b of rows.slice(at + 1)) {
        if (a.table.id !== b.table.id || !isOneRow(a, b, classes)) continue;
        for (const [name, node] of a.columns) {
          const other = b.columns.get(name);
          if (other === undefined || classes.areEqual(node, other)) continue;
          changed = classes.unite(node, other) || changed;
        }
      }
  }
}

function isOneRow(a: NamedColumns, b: NamedColumns, classes: ValueClasses): boolean {
  return uniqueIndexes(a.table).some((index) =>
    indexColumns(a.table, index).every((name) => {
      const [one, other] = [a.columns.get(name), b.columns.get(name)];
      return one !== undefined && other !== undefined && classes.areEqual(one, other);
    }),
  );
}

function nodeOf(instance: number, value: Value): string {
  return value.kind === 'constant' ? `constant ${String(value.value)}` : `${instance} ${formatValue(value)}`;
}

/** Which values are equal; each class has a number, and a constant where it has one. */
class ValueClasses {
  readonly #parents = new Map<string, string>();
  readonly #numbers = new Map<string, number>();

  areEqual(a: string, b: string): boolean {
    return this.#root(a) === this.#root(b);
  }

  /** @returns were they different, and can be equal? */
  unite(a: string, b: string): boolean {
    const [one, other] = [this.#root(a), this.#root(b)];
    if (one === other || (one.startsWith('constant ') && other.startsWith('constant '))) return false;
    // A constant stays the root: it is the value.
    if (one.startsWith('constant ')) this.#parents.set(other, one);
    else this.#parents.set(one, other);
    return true;
  }

  valueOf(node: string): { readonly constant: string } | { readonly number: number } {
    const root = this.#root(node);
    if (root.startsWith('constant ')) return { constant: root.slice('constant '.length) };
    const number = this.#numbers.get(root) ?? this.#numbers.size + 1;
    this.#numbers.set(root, number);
    return { number };
  }

  #root(node: string): string {
    const parent = this.#parents.get(node);
    return parent === undefined ? node : this.#root(parent);
  }
}

interface KeyedRow {
  readonly table: Table;
  readonly row: Extract<AccessedRow, { kind: 'key' }>;
}

interface TakenColumn {
  readonly column: string;
  readonly value: Value;
  /** The table and column of the other key. */
  readonly comparedWith: readonly [table: Table, column: string];
}

class Instance {
  readonly path: PathTemplate;
  readonly #number: number;
  readonly #classes: ValueClasses;
  /** Values that name rows, with the column that they are compared with. */
  readonly #typed = new Map<string, RowValue>();

  constructor(path: PathTemplate, number: number, classes: ValueClasses) {
    this.path = path;
    this.#number = number;
    this.#classes = classes;
  }

  computeValues(): void {
    for (const row of this.#keyed(() => true)) this.#valuesOf(row);
  }

  namedColumns(): readonly NamedColumns[] {
    return this.#keyed(() => true).map((keyed) => {
      const named = [...this.#pairs(keyed), ...this.#taken(keyed).map(({ column, value }) => [column, value] as const)];
      return {
        table: keyed.table,
        columns: new Map(named.map(([name, value]) => [name, nodeOf(this.#number, value)])),
      };
    });
  }

  /** Every row that is named and there, with what later statements take from it. */
  addRows(rows: WitnessRows): void {
    for (const keyed of this.#keyed((access) => !access.inserts)) {
      if (this.path.variant.absent.has(rowText(keyed.table, keyed.row) ?? '')) continue;
      rows.add(keyed.table, new Map([...this.#valuesOf(keyed), ...this.#takenFrom(keyed)]));
    }
  }

  /** For rows that a result shows. */
  chooseColumns(rows: WitnessRows, chosen: Amounts['inColumns']): void {
    for (const { statement, moments } of this.path.path)
      for (const { table, row, inserts } of moments.flat()) {
        if (row.kind !== 'key' || inserts || statement.result === null) continue;
        const { result } = statement;
        const values = table.columns.flatMap(({ name }) => {
          const value = chosen.get(chosenColumn(this.path.transaction, result, name));
          return value === undefined ? [] : [[name, value] as const];
        });
        rows.choose(table, this.#valuesOf({ table, row }), new Map(values));
      }
  }

  insertedKeys(): readonly { readonly table: Table; readonly values: ReadonlyMap<string, RowValue> }[] {
    const { missed, absent } = this.path.variant;
    const deleted = new Set<string | undefined>();
    const inserted = this.#keyed((access, at) => {
      const text = rowText(access.table, access.row);
      // What the path deletes first is there at the start.
      if (isDelete(access) && !isAbsent(access, absent)) deleted.add(text);
      return access.inserts && access.overwrites !== true && !missed.has(at) && !deleted.has(text);
    });
    return inserted.map((keyed) => ({
      table: keyed.table,
      values: this.#valuesOf(keyed),
    }));
  }

  /**
   * @param amount of arguments that name no row, as their columns take it
   * @param loops by their names: the argument that each is over
   */
  arguments(amount: number, loops: ReadonlyMap<string, string>, columns: ParameterColumns): Arguments {
    const result: Record<string, unknown> = {};
    const undecided = this.#undecided(amount, columns);
    visitValues(this.path, (value) => {
      if (value.kind === 'argument')
        result[value.name] = this.#chosen(value) ?? undecided.get(nodeOf(this.#number, value)) ?? amount;
    });
    for (const [loop, list] of this.#lists(amount, undecided)) {
      const name = loops.get(loop);
      if (name !== undefined) result[name] = list;
    }
    return result;
  }

  #chosen(value: Value): RowValue | undefined {
    return this.#typed.get(nodeOf(this.#number, value));
  }

  /** What the columns take that parameters are written to, or compared with. */
  #undecided(amount: number, columns: ParameterColumns): ReadonlyMap<string, RowValue> {
    const all = new Map<string, RowValue>();
    for (const { statement } of this.path.path)
      for (const [at, value] of statement.parameters.flatMap((given, place) =>
        partsOf(given).map((one) => [place, one] as const),
      )) {
        if (value.kind !== 'argument' && value.kind !== 'element') continue;
        const found = columns.of(statement, at);
        const n = value.kind === 'argument' ? amount : amount + timeOf(value.loop);
        const taken = found === undefined ? undefined : argumentFor(found.column, n);
        const node = nodeOf(this.#number, value);
        if (taken !== undefined && !all.has(node)) all.set(node, taken);
      }
    return all;
  }

  /** Lists of arguments that loops are over: `item#1.id` and `item#2.id` make `[{ id }, { id }]`. */
  #lists(amount: number, undecided: ReadonlyMap<string, RowValue>): ReadonlyMap<string, readonly unknown[]> {
    const lists = new Map<string, unknown[]>();
    visitValues(this.path, (value) => {
      if (value.kind !== 'element') return;
      const [loop = ''] = value.loop.split('#');
      const list = lists.get(loop) ?? [];
      lists.set(loop, list);
      const at = timeOf(value.loop);
      const found = this.#chosen(value) ?? undecided.get(nodeOf(this.#number, value)) ?? amount + at;
      list[at] = value.field === null ? found : { ...(list[at] as object | undefined), [value.field]: found };
    });
    return lists;
  }

  #keyed(isWanted: (access: Access, at: number) => boolean): readonly KeyedRow[] {
    return this.path.path.flatMap(({ moments }, at) =>
      moments
        .flat()
        .flatMap((access) =>
          access.row.kind === 'key' && isWanted(access, at) ? [{ table: access.table, row: access.row }] : [],
        ),
    );
  }

  #valuesOf({ table, row }: KeyedRow): ReadonlyMap<string, RowValue> {
    const index = uniqueIndexes(table).find(({ name }) => name === row.index);
    const columns = index === undefined ? [] : indexColumns(table, index);
    return new Map(columns.map((name, at) => [name, this.#valueIn(table, name, row.values[at] as Value)] as const));
  }

  #valueIn(table: Table, name: string, value: Value): RowValue {
    const node = nodeOf(this.#number, value);
    const found = this.#classes.valueOf(node);
    const column = exactColumn(table, name);
    const result =
      'constant' in found
        ? found.constant
        : column === undefined
          ? found.number
          : (valueFor(column, found.number) ?? found.number);
    const typed =
      'constant' in found && column !== undefined && typeof valueFor(column, 1) === 'number' ? Number(result) : result;
    this.#typed.set(node, typed);
    return typed;
  }

  #takenFrom(keyed: KeyedRow): ReadonlyMap<string, RowValue> {
    return new Map(
      this.#taken(keyed).map(({ column, value, comparedWith: [table, name] }) => [
        column,
        this.#valueIn(table, name, value),
      ]),
    );
  }

  /** Values of other keys that are columns of this row: `account.custid` where the row is that of `account`. */
  #taken({ table, row }: KeyedRow): readonly TakenColumn[] {
    const results = new Set(
      this.path.path.flatMap(({ statement, moments }) =>
        statement.result !== null &&
        moments.flat().some((access) => access.table.id === table.id && sameKey(access.row, row))
          ? [statement.result]
          : [],
      ),
    );
    const taken: TakenColumn[] = [];
    for (const other of this.#keyed(() => true))
      for (const [name, value] of this.#pairs(other)) {
        const comparedWith = [other.table, name] as const;
        if (value.kind === 'column' && results.has(value.statement))
          taken.push({ column: value.column, value, comparedWith });
        if (value.kind !== 'expression' || JSON.stringify(value.operands) !== JSON.stringify(row.values)) continue;
        const [owner, joined] = value.operator.split('.');
        if (owner === table.name && joined !== undefined) taken.push({ column: joined, value, comparedWith });
      }
    return taken.filter(({ column }) => exactColumn(table, column) !== undefined);
  }

  #pairs({ table, row }: KeyedRow): readonly (readonly [string, Value])[] {
    const index = uniqueIndexes(table).find(({ name }) => name === row.index);
    return index === undefined
      ? []
      : indexColumns(table, index).map((name, at) => [name, row.values[at] as Value] as const);
  }
}

function sameKey(a: AccessedRow, b: AccessedRow): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The values of which a parameter is made, the one itself first. A condition says nothing of the column. */
function partsOf(value: Value): readonly Value[] {
  if (value.kind !== 'expression') return [value];
  return value.operands.slice(value.operator === 'if' ? 1 : 0).flatMap(partsOf);
}

/** Of an element's loop, `item#2`: from 0. */
function timeOf(loop: string): number {
  return Number(loop.split('#')[1] ?? '1') - 1;
}

function visitValues({ path }: PathTemplate, visit: (value: Value) => void): void {
  const deep = (value: Value): void => {
    visit(value);
    if (value.kind === 'expression') for (const operand of value.operands) deep(operand);
  };
  for (const { statement } of path) for (const value of statement.parameters) deep(value);
}

function loopsIn(steps: readonly AnyStep[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const step of steps) {
    const inner =
      step.kind === 'loop' || step.kind === 'transaction'
        ? step.steps
        : step.kind === 'branch'
          ? [...step.ifTrue, ...step.ifFalse]
          : [];
    for (const [loop, name] of loopsIn(inner)) found.set(loop, name);
    if (step.kind === 'loop' && step.over.kind === 'argument') found.set(step.name, step.over.name);
  }
  return found;
}
