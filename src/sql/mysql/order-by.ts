/** ORDER BY, LIMIT and windows. */
import type { Node, WindowDef } from '@pgsql/types';
import { numberNode } from '../tree/constant.ts';
import { parameterRef } from '../tree/expression.ts';
import { type Limit, sortBy } from '../tree/query.ts';
import { type FrameBound, windowDef, type WindowFrame } from '../tree/window.ts';
import type { Cursor } from './cursor.ts';
import { parseExpression } from './nested.ts';

/** What result columns stand for, by alias in lower case. */
export type Aliases = ReadonlyMap<string, Node>;

export const noAliases: Aliases = new Map();

/** MySQL's HAVING and ORDER BY know aliases inside of expressions, PostgreSQL's do not: they become what they stand for. */
export function withAliases<T>(cursor: Cursor, aliases: Aliases, inside: () => T): T {
  return cursor.withColumns((names) => {
    const [name] = names;
    const found = names.length === 1 && name !== undefined ? aliases.get(name.value.toLowerCase()) : undefined;
    return found === undefined ? undefined : structuredClone(found);
  }, inside);
}

/** Nothing for ORDER BY NULL, which asks for no order. */
export function parseOrderBy(cursor: Cursor, aliases: Aliases = noAliases): Node[] {
  if (!cursor.accept('ORDER', 'BY')) return [];
  return cursor
    .list(() => {
      if (cursor.accept('NULL')) return undefined;
      const item = isBareName(cursor)
        ? parseExpression(cursor)
        : withAliases(cursor, aliases, () => parseExpression(cursor));
      return sortBy(item, parseDirection(cursor));
    })
    .filter((item) => item !== undefined);
}

export function parseDirection(cursor: Cursor): 'ASC' | 'DESC' | undefined {
  if (cursor.accept('ASC')) return 'ASC';
  return cursor.accept('DESC') ? 'DESC' : undefined;
}

/** A name and nothing else: PostgreSQL too looks for an alias first. */
function isBareName(cursor: Cursor): boolean {
  if (!cursor.isName()) return false;
  const next = cursor.peek(1);
  return next === undefined || /^([,);]|ASC|DESC|LIMIT|FOR|LOCK)$/i.test(next.text);
}

/** From 2^63: more rows than there are, what clients write for OFFSET without a limit. */
const noLimit = 2n ** 63n;

export function parseLimit(cursor: Cursor): Limit | undefined {
  const at = cursor.at();
  if (!cursor.accept('LIMIT')) return undefined;
  const first = parseLimitNumber(cursor);
  if (cursor.accept(',')) return { count: parseLimitNumber(cursor), offset: asOffset(first, at), at };
  const offset = cursor.accept('OFFSET') ? asOffset(parseLimitNumber(cursor), at) : undefined;
  return { count: first, offset, at };
}

/** LIMIT without an offset; `null`: no limit, `undefined`: the word is not there. */
export function parseRowCount(cursor: Cursor): Node | null | undefined {
  return cursor.accept('LIMIT') ? parseLimitNumber(cursor) : undefined;
}

/** One as large as no limit skips every row. */
function asOffset(number: Node | null, at: number): Node {
  return number ?? numberNode(String(noLimit - 1n), at);
}

/** `null`: no limit. */
function parseLimitNumber(cursor: Cursor): Node | null {
  const token = cursor.take();
  if (token.kind === 'parameter') return parameterRef(cursor.parameters.get(token) ?? 0, token.at);
  if (token.kind === 'number' && /^\d+$/.test(token.text))
    return BigInt(token.text) >= noLimit ? null : numberNode(token.text, token.at);
  cursor.back(cursor.mark() - 1);
  throw cursor.syntaxError();
}

/** `(w PARTITION BY ... ORDER BY ... ROWS ...)`. */
export function parseWindow(cursor: Cursor): WindowDef {
  const at = cursor.at();
  return cursor.parenthesized(() => {
    const base = cursor.isName() && !cursor.isOneOf('ROWS') ? cursor.nameText() : undefined;
    const partitionBy = cursor.accept('PARTITION', 'BY') ? cursor.list(() => parseExpression(cursor)) : [];
    const orderBy = parseOrderBy(cursor);
    return windowDef({ base, partitionBy, orderBy, frame: parseFrame(cursor) }, at);
  });
}

function parseFrame(cursor: Cursor): WindowFrame | undefined {
  const word = cursor.acceptOneOf('ROWS', 'RANGE');
  if (word === undefined) return undefined;
  const unit = word === 'ROWS' ? 'rows' : 'range';
  if (!cursor.accept('BETWEEN')) return { unit, start: parseFrameBound(cursor), end: undefined };
  const start = parseFrameBound(cursor);
  cursor.expect('AND');
  return { unit, start, end: parseFrameBound(cursor) };
}

function parseFrameBound(cursor: Cursor): FrameBound {
  if (cursor.accept('CURRENT', 'ROW')) return { place: 'current row', offset: undefined };
  const offset = cursor.accept('UNBOUNDED') ? undefined : parseExpression(cursor);
  const isPreceding = cursor.accept('PRECEDING');
  if (!isPreceding && !cursor.accept('FOLLOWING')) throw cursor.syntaxError();
  if (offset === undefined)
    return { place: isPreceding ? 'unbounded preceding' : 'unbounded following', offset: undefined };
  return { place: isPreceding ? 'preceding' : 'following', offset };
}
