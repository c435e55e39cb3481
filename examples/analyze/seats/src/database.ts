import postgres from 'postgres';

export const sql = postgres();

/** The only row, or an error. */
export function onlyRow<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new Error('there is no such row');
  return row;
}
