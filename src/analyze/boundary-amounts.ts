/** Numbers for a witness on the edge of the conditions that a unit checks: one use left, a balance that is just enough, the status that it asks for. */
import type { Value } from './application.ts';
import { type Amounts, amountsWith, chosenColumn, usual } from './amounts.ts';
import type { RowValue } from './column-values.ts';
import type { AnalyzedTransaction } from './transactions.ts';

type Columns = ReadonlyMap<string, RowValue>;

const choicesMax = 8;

/** Of the transactions or units that a witness numbers. */
export interface CheckedConditions {
  readonly transaction: number;
  readonly conditions: readonly Value[];
}

/** At most eight, each with a choice for every condition. */
export function boundaryAmounts(checked: readonly CheckedConditions[]): readonly Amounts[] {
  let all: readonly Columns[] = [new Map()];
  for (const { transaction, conditions } of checked) {
    const unique = [...new Map(conditions.map(plain).map((one) => [JSON.stringify(one), one])).values()];
    for (const choices of unique.flatMap((condition) => choicesIn(condition, transaction)))
      all = choices.flatMap((choice) => all.map((columns) => new Map([...choice, ...columns]))).slice(0, choicesMax);
  }
  return all.map(amountsWith);
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
  const columns = (...chosen: (readonly [column: FirstColumn, value: RowValue])[]): Columns =>
    new Map(chosen.map(([{ statement, column }, value]) => [chosenColumn(transaction, statement, column), value]));
  if (condition.kind === 'column' && condition.row === 'first')
    return [[columns([condition, 1]), columns([condition, 0])]];
  if (condition.kind !== 'expression') return [];
  const { operator, operands } = condition;
  if (!comparisons.has(operator)) return operands.flatMap((operand) => choicesIn(operand, transaction));
  const [left, right] = operands;
  const [a, b] = [columnIn(left), columnIn(right)];
  if (a !== null && b !== null) return [[columns([a, 0], [b, 1]), columns([a, 1], [b, 0])]];
  const column = a ?? b;
  if (column === null) return [];
  const other = a === null ? left : right;
  if (other?.kind === 'argument') return [[columns([column, usual.inArguments])]];
  if (other?.kind !== 'constant' || other.value === null) return [];
  const { value } = other;
  if (typeof value === 'number')
    return [[columns([column, value + 1]), columns([column, value]), columns([column, value - 1])]];
  return [[columns([column, String(value)])]];
}

type FirstColumn = Extract<Value, { kind: 'column' }>;

const comparisons: ReadonlySet<string> = new Set(['<', '<=', '>', '>=', '=', '<>']);

function columnIn(value: Value | undefined): FirstColumn | null {
  if (value?.kind === 'column' && value.row === 'first') return value;
  if (value?.kind !== 'expression') return null;
  return value.operands.map(columnIn).find((found) => found !== null) ?? null;
}
