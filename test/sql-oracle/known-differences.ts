/** What differs from the real servers and stays so for now; docs/sql.md lists it with the reasons. A scenario ends where it meets one. */
import type { Dialect } from '../../src/sql/index.ts';
import type { Answer } from './answer.ts';

export interface KnownDifference {
  readonly dialect: Dialect;
  readonly what: string;
  readonly matches: (sql: string, ours: Answer, theirs: Answer) => boolean;
}

const failsWith = (answer: Answer, ...codes: readonly string[]): boolean =>
  answer.kind === 'error' && codes.includes(answer.code);

/** Of values and constraints: SQLSTATE classes 22 and 23, and MySQL's numbers for them. */
const isOfData = (answer: Answer): boolean =>
  answer.kind === 'error' &&
  (/^2[23]|^428C9$/.test(answer.code) ||
    ['1048', '1062', '1264', '1265', '1292', '1364', '1366', '1406', '1451', '1452', '3140', '3819'].includes(
      answer.code,
    ));

export const knownDifferences: readonly KnownDifference[] = [
  {
    dialect: 'mysql',
    what: 'INSERT IGNORE leaves out duplicates; any other error stays an error',
    matches: (sql, ours, theirs) => /^INSERT IGNORE/.test(sql) && ours.kind === 'error' && theirs.kind === 'done',
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
