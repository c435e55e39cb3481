/** Numbers for a witness on the edge of the conditions that a unit checks: one use left, a balance that is just enough, the status that it asks for. */
import type { Value } from './application.ts';
import { type Amounts, amountsWith, chosenColumn, usual } from './amounts.ts';
import type { RowValue } from './column-values.ts';
import { computed } from './compute-value.ts';
import type { AnalyzedTransaction } from './transactions.ts';

type Columns = ReadonlyMap<string, RowValue | null>;

const choicesMax = 8;
/** For a condition on a count, at most so many rows are made. */
const foundRowsMax = 10;

/** Of the transactions or units that a witness numbers. */
export interface CheckedConditions {
  readonly transaction: number;
  readonly conditions: readonly Value[];
}

/**
 * At most eight, each with a choice for every condition: with equal arguments, then with different ones, which two claims of one row need to differ. Between them, numbers
 * for what no column of a row decides: an argument on the edge of a limit, a count of rows.
 */
export function boundaryAmounts(checked: readonly CheckedConditions[]): readonly Amounts[] {
  let all: readonly Columns[] = [new Map()];
  const beside: Amounts[] = [];
  for (const { transaction, conditions } of checked) {
    const unique = [...new Map(conditions.map(plain).map((one) => [JSON.stringify(one), one])).values()];
    for (const choices of unique.flatMap((condition) => choicesIn(condition, transaction)))
      all = choices.flatMap((choice) => all.map((columns) => new Map([...choice, ...columns]))).slice(0, choicesMax);
    beside.push(...unique.flatMap(comparisonsIn).flatMap(besideColumns));
  }
  const equal = all.map(amountsWith);
  const different = equal.filter(({ inColumns }) => inColumns.size > 0);
  return [...equal, ...beside, ...different.map((amounts) => ({ ...amounts, areArgumentsEqual: false }))];
}

/** All that decide whether a statement of it runs. */
export function conditionsOf({ paths }: AnalyzedTransaction): readonly Value[] {
  return paths.flat().flatMap(({ conditions }) => conditions);
}

/** A condition and its opposite have one boundary. */
function plain(condition: Value): Value {
  const [operand] = condition.kind === 'expression' && condition.operator === 'not' ? condition.operands : [];
  return operand === undefined ? condition : plain(operand);
}

/** For each comparison in the condition, what its columns may be. */
function choicesIn(condition: Value, transaction: number): readonly (readonly Columns[])[] {
  const columns = (...chosen: (readonly [column: FirstColumn, value: RowValue | null])[]): Columns =>
    new Map(chosen.map(([{ statement, column }, value]) => [chosenColumn(transaction, statement, column), value]));
  if (condition.kind === 'column' && condition.row === 'first')
    return [[columns([condition, null]), columns([condition, 1]), columns([condition, 0])]];
  if (condition.kind !== 'expression') return [];
  const { operator, operands } = condition;
  const [left, right] = operands;
  if (operator === 'is null') {
    const column = columnIn(left);
    return column === null ? [] : [[columns([column, null]), columns()]];
  }
  if (left === undefined || right === undefined || !comparisons.has(operator))
    return operands.flatMap((operand) => choicesIn(operand, transaction));
  const [a, b] = [columnIn(left), columnIn(right)];
  const column = b ?? a;
  if (column === null) return [];
  const edge = edgeOf({ left, right }, column);
  if (a !== null && b !== null) {
    const [first, second] = edge === undefined || edge === 0 ? [1, 1] : [edge, edge + 1];
    const ofOther = [...new Set([first, second])].map((value) => columns([a, 0], [b, value]));
    return [[...ofOther, columns([a, 1], [b, 0])]];
  }
  const other = a === null ? left : right;
  if (other.kind === 'constant' && typeof other.value !== 'number')
    return other.value === null ? [] : [[columns([column, String(other.value)])]];
  if (edge === undefined) return [];
  // Enough for two, too: what else is checked may keep the second away.
  const values = other.kind === 'constant' ? [edge + 1, edge, edge - 1] : [...new Set([edge, 3 * edge])];
  return [values.map((value) => columns([column, value]))];
}

type FirstColumn = Extract<Value, { kind: 'column' }>;

const comparisons: ReadonlySet<string> = new Set(['<', '<=', '>', '>=', '=', '<>']);

function columnIn(value: Value | undefined): FirstColumn | null {
  if (value?.kind === 'column' && value.row === 'first') return value;
  if (value?.kind !== 'expression') return null;
  return value.operands.map(columnIn).find((found) => found !== null) ?? null;
}

interface Comparison {
  readonly left: Value;
  readonly right: Value;
}

function comparisonsIn(condition: Value): readonly Comparison[] {
  if (condition.kind !== 'expression') return [];
  const [left, right] = condition.operands;
  if (left !== undefined && right !== undefined && comparisons.has(condition.operator)) return [{ left, right }];
  return condition.operands.flatMap(comparisonsIn);
}

/** A sum with one more that just keeps a limit; as many rows as a limit of rows asks for, and one less. */
function besideColumns(comparison: Comparison): readonly Amounts[] {
  const parts = [comparison.left, comparison.right].flatMap(partsOf);
  const result = parts.find(({ kind }) => kind === 'column' || kind === 'row-count');
  if (result === undefined) return [];
  const given = parts.find(({ kind }) => kind === 'argument');
  const atLimit = given === undefined ? undefined : edgeOf(comparison, given);
  const isNew = atLimit !== undefined && atLimit > 0 && atLimit !== usual.inArguments;
  const count = given === undefined ? (edgeOf(comparison, result) ?? 0) : 0;
  const counts = count > foundRowsMax ? [] : [count - 1, count].filter((rows) => rows > 2);
  return [
    ...(isNew ? [{ ...amountsWith(new Map()), inArguments: atLimit }] : []),
    ...counts.map((foundRows) => ({ ...usual, foundRows })),
  ];
}

function partsOf(value: Value): readonly Value[] {
  return value.kind === 'expression' ? value.operands.flatMap(partsOf) : [value];
}

/** The number at which the sides are equal, the other results 0 and the other arguments the usual; `undefined`: there is none, or the sides are not linear in it. */
function edgeOf({ left, right }: Comparison, unknown: Value): number | undefined {
  const sought = JSON.stringify(unknown);
  const difference = (number: number): number => {
    const numberOf = (value: Value): number => {
      if (JSON.stringify(value) === sought) return number;
      if (value.kind === 'constant') return typeof value.value === 'number' ? value.value : Number.NaN;
      if (value.kind === 'column' || value.kind === 'row-count') return 0;
      if (value.kind === 'argument') return usual.inArguments;
      return value.kind === 'expression' ? Number(computed(value.operator, value.operands.map(numberOf))) : Number.NaN;
    };
    return numberOf(left) - numberOf(right);
  };
  const [atZero, atOne] = [difference(0), difference(1)];
  const edge = Math.ceil(atZero / (atZero - atOne));
  // Where it is -0, it is 0.
  return Number.isFinite(edge) ? edge + 0 : undefined;
}
