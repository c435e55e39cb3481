/** One instance of a witness: the values of its arguments and of the rows that it names. */
import { type Column, exactColumn, type Table } from '../sql/index.ts';
import type { Access, AccessedRow } from './access.ts';
import { type Amounts, chosenColumn } from './amounts.ts';
import type { AnyStep, Statement, Value } from './application.ts';
import { asColumn, type RowValue, valueFor } from './column-values.ts';
import type { ParameterColumns } from './parameter-columns.ts';
import { endsOfRanges } from './range-arguments.ts';
import { isDelete } from './replaced-rows.ts';
import { indexColumns, rowText, uniqueIndexes } from './row-keys.ts';
import type { Arguments } from './run-steps.ts';
import type { PathTemplate } from './templates.ts';
import { type NamedColumns, nodeOf, type ValueClasses } from './value-classes.ts';
import { isAbsent } from './variants.ts';
import type { WitnessRow, WitnessRows } from './witness-rows.ts';

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

export class Instance {
  readonly path: PathTemplate;
  readonly #number: number;
  readonly #classes: ValueClasses;
  readonly #columns: ParameterColumns;
  readonly #amounts: Amounts;
  readonly #endsRange: (value: Value) => boolean;
  #undecided: ReadonlyMap<string, RowValue> = new Map();

  /** @param number from 0 */
  constructor(path: PathTemplate, number: number, classes: ValueClasses, columns: ParameterColumns, amounts: Amounts) {
    this.path = path;
    this.#number = number;
    this.#classes = classes;
    this.#columns = columns;
    this.#amounts = amounts;
    this.#endsRange = endsOfRanges(path, columns);
  }

  nodeOf(value: Value): string {
    return nodeOf(this.#number, value);
  }

  computeValues(): void {
    for (const row of this.#keyed(() => true)) this.#valuesOf(row);
  }

  /** When the values that name rows are known. */
  computeArguments(): void {
    const decided = new Map<string, RowValue>();
    // What is written has to keep the constraints; what is only compared takes the same value.
    for (const isWritten of [true, false])
      for (const { statement } of this.path.path) this.#computeParameters(statement, isWritten, decided);
    this.#undecided = decided;
  }

  #computeParameters(statement: Statement, isWritten: boolean, decided: Map<string, RowValue>): void {
    const others = new Map<string, RowValue>();
    for (const [at, given] of statement.parameters.entries()) {
      const found = this.#columns.of(statement, at);
      if (found === undefined || found.isWritten !== isWritten) continue;
      for (const value of partsOf(given)) {
        if (value.kind === 'constant' && value === given && value.value !== null)
          others.set(found.column.name, String(value.value));
        if (value.kind !== 'argument' && value.kind !== 'element') continue;
        const node = this.nodeOf(value);
        const n = this.#amountOf(value);
        const taken = this.#chosen(value) ?? decided.get(node) ?? this.#columns.valueOf(found, n, others);
        if (taken === undefined) continue;
        decided.set(node, taken);
        others.set(found.column.name, taken);
      }
    }
  }

  /** The same for instances that compare one column with it. */
  #amountOf(value: Value): number {
    const { inArguments, areArgumentsEqual } = this.#amounts;
    const isShared = areArgumentsEqual || this.#classes.isShared(this.nodeOf(value));
    const amount = inArguments * (isShared ? 1 : this.#number + 1) + (this.#endsRange(value) ? 1 : 0);
    return value.kind === 'element' ? amount + timeOf(value.loop) : amount;
  }

  #argument(value: Value): RowValue {
    return this.#chosen(value) ?? this.#undecided.get(this.nodeOf(value)) ?? this.#amountOf(value);
  }

  /** What the statement is given for a parameter, as far as it is known before it runs. @param number from 1 */
  parameter({ parameters }: Statement, number: number): RowValue | undefined {
    const value = parameters[number - 1];
    if (value === undefined) return undefined;
    if (value.kind === 'constant') return value.value === null ? undefined : typed(value.value);
    return value.kind === 'argument' || value.kind === 'element' ? this.#argument(value) : this.#chosen(value);
  }

  /** Rows of the table that the statement names by key; `null`: one that is not there. */
  rowsNamedBy(at: number, table: Table, rows: WitnessRows): readonly WitnessRow[] | null {
    const named = (this.path.path[at]?.moments ?? [])
      .flat()
      .filter(({ row, inserts, table: own }) => row.kind === 'key' && !inserts && own.id === table.id);
    if (named.some((access) => isAbsent(access, this.path.variant.absent))) return null;
    return named.flatMap(({ row }) => (row.kind === 'key' ? (this.#rowIn(rows, { table, row }) ?? []) : []));
  }

  /** Rows of the table that a statement names by what this result shows. */
  rowsNamedIn(result: string | null, table: Table, rows: WitnessRows): readonly WitnessRow[] {
    const shows = (value: Value): boolean => value.kind === 'column' && value.statement === result;
    const named = this.#keyed((access) => !access.inserts && access.table.id === table.id);
    return named.filter(({ row }) => row.values.some(shows)).flatMap((keyed) => this.#rowIn(rows, keyed) ?? []);
  }

  /** Does it name a row of the table by key that is there at first? */
  namesRowOf(table: Table): boolean {
    return this.#keyed((access) => !access.inserts && access.table.id === table.id).length > 0;
  }

  #rowIn(rows: WitnessRows, keyed: KeyedRow): WitnessRow | undefined {
    return rows.find(keyed.table, this.#valuesOf(keyed));
  }

  /** A later statement that names a row by a key column which was read from it names that row again. */
  uniteColumnsOfKeys(): void {
    for (const keyed of this.#keyed(() => true)) {
      const named = new Map(this.#pairs(keyed));
      for (const { column, value } of this.#taken(keyed)) {
        const known = named.get(column);
        if (known !== undefined) this.#classes.unite(this.nodeOf(known), this.nodeOf(value));
      }
    }
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
        const values = table.columns.flatMap((column) => {
          const asked = chosen.get(chosenColumn(this.path.transaction, result, column.name));
          const value = asked === undefined ? undefined : asColumn(column, asked);
          return value === undefined ? [] : [[column.name, value] as const];
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

  /** @param loops by their names: the argument that each is over */
  arguments(loops: ReadonlyMap<string, string>): Arguments {
    const result: Record<string, unknown> = {};
    visitValues(this.path, (value) => {
      if (value.kind === 'argument') result[value.name] = this.#argument(value);
    });
    for (const [loop, list] of this.#lists()) {
      const name = loops.get(loop);
      if (name !== undefined) result[name] = list;
    }
    return result;
  }

  #chosen(value: Value): RowValue | undefined {
    return this.#classes.typed(this.nodeOf(value));
  }

  /** Lists of arguments that loops are over: `item#1.id` and `item#2.id` make `[{ id }, { id }]`. */
  #lists(): ReadonlyMap<string, readonly unknown[]> {
    const lists = new Map<string, unknown[]>();
    visitValues(this.path, (value) => {
      if (value.kind !== 'element') return;
      const [loop = ''] = value.loop.split('#');
      const list = lists.get(loop) ?? [];
      lists.set(loop, list);
      const at = timeOf(value.loop);
      const found = this.#argument(value);
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
          : (valueFor(column, numberOf(column, found.number)) ?? found.number);
    const decided =
      'constant' in found && column !== undefined && typeof valueFor(column, 1) === 'number' ? Number(result) : result;
    this.#classes.decide(node, decided);
    return decided;
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
        moments.flat().some((access) => rowText(access.table, access.row) === rowText(table, row))
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

/** Far from those that the sequence of the column gives. */
function numberOf({ sequence, identity }: Column, number: number): number {
  return sequence === null && identity === null ? number : sequencesEnd + number;
}

const sequencesEnd = 100;

function typed(value: string | number | boolean): RowValue {
  return typeof value === 'boolean' ? String(value) : value;
}

/** By the name of each loop over an argument: that argument. */
export function loopsIn(steps: readonly AnyStep[]): ReadonlyMap<string, string> {
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
