/** The conditions of a predicate read straight from the bytes of a trace. Positions are as in value-scanner.ts. */
import { closeBrace, closeBracket, comma, isAt, openBracket, skipSpace } from '../../history/index.ts';
import { comparisons, type Condition, type PredicateRead, type Scalar } from '../../trace/index.ts';
import type { ValueScanner } from './value-scanner.ts';

export class PredicateScanner {
  /** What the last list was. */
  predicates: PredicateRead[] = [];
  readonly #values: ValueScanner;

  constructor(values: ValueScanner) {
    this.#values = values;
  }

  /** `[{"table": NAME, "where": [[COLUMN, COMPARISON, VALUE], ...]}, ...]`, as recorders write it. */
  list(bytes: Uint8Array, begin: number): number {
    if (bytes[begin] !== openBracket) return -1;
    this.predicates = [];
    let at = skipSpace(bytes, begin + 1);
    if (bytes[at] === closeBracket) return at + 1;
    for (;;) {
      at = this.#predicate(bytes, at);
      if (at < 0) return -1;
      at = skipSpace(bytes, at);
      if (bytes[at] === closeBracket) return at + 1;
      if (bytes[at] !== comma) return -1;
      at = skipSpace(bytes, at + 1);
    }
  }

  #predicate(bytes: Uint8Array, begin: number): number {
    if (!isAt(bytes, begin, tableField)) return -1;
    let at = this.#values.name(bytes, begin + tableField.length);
    if (at < 0 || !isAt(bytes, at, whereField)) return -1;
    const table = this.#values.image as string;
    const where: Condition[] = [];
    at = skipSpace(bytes, at + whereField.length);
    while (bytes[at] !== closeBracket) {
      at = this.#condition(bytes, at, where);
      if (at < 0) return -1;
      at = skipSpace(bytes, at);
      if (bytes[at] === closeBracket) break;
      if (bytes[at] !== comma) return -1;
      at = skipSpace(bytes, at + 1);
      if (bytes[at] === closeBracket) return -1;
    }
    if (bytes[at + 1] !== closeBrace) return -1;
    this.predicates.push({ table, where });
    return at + 2;
  }

  #condition(bytes: Uint8Array, begin: number, where: Condition[]): number {
    const values = this.#values;
    if (bytes[begin] !== openBracket) return -1;
    let at = values.name(bytes, skipSpace(bytes, begin + 1));
    if (at < 0) return -1;
    const column = values.image as string;
    at = skipSpace(bytes, at);
    if (bytes[at] !== comma) return -1;
    at = values.name(bytes, skipSpace(bytes, at + 1));
    if (at < 0) return -1;
    const comparison = comparisons.find((known) => known === values.image);
    at = skipSpace(bytes, at);
    if (bytes[at] !== comma || comparison === undefined) return -1;
    at = values.scalar(bytes, skipSpace(bytes, at + 1));
    if (at < 0) return -1;
    at = skipSpace(bytes, at);
    if (bytes[at] !== closeBracket) return -1;
    where.push({ column, comparison, value: values.image as Scalar });
    return at + 1;
  }
}

const tableField = new TextEncoder().encode('{"table":');
const whereField = new TextEncoder().encode(',"where":[');
