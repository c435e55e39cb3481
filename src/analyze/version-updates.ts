/** How an UPDATE changes a version column, and of which columns equal values are the same value. */
import type { Node } from '@pgsql/types';
import { columnNamed, exactColumn, type Table } from '../sql/index.ts';
import type { TypeName } from '../sql/model/index.ts';
import type { Dialect, Value } from './application.ts';
import type { Source, ValueOf } from './row-keys.ts';
import { namesOf } from './sql-tree.ts';

interface Assignment {
  readonly name: string;
  readonly node: Node | undefined;
}

const integers: readonly TypeName[] = ['int2', 'int4', 'int8', 'uint8'];

/** Those that clients have as numbers: the sum of a larger one, which is a text in JavaScript, is another text. */
const numbers: ReadonlySet<TypeName> = new Set(['int2', 'int4']);

/** Without those where a collation, a scale or a precision decides: MySQL reads `'a'` and `'A'` as equal, 1.0 equals 1.00, and a client rounds times. */
const exactTypes: Readonly<Record<Dialect, ReadonlySet<TypeName>>> = {
  postgres: new Set([...integers, 'bool', 'uuid', 'text', 'varchar', 'enum']),
  mysql: new Set(integers),
};

export function sameWhereEqual(
  equals: ReadonlyMap<string, Value>,
  table: Table,
  dialect: Dialect,
): ReadonlyMap<string, Value> {
  return new Map(
    [...equals].filter(([name]) => {
      const column = exactColumn(table, name);
      return column !== undefined && exactTypes[dialect].has(column.type.name);
    }),
  );
}

/** `version = version + 1`, and `version = $2` where the condition asks for `version = $1` and the program adds to that. */
export function increasedColumns(
  assignments: readonly Assignment[],
  { table, alias, equals }: Source,
  valueOf: ValueOf,
  dialect: Dialect,
): ReadonlySet<string> {
  const increased = new Set<string>();
  for (const { name, node } of assignments) {
    const column = columnNamed(table, name, dialect);
    if (column === undefined || !integers.includes(column.type.name)) continue;
    const isOwn = (operand: Node | undefined): boolean => {
      const names = operand !== undefined && 'ColumnRef' in operand ? namesOf(operand.ColumnRef) : [];
      const isOfTable = names.length === 1 || names.at(-2) === alias;
      return isOfTable && columnNamed(table, names.at(-1) ?? '', dialect)?.name === column.name;
    };
    const before = equals.get(column.name);
    const isSum = addsToOwn(node, isOwn, valueOf);
    if (isSum || (numbers.has(column.type.name) && before !== undefined && isMore(valueOf(node, column), before)))
      increased.add(column.name);
  }
  return increased;
}

function addsToOwn(node: Node | undefined, isOwn: (operand: Node | undefined) => boolean, valueOf: ValueOf): boolean {
  if (node === undefined || !('A_Expr' in node) || node.A_Expr.kind !== 'AEXPR_OP') return false;
  const { name: [sign, ...more] = [], lexpr, rexpr } = node.A_Expr;
  const isPlus = more.length === 0 && sign !== undefined && 'String' in sign && sign.String.sval === '+';
  const isAdded = (operand: Node | undefined): boolean => isPositive(valueOf(operand));
  return isPlus && ((isOwn(lexpr) && isAdded(rexpr)) || (isOwn(rexpr) && isAdded(lexpr)));
}

function isMore(value: Value | undefined, before: Value): boolean {
  if (value?.kind !== 'expression' || value.operator !== '+' || value.operands.length !== 2) return false;
  const [first, second] = value.operands;
  const isBefore = (operand: Value | undefined): boolean => JSON.stringify(operand) === JSON.stringify(before);
  return (
    before.kind === 'column' && ((isBefore(first) && isPositive(second)) || (isBefore(second) && isPositive(first)))
  );
}

function isPositive(value: Value | undefined): boolean {
  return value?.kind === 'constant' && typeof value.value === 'number' && value.value > 0;
}
