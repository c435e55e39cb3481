/** Numbers for a witness on the edge of the conditions that a unit checks: one use left, a balance that is just enough, the status that it asks for. */
import type { Value } from './application.ts';
import type { Amounts } from './concrete-witness.ts';
import type { RowValue } from './witness-rows.ts';

type Columns = ReadonlyMap<string, RowValue>;

const choicesMax = 8;
const inArguments = 10;

/** At most eight, each with a choice for every condition. */
export function boundaryAmounts(conditions: readonly Value[]): readonly Amounts[] {
  const unique = [...new Map(conditions.map((one) => [JSON.stringify(one), one])).values()];
  let all: readonly Columns[] = [new Map()];
  for (const choices of unique.flatMap(choicesIn))
    all = choices.flatMap((choice) => all.map((one) => new Map([...choice, ...one]))).slice(0, choicesMax);
  return all.map((inColumns) => ({ inRows: 100, inArguments, areArgumentsEqual: true, inColumns }));
}

/** For each comparison in the condition, what its columns may be. */
function choicesIn(condition: Value): readonly (readonly Columns[])[] {
  if (condition.kind === 'column') return [[one(condition.column, 1), one(condition.column, 0)]];
  if (condition.kind !== 'expression') return [];
  const { operator, operands } = condition;
  if (!comparisons.has(operator)) return operands.flatMap(choicesIn);
  const [left, right] = operands;
  const [a, b] = [columnIn(left), columnIn(right)];
  if (a !== null && b !== null)
    return [
      [
        new Map([
          [a, 0],
          [b, 1],
        ]),
        new Map([
          [a, 1],
          [b, 0],
        ]),
      ],
    ];
  const column = a ?? b;
  if (column === null) return [];
  const other = a === null ? left : right;
  if (other?.kind === 'argument') return [[one(column, inArguments)]];
  if (other?.kind !== 'constant' || other.value === null) return [];
  const { value } = other;
  if (typeof value === 'number') return [[one(column, value + 1), one(column, value), one(column, value - 1)]];
  return [[one(column, String(value))]];
}

const comparisons: ReadonlySet<string> = new Set(['<', '<=', '>', '>=', '=', '<>']);

function columnIn(value: Value | undefined): string | null {
  if (value?.kind === 'column' && value.row === 'first') return value.column;
  if (value?.kind !== 'expression') return null;
  return value.operands.map(columnIn).find((found) => found !== null) ?? null;
}

function one(column: string, value: RowValue): Columns {
  return new Map([[column, value]]);
}
