import { expect, test } from 'vitest';
import { statementLine } from './statement-line.ts';

test.each([
  ['select  1\n  from t', 'select 1 from t'],
  ['/* req 17 */ select 1 /* a\n b */ from t -- the end', 'select 1 from t'],
  ['select 1 -- one\n from t --', 'select 1 from t'],
  ['select \'/* no */\', "-- no", `/* no */`, $$ -- no $$', 'select \'/* no */\', "-- no", `/* no */`, $$ -- no $$'],
  ["select 'it''s -- no'", "select 'it''s -- no'"],
  ['select /*+ INDEX(t a) */ 1 /*!80000 FOR SHARE */', 'select /*+ INDEX(t a) */ 1 /*!80000 FOR SHARE */'],
  ['select 1--1', 'select 1--1'],
])('%s', (sql, line) => expect(statementLine(sql)).toBe(line));
