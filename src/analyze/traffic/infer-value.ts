/**
 * What a value of a statement is computed from, inferred from all transactions that ran it: an earlier value, a column of an earlier result, one of them shifted,
 * a constant; otherwise what the unit was called with. An argument is the most general of them: it may be any value, an earlier one included.
 *
 * That two values are always equal says little where they are few. They count as one where three different ones were seen, or where both are of one
 * column (foreign keys followed), as the id that a transaction reads by and then writes by.
 */
import type { StatementValue } from '../../trace/index.ts';
import type { Value } from '../application.ts';
import { formatValue } from '../format-application.ts';

/** Values by observation: a transaction, or an iteration of a loop in it. `undefined`: there was none. */
export type Observed = readonly (StatementValue | undefined)[];

/** An earlier value that later ones may be. */
export interface Source {
  readonly value: Value;
  /** The column that it is of; `null`: not known. */
  readonly domain: string | null;
  readonly observed: Observed;
  /** Of a column of a result: the row's keys, by which a write of the same row is known. */
  readonly rowKeys: readonly string[];
}

export interface Inferring {
  readonly observed: Observed;
  readonly domain: string | null;
  /** Makes the argument that it is where it is nothing else. */
  readonly argument: () => Value;
  readonly isWritten: boolean;
  /** Does it name rows? Then it is no constant because it was one so far. */
  readonly isKey: boolean;
  /** A constant of the text that is the program's own. */
  readonly isOwnConstant: boolean;
  /** Is any number or text of this column's type a value that it may have? If not, an example stands for it. */
  readonly isFree: boolean;
  /** Values by which its statement names rows. */
  readonly rowKeys: readonly string[];
}

export interface Inferred {
  readonly value: Value;
  /** A clause: `equal in 118 of 118`. */
  readonly basis: string;
  /** How much an earlier column is changed by: it may come again. */
  readonly shift: Source | null;
}

/** Different values that are equal to others by no accident. */
const distinctMin = 3;
/** Where they are of two columns: ids and small amounts are the same numbers. */
const distinctOfColumnsMin = 5;
/** Transactions after which a bound value that never differs is a constant. */
const constantMin = 5;

export function inferValue(slot: Inferring, sources: readonly Source[]): Inferred {
  const texts = slot.observed.map(textOf);
  const count = texts.length;
  const distinct = new Set(texts).size;
  const known = (value: Value, basis: string): Inferred => ({ value, basis, shift: null });
  if (slot.isOwnConstant && distinct === 1) return known(constantOf(slot.observed[0]), `the text's own`);
  const equal = sources.filter((source) => isEqual(source, texts));
  const ofColumn = equal.find(({ domain }) => domain !== null && domain === slot.domain);
  if (ofColumn !== undefined) return known(ofColumn.value, `equal in ${count} of ${count}`);
  if (distinct === 1 && count >= constantMin && !slot.isKey)
    return known(constantOf(slot.observed[0]), `the same in ${count} of ${count}`);
  const other = equal.find((source) => distinct >= neededFor(slot, source));
  if (other !== undefined) return known(other.value, `equal in ${count} of ${count}`);
  const shifted = slot.isKey && distinct < distinctMin ? undefined : shiftOf(slot, sources);
  if (shifted !== undefined) return shifted;
  if (!slot.isFree) return known(constantOf(slot.observed[0]), `an example of ${count}`);
  return known(slot.argument(), `${count} ${count === 1 ? 'value' : 'values'}, ${distinct} different`);
}

function neededFor({ domain }: Inferring, source: Source): number {
  return domain === null || source.domain === null ? distinctMin : distinctOfColumnsMin;
}

/** Values that count as equal have one text: drivers write 7, '7' and '7.00'. */
function textOf(value: StatementValue | undefined): string | undefined {
  if (
    value === undefined ||
    (typeof value === 'object' && value !== null && 'length' in value && !Array.isArray(value))
  )
    return undefined;
  if (typeof value !== 'string' && typeof value !== 'number') return JSON.stringify(value);
  const text = String(value);
  return /^-?\d+\.\d+$/.test(text) ? text.replace(/\.?0+$/, '') : text;
}

function isEqual({ observed }: Source, texts: readonly (string | undefined)[]): boolean {
  let isSeen = false;
  for (const [at, text] of texts.entries()) {
    if (text === undefined || textOf(observed[at]) !== text) return false;
    if (text !== 'null') isSeen = true;
  }
  return isSeen;
}

function constantOf(value: StatementValue | undefined): Value {
  if (typeof value === 'object' && value !== null)
    return { kind: 'constant', value: Array.isArray(value) ? arrayText(value as readonly StatementValue[]) : '' };
  return { kind: 'constant', value: value ?? null };
}

/** As PostgreSQL reads an array. */
function arrayText(values: readonly StatementValue[]): string {
  return `{${values.map((value) => (value === null ? 'NULL' : JSON.stringify(textOf(value)))).join(',')}}`;
}

/** A number that is a column's and another: always the same one, an earlier value, or, where the column itself is written, any. */
function shiftOf(slot: Inferring, sources: readonly Source[]): Inferred | undefined {
  const numbers = slot.observed.map(numberOf);
  if (numbers.includes(undefined)) return undefined;
  const columns = sources
    .filter(({ value }) => value.kind === 'column')
    .toSorted((a, b) => Number(b.domain === slot.domain) - Number(a.domain === slot.domain));
  for (const column of columns) {
    const shifts = shiftsFrom(column, numbers as readonly number[]);
    if (shifts === undefined) continue;
    const found =
      fixedShift(slot, column, shifts) ?? sourceShift(column, shifts, sources) ?? ownShift(slot, column, shifts);
    if (found !== undefined) return found;
  }
  return undefined;
}

function numberOf(value: StatementValue | undefined): number | undefined {
  const text = textOf(value);
  return text !== undefined && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined;
}

function shiftsFrom({ observed }: Source, numbers: readonly number[]): readonly number[] | undefined {
  const shifts: number[] = [];
  for (const [at, number] of numbers.entries()) {
    const from = numberOf(observed[at]);
    if (from === undefined) return undefined;
    // Cents: the difference of two decimals has more digits than they.
    shifts.push(Number((number - from).toFixed(6)));
  }
  return shifts;
}

function fixedShift(
  slot: Inferring,
  { value, observed, domain }: Source,
  shifts: readonly number[],
): Inferred | undefined {
  const [shift = 0] = shifts;
  if (shifts.length < distinctMin || shifts.some((each) => each !== shift)) return undefined;
  const isOfColumn = slot.domain !== null && slot.domain === domain;
  if (!isOfColumn && new Set(observed.map(textOf)).size < distinctOfColumnsMin) return undefined;
  const by: Value = { kind: 'constant', value: Math.abs(shift) };
  return { value: sum(value, shift, by), basis: `by ${shift} in ${shifts.length} of ${shifts.length}`, shift: null };
}

function sourceShift({ value }: Source, shifts: readonly number[], sources: readonly Source[]): Inferred | undefined {
  if (new Set(shifts).size < distinctOfColumnsMin) return undefined;
  for (const source of sources) {
    for (const sign of [1, -1]) {
      if (!shifts.every((shift, at) => numberOf(source.observed[at]) === sign * shift)) continue;
      const basis = `by ${formatValue(source.value)} in ${shifts.length} of ${shifts.length}`;
      return { value: sum(value, sign, source.value), basis, shift: null };
    }
  }
  return undefined;
}

/** A write of the column that was read, of the same row. */
function ownShift(slot: Inferring, column: Source, shifts: readonly number[]): Inferred | undefined {
  const isSameRow = column.rowKeys.some((key) => slot.rowKeys.includes(key));
  if (!slot.isWritten || slot.domain === null || slot.domain !== column.domain || !isSameRow) return undefined;
  const sign = shifts.every((shift) => shift <= 0) ? -1 : 1;
  const observed = shifts.map((shift) => sign * shift);
  const argument = slot.argument();
  return {
    value: sum(column.value, sign, argument),
    basis: `by ${shifts.length} values, ${new Set(shifts).size} different`,
    shift: { value: argument, domain: null, observed, rowKeys: [] },
  };
}

function sum(value: Value, sign: number, by: Value): Value {
  if (by.kind === 'constant' && by.value === 0) return value;
  return { kind: 'expression', operator: sign < 0 ? '-' : '+', operands: [value, by] };
}
