/** What the statements of an invariant could have returned at another final state: the same columns, and other values or other rows. */
import { seeded } from '../base/index.ts';
import type { ResultColumn } from '../sql/index.ts';
import type { SqlValue } from '../sql/model/index.ts';
import { changesOf, inTurn, type Mentioned, withChange } from '../program/index.ts';
import { changesOfCell } from './changed-cells.ts';
import { comparedRows } from './compared-rows.ts';
import type { Row, Answer, Looked } from './looked.ts';

/** Makes one other `Looked` of the original. */
type Change = (looked: Looked) => Looked;

/**
 * First everything at once in many ways, which one comparison in any of it fails on; then rows of the values that the text compares several columns
 * with; then other rows; then one column, result or cell at a time,
 * two of them, and a few at random: for one that compares only where another value is so. Of all ways the telling ones first.
 * @param text of the invariant: columns that it names come before others
 * @param max how many changes
 */
export function changesOfLooked(original: Looked, mentioned: Mentioned, text: string, max: number): Looked[] {
  const numbered = [...original.answers.entries()];
  const ofColumns = numbered.flatMap(([number, answer]) => columnChanges(answer, number, mentioned, text));
  const ofRows = numbered.map(([number, answer]) => rowChanges(answer, number, mentioned));
  const ofCells = numbered.flatMap(([number, answer]) => cellChanges(answer, number, mentioned));
  const ofResults = resultChanges(original.results, mentioned);
  const parts = [...ofColumns.map(({ changes }) => changes), ...ofResults];
  const named = [...ofColumns.filter(({ isNamed }) => isNamed).map(({ changes }) => changes), ...ofResults];
  const pairs = ofPairs(named);
  const ofCompared = numbered.map(([number, answer]) =>
    comparedRows(answer, text).map((change) => withRows(number, change)),
  );
  const changes = [
    ...allAtOnce(parts).slice(0, AT_ONCE_MAX),
    ...inTurn(ofCompared).slice(0, COMPARED_MAX),
    ...inTurn(ofRows).slice(0, ROW_CHANGES_MAX),
    ...pairs.slice(0, PAIRS_FIRST),
    ...inTurn([inTurn(parts), inTurn(ofCells), atRandom([...ofCells, ...ofResults], max), pairs.slice(PAIRS_FIRST)]),
  ];
  return changes.slice(0, max).map((change) => change(original));
}

const AT_ONCE_MAX = 40;
const COMPARED_MAX = 24;
const ROW_CHANGES_MAX = 14;
const PAIRS_FIRST = 48;

function allAtOnce(lists: readonly (readonly Change[])[]): Change[] {
  const rounds = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: rounds }, (_, i) => together(lists.map((list) => list[i] ?? list[0] ?? same)));
}

/** Of two, each in its first ways: what only matters where another value is so. */
function ofPairs(lists: readonly (readonly Change[])[]): Change[] {
  const ways = Array.from({ length: PAIRED * TELLING }, (_, i) => [Math.floor(i / TELLING), i % TELLING] as const);
  return ways.flatMap(([i, j]) =>
    lists.flatMap((list, a) =>
      lists.flatMap((other, b) => {
        const [one, another] = [list[i], other[j]];
        return a === b || one === undefined || another === undefined ? [] : [together([one, another])];
      }),
    ),
  );
}

const PAIRED = 12;
const TELLING = 3;

/** Some of `lists` change, each in one of its ways. */
function atRandom(lists: readonly (readonly Change[])[], count: number): Change[] {
  const chooser = seeded(1);
  const some = lists.filter(({ length }) => length > 0);
  if (some.length < 2) return [];
  return Array.from({ length: count }, () =>
    together(
      some.map((list) => {
        if (chooser.choose(some.length > SMALL ? 4 : 2) > 0) return same;
        // The telling ones as often as all others.
        return list[chooser.choose(chooser.choose(2) === 0 ? Math.min(list.length, SMALL) : list.length)] ?? same;
      }),
    ),
  );
}

const SMALL = 4;

function together(changes: readonly Change[]): Change {
  return (looked) => changes.reduce((changed, change) => change(changed), looked);
}

const same: Change = (looked) => looked;

const withRows =
  (number: number, change: (rows: readonly Row[]) => readonly Row[]): Change =>
  ({ answers, results }) => ({
    results,
    answers: answers.map((answer, i) => (i === number ? { ...answer, rows: change(answer.rows) } : answer)),
  });

/** No row, one row more or less, many rows, the same and different ones. */
function rowChanges({ rows, columns }: Answer, number: number, mentioned: Mentioned): Change[] {
  const [first = madeRow(columns, mentioned, 0)] = rows;
  const many = (row: (i: number) => Row): Row[] => Array.from({ length: MANY }, (_, i) => row(i));
  const distinct = many((i) => first.map((value, c) => nthValue(value, columns[c] as ResultColumn, mentioned, i)));
  const others: readonly (readonly Row[])[] = [
    [],
    distinct,
    [...rows, first],
    many(() => first),
    rows.slice(1),
    rows.slice(0, -1),
    [...rows, madeRow(columns, mentioned, 1)],
  ];
  return others.filter((each) => each.length !== rows.length).map((each) => withRows(number, () => each));
}

/** More than any bound on a list of a test. */
const MANY = 100;

/** A row where there was none. */
function madeRow(columns: readonly ResultColumn[], mentioned: Mentioned, way: number): Row {
  return columns.map((column) => {
    const values = changesOfCell(null, column, mentioned);
    return values[way % Math.max(1, values.length)] ?? null;
  });
}

/** One of many that differ, where the type has so many. */
function nthValue(value: SqlValue, column: ResultColumn, mentioned: Mentioned, n: number): SqlValue {
  const numbers = Array.from({ length: MANY }, (_, i) => 1_000 + i);
  const texts = numbers.map((each) => `other ${each}`);
  const named = { numbers: [...numbers, ...mentioned.numbers], texts: [...texts, ...mentioned.texts] };
  const values = distinctValues.get(column) ?? changesOfCell(value, column, named);
  distinctValues.set(column, values);
  return values[n % Math.max(1, values.length)] ?? null;
}

const distinctValues = new WeakMap<ResultColumn, SqlValue[]>();

/** Of each column: all its values change alike. Where there is no row, one that is made. Those that `text` names come first. */
function columnChanges({ columns, rows }: Answer, number: number, mentioned: Mentioned, text: string): ColumnChanges[] {
  const all = columns.map((column, c): ColumnChanges => {
    const ofRow = (value: SqlValue): Change =>
      withRows(number, (now) =>
        (now.length === 0 ? [madeRow(columns, mentioned, 0)] : now).map((row) => row.with(c, value)),
      );
    const changes = changesOfCell(rows[0]?.[c] ?? null, column, mentioned).map(ofRow);
    return { isNamed: text.includes(column.name), changes };
  });
  return [...all.filter(({ isNamed }) => isNamed), ...all.filter(({ isNamed }) => !isNamed)];
}

interface ColumnChanges {
  readonly isNamed: boolean;
  readonly changes: readonly Change[];
}

/** Of each value of the first rows. */
function cellChanges({ columns, rows }: Answer, number: number, mentioned: Mentioned): Change[][] {
  return rows
    .slice(0, ROWS_MAX)
    .flatMap((row, r) =>
      columns.map((column, c) =>
        changesOfCell(row[c] ?? null, column, mentioned).map((value) =>
          withRows(number, (now) => now.map((each, i) => (i === r ? each.with(c, value) : each))),
        ),
      ),
    );
}

const ROWS_MAX = 8;

function resultChanges(results: Looked['results'], mentioned: Mentioned): Change[][] {
  return Object.keys(results ?? {}).map((name) =>
    changesOf(results?.[name], mentioned).map(
      (change): Change =>
        (looked) => ({ ...looked, results: withChange(looked.results ?? {}, name, change) }),
    ),
  );
}
