/** What an argument of MySQL's JSON functions is inside a document. */
import { formatText, type SqlValue } from '../model/index.ts';
import { documentValue } from './json-functions.ts';
import type { Call } from './signature.ts';

/** @param i the place of the argument */
export function mysqlDocument(value: SqlValue, given: Call['types'], i: number): unknown {
  const type = given[i];
  if (value === null || type === undefined) return null;
  return ['date', 'time', 'timestamp', 'timestamptz'].includes(type.name)
    ? formatText(value, type, 'mysql')
    : documentValue(value, type);
}

/** What it is as a name or a path; NULL is an empty text. @param i the place of the argument */
export function mysqlText(value: SqlValue, given: Call['types'], i: number): string {
  const type = given[i];
  return value === null || type === undefined ? '' : formatText(value, type, 'mysql');
}
