/** Statements of PostgreSQL's regression files whose rows are silently others, with the reason: words that stand in docs/sql.md. */

export interface KnownRows {
  readonly row: string;
  /** Keys of statements, by file. */
  readonly statements: Readonly<Record<string, string>>;
}

export const knownRows: readonly KnownRows[] = [
  {
    row: 'the order of equals inside a window',
    statements: {
      window:
        '7f448853 2eb4b5ae 22f194fd 7bbacc59 fc1ad754 2283461d 25ba7a7e 277bddb7 ee33fcff 025a243f 4c577180 bb90176d ' +
        '01bf5548 3a23190d e5c63c3f 158a7f1e 85cfb846 af382d94 43e4f55d',
    },
  },
  {
    row: 'what the system catalogs say of unlogged tables',
    statements: {
      create_table: '7109a62f 4a732956',
      create_view: '164656fe 3819a746',
      enum: '6c45ff26',
      identity: '00ab28c2 6c56522f',
      json: 'f4c4425e',
      jsonb: '6582bc5d',
      sequence: '82feeda2',
    },
  },
  {
    row: 'constraints of partitions',
    statements: { constraints: 'd6bf2946 da394c60' },
  },
  {
    row: 'the last digits of intervals of more than 285 years of seconds',
    statements: { interval: 'a849dda6 517bb6ae' },
  },
  { row: 'digits of the variance of numbers below 1e-900', statements: { numeric: '88300a69' } },
  { row: 'a row of no columns', statements: { select: '64b85b73' } },
];

/** The reason, where it is known. */
export function knownReason(file: string, key: string): string | undefined {
  return knownRows.find(({ statements }) => statements[file]?.split(' ').includes(key))?.row;
}
