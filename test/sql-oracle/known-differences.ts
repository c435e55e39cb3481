/** What differs from the real servers and stays so for now; docs/sql.md lists it with the reasons. A scenario ends where it meets one. */
import type { Dialect } from '../../src/sql/model/index.ts';
import type { Answer } from './answer.ts';

export interface KnownDifference {
  readonly dialect: Dialect;
  readonly what: string;
  readonly matches: (sql: string, ours: Answer, theirs: Answer) => boolean;
}

const failsWith = (answer: Answer, ...codes: readonly string[]): boolean =>
  answer.kind === 'error' && codes.includes(answer.code);

/** As many rows, and where cells differ the difference is allowed. */
function cellsDiffer(
  ours: Answer,
  theirs: Answer,
  isAllowed: (ours: unknown, theirs: unknown, column: number) => boolean,
): boolean {
  if (ours.kind !== 'rows' || theirs.kind !== 'rows' || ours.rows.length !== theirs.rows.length) return false;
  return ours.rows.every((row, i) => {
    const [own, other] = [JSON.parse(row), JSON.parse(theirs.rows[i] ?? '[]')] as [unknown[], unknown[]];
    return own.every((value, column) => value === other[column] || isAllowed(value, other[column], column));
  });
}

function isNear(ours: unknown, theirs: unknown): boolean {
  return Math.abs(Number(ours) - Number(theirs)) <= Math.abs(Number(theirs)) / 1000;
}

/** Of values and constraints: SQLSTATE classes 22 and 23, and MySQL's numbers for them. */
const isOfData = (answer: Answer): boolean =>
  answer.kind === 'error' &&
  (/^2[23]|^428C9$/.test(answer.code) ||
    ['1048', '1062', '1264', '1265', '1292', '1364', '1366', '1406', '1451', '1452', '3140', '3819'].includes(
      answer.code,
    ));

export const knownDifferences: readonly KnownDifference[] = [
  {
    dialect: 'postgres',
    what: 'PREPARE, EXECUTE and DEALLOCATE as statements are not supported; the protocol has prepared statements',
    matches: (sql, _ours, theirs) => sql.startsWith('DEALLOCATE ') && failsWith(theirs, '26000'),
  },
  {
    dialect: 'postgres',
    what: 'DISTINCT with ORDER BY of the same constant in an aggregate is no error (42P10)',
    matches: (sql, ours, theirs) => sql.includes('DISTINCT') && ours.kind === 'rows' && failsWith(theirs, '42P10'),
  },
  {
    dialect: 'postgres',
    what: 'a value of a row that is never written is not looked at',
    matches: (_sql, ours, theirs) => ours.kind !== 'error' && failsWith(theirs, '22003', '22P02', '22007', '22008'),
  },
  {
    dialect: 'postgres',
    what: 'a table with pending checks of deferred constraints may be altered (55006)',
    matches: (_sql, _ours, theirs) => failsWith(theirs, '55006'),
  },
  {
    dialect: 'postgres',
    what: 'numbers of sequences are drawn when a row is built: one that ON CONFLICT or a failed conversion leaves out has drawn its own',
    matches: (sql, ours, theirs) =>
      sql.startsWith('INSERT') && cellsDiffer(ours, theirs, (_ours, _theirs, column) => column === 0),
  },
  {
    dialect: 'mysql',
    what: 'a column without a default is missed when the first row is written, not before (1364)',
    matches: (sql, ours, theirs) => / SELECT /.test(sql) && ours.kind === 'done' && failsWith(theirs, '1364'),
  },
  {
    dialect: 'mysql',
    what: 'a quotient inside of an expression is rounded to its scale; MariaDB keeps more digits until the end',
    matches: (sql, ours, theirs) => sql.includes(' / ') && cellsDiffer(ours, theirs, isNear),
  },
  {
    dialect: 'mysql',
    what: 'INSERT IGNORE leaves out duplicates; any other error stays an error',
    matches: (sql, ours, theirs) => sql.startsWith('INSERT IGNORE') && ours.kind === 'error' && theirs.kind === 'done',
  },
  {
    dialect: 'mysql',
    what: 'a statement may read the table that it changes (MySQL: 1093)',
    matches: (_sql, _ours, theirs) => failsWith(theirs, '1093'),
  },
  {
    dialect: 'mysql',
    what: 'MariaDB refuses two columns of one name in a parenthesized set operation (MySQL 8 does not)',
    matches: (sql, _ours, theirs) => /\) *$/.test(sql) && failsWith(theirs, '1060'),
  },
  {
    dialect: 'mysql',
    what: 'tables that a foreign key refers to are not dropped or truncated, with another error number',
    matches: (sql, ours, theirs) =>
      /^(?:DROP|TRUNCATE)/.test(sql) && ours.kind === 'error' && failsWith(theirs, '1451', '1701'),
  },
  {
    dialect: 'mysql',
    what: "MariaDB's collations of computed strings do not mix (1267, 1271)",
    matches: (_sql, _ours, theirs) => failsWith(theirs, '1267', '1271'),
  },
  {
    dialect: 'mysql',
    what: "a column whose text is empty is called ' '",
    matches: (_sql, ours, theirs) =>
      ours.kind === 'rows' && theirs.kind === 'rows' && theirs.columns.some((column) => column.startsWith(' ')),
  },
  {
    dialect: 'mysql',
    what: 'TIMESTAMP holds years before 1970',
    matches: (sql, _ours, theirs) => sql.includes('1960-01-01') && failsWith(theirs, '1292'),
  },
  {
    dialect: 'mysql',
    what: 'where two errors are possible, which one is told',
    matches: (_sql, ours, theirs) => isOfData(ours) && isOfData(theirs),
  },
  {
    dialect: 'postgres',
    what: 'where two errors are possible, which one is told',
    matches: (_sql, ours, theirs) => isOfData(ours) && isOfData(theirs),
  },
];

export function isKnownDifference(dialect: Dialect, sql: string, ours: Answer, theirs: Answer): boolean {
  return knownDifferences.some((known) => known.dialect === dialect && known.matches(sql, ours, theirs));
}
