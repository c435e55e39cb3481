/**
 * The constants of a text made parameters, so that texts which differ in constants only have one plan: parsing costs a hundred times what
 * recording does. Only where it is certain to change nothing: a number or a string right after `=`, `<`, `>`, `(` or `,`, in a text without
 * parameters, comments and escapes. What the parser then refuses (`numeric(9, 2)`, `date '...'`) is planned as it stands.
 */
import type { Dialect } from '../sql/model/index.ts';
import { captureRules } from './dialect.ts';

export interface Shape {
  readonly text: string;
  readonly values: readonly (string | number)[];
}

const suspicious = /[\\$?#]|--|\/\*/;
const statement = /^\s*(?:select|insert|update|delete|replace)\b/i;
const constants = /([=(,<>]\s*)('(?:[^']|'')*'(?!')|-?\d+(?:\.\d+)?(?![\w.]))|'(?:[^']|'')*'|"[^"]*"|`[^`]*`/g;
const textLengthMax = 10_000;

/** `null`: there is nothing to take out, or it is not certain what. O(length). */
export function shapeOf(sql: string, dialect: Dialect): Shape | null {
  if (sql.length > textLengthMax || suspicious.test(sql) || !statement.test(sql)) return null;
  const values: (string | number)[] = [];
  let isSure = true;
  const text = sql.replaceAll(constants, (whole: string, lead: string | undefined, constant: string | undefined) => {
    if (lead === undefined || constant === undefined) return whole;
    const value = constant.startsWith("'") ? constant.slice(1, -1).replaceAll("''", "'") : Number(constant);
    // 2.50 is another text than 2.5, and an integer may be too long for a number.
    if (typeof value === 'number' && String(value) !== constant) isSure = false;
    values.push(value);
    return `${lead}${captureRules[dialect].placeholder(values.length)}`;
  });
  return isSure && values.length > 0 ? { text, values } : null;
}
