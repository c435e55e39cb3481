import type { Dialect } from '../application.ts';
import { shapeOf } from '../traffic/statement-shape.ts';

/** Equal for the text of the source and what a client sends for it. A list may have any number of elements: a client writes each into the text. */
export function statementKey(sql: string, dialect: Dialect): string {
  return shapeOf(sql, dialect).key.replaceAll(/(\?|\$\d+)(?: , (?:\?|\$\d+))+/g, '$1');
}
