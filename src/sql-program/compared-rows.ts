/** Rows for an invariant that compares several columns of one row: `row.state === 'sent' && !row.paid && row.carrier === 'ups'`. */
import { seeded } from '../base/index.ts';
import { formatText, type SqlValue } from '../sql/model/index.ts';
import type { ResultColumn } from '../sql/index.ts';
import { changesOfCell } from './changed-cells.ts';
import type { Answer, Row } from './looked.ts';

type RowsChange = (rows: readonly Row[]) => readonly Row[];

/** Draws the columns that `text` compares with constants from those constants, and its booleans from both. None where it compares fewer than two. */
export function comparedRows({ columns }: Answer, text: string): RowsChange[] {
  const compared = columns.flatMap((column, c) => {
    const values = valuesOf(column, text);
    return values.length === 0 ? [] : [{ c, values }];
  });
  if (compared.length < 2) return [];
  const chooser = seeded(1);
  return Array.from({ length: DRAWS }, () => {
    const draw = (row: Row): Row =>
      compared.reduce<Row>((drawn, { c, values }) => {
        // Its own value now and then.
        if (chooser.choose(OWN_EVERY) === 0) return drawn;
        return drawn.with(c, values[chooser.choose(values.length)] ?? null);
      }, row);
    return (rows) => rows.map(draw);
  });
}

const DRAWS = 24;
const OWN_EVERY = 6;

function valuesOf(column: ResultColumn, text: string): SqlValue[] {
  const named = [...text.matchAll(comparison)].filter(({ groups }) => groups?.['name'] === column.name);
  const texts = named.flatMap(({ groups }) => groups?.['text'] ?? []);
  const numbers = named.flatMap(({ groups }) => (groups?.['number'] === undefined ? [] : [Number(groups['number'])]));
  if (column.type.name === 'bool') return text.includes(column.name) ? [true, false] : [];
  if (texts.length + numbers.length === 0) return [];
  const values = changesOfCell(null, column, { numbers, texts });
  const isOne = (shown: string): boolean => texts.includes(shown) || numbers.includes(Number(shown));
  return values.filter((value) => value !== null && isOne(formatText(value, column.type, 'postgres')));
}

/** `row.state !== 'sent'`, `state === "sent"`, `row.n <= 3`. */
const comparison =
  /(?<name>[\p{ID_Start}$_][\p{ID_Continue}$]*)\s*(?:[=!]==?|[<>]=?)\s*(?:(["'`])(?<text>(?:(?!\2)[^\\\n])*)\2|(?<number>-?\d+(?:\.\d+)?))/gu;
