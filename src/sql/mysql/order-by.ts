/** ORDER BY, LIMIT and windows. */
import type { Cursor } from './cursor.ts';
import { parseExpression } from './nested.ts';
import { commaList, parenthesized, type Output } from './output.ts';

/** What result columns stand for, by alias in lower case. */
export type Aliases = ReadonlyMap<string, Output>;

export const noAliases: Aliases = new Map();

/** MySQL's HAVING and ORDER BY know aliases inside of expressions, PostgreSQL's do not: they become what they stand for. */
export function withAliases<T>(cursor: Cursor, aliases: Aliases, inside: () => T): T {
  return cursor.withColumns((names) => {
    const [name] = names;
    const found = names.length === 1 && name !== undefined ? aliases.get(name.value.toLowerCase()) : undefined;
    return found === undefined ? undefined : parenthesized(found);
  }, inside);
}

/** ORDER BY NULL asks for no order. */
export function parseOrderBy(cursor: Cursor, aliases: Aliases = noAliases): Output {
  cursor.expect('ORDER', 'BY');
  const items = cursor
    .list(() => {
      if (cursor.accept('NULL')) return undefined;
      const item = isBareName(cursor)
        ? parseExpression(cursor)
        : withAliases(cursor, aliases, () => parseExpression(cursor));
      return [item, cursor.acceptOneOf('ASC', 'DESC') ?? ''];
    })
    .filter((item) => item !== undefined);
  return items.length === 0 ? '' : ['ORDER BY', commaList(items)];
}

/** A name and nothing else: PostgreSQL too looks for an alias first. */
function isBareName(cursor: Cursor): boolean {
  if (!cursor.isName()) return false;
  const next = cursor.peek(1);
  return next === undefined || /^([,);]|ASC|DESC|LIMIT|FOR|LOCK)$/i.test(next.text);
}

/** From 2^63: more rows than there are, what clients write for OFFSET without a limit. */
const noLimit = 2n ** 63n;

export function parseLimit(cursor: Cursor): Output {
  if (!cursor.accept('LIMIT')) return '';
  const first = parseLimitNumber(cursor);
  if (cursor.accept(',')) return ['LIMIT', parseLimitNumber(cursor), 'OFFSET', asOffset(first)];
  return cursor.accept('OFFSET') ? ['LIMIT', first, 'OFFSET', asOffset(parseLimitNumber(cursor))] : ['LIMIT', first];
}

/** ALL is no offset; one as large skips every row. */
function asOffset(number: LimitNumber): LimitNumber {
  return number.text === 'ALL' ? { text: '9223372036854775807', at: number.at } : number;
}

interface LimitNumber {
  readonly text: string;
  readonly at: number;
}

function parseLimitNumber(cursor: Cursor): LimitNumber {
  const token = cursor.take();
  if (token.kind === 'parameter') return { text: `$${cursor.parameters.get(token) ?? 0}`, at: token.at };
  if (token.kind === 'number' && /^\d+$/.test(token.text))
    return { text: BigInt(token.text) >= noLimit ? 'ALL' : token.text, at: token.at };
  cursor.back(cursor.mark() - 1);
  throw cursor.syntaxError();
}

/** `(w PARTITION BY ... ORDER BY ... ROWS ...)`. */
export function parseWindow(cursor: Cursor): Output {
  return parenthesized(
    cursor.parenthesized(() => {
      const base = cursor.isName() && !cursor.isOneOf('ROWS') ? cursor.quoted(cursor.name()) : '';
      const partition = cursor.accept('PARTITION', 'BY')
        ? ['PARTITION BY', commaList(cursor.list(() => parseExpression(cursor)))]
        : '';
      const orderBy = cursor.is('ORDER', 'BY') ? parseOrderBy(cursor) : '';
      return [base, partition, orderBy, parseFrame(cursor)];
    }),
  );
}

function parseFrame(cursor: Cursor): Output {
  const unit = cursor.acceptOneOf('ROWS', 'RANGE');
  if (unit === undefined) return '';
  if (!cursor.accept('BETWEEN')) return [unit, parseFrameBound(cursor)];
  const from = parseFrameBound(cursor);
  cursor.expect('AND');
  return [unit, 'BETWEEN', from, 'AND', parseFrameBound(cursor)];
}

function parseFrameBound(cursor: Cursor): Output {
  if (cursor.accept('CURRENT', 'ROW')) return 'CURRENT ROW';
  const amount = cursor.accept('UNBOUNDED') ? 'UNBOUNDED' : parseExpression(cursor);
  const side = cursor.acceptOneOf('PRECEDING', 'FOLLOWING');
  if (side === undefined) throw cursor.syntaxError();
  return [amount, side];
}
