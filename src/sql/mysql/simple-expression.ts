/** The innermost level of expressions: literals, names, variables, calls and everything in parentheses. */
import { parseCall, parseTypedForm } from './call.ts';
import type { Cursor, Expression, Name } from './cursor.ts';
import { parseLeadingInterval } from './interval.ts';
import { collation, isString, numberConstant, parseString } from './literal.ts';
import { isSubquery, operand, parseExpression, parseOr, parseSubquery, simple } from './nested.ts';
import { commaList, parenthesized, stringConstant, type Output } from './output.ts';
import type { Token } from './tokens.ts';

export function parseSimple(cursor: Cursor): Expression {
  let found = parsePrefix(cursor);
  for (;;) {
    const at = cursor.peek()?.at ?? 0;
    if (cursor.accept('COLLATE')) {
      const collate = collation(cursor.nameAfterPointOrString());
      if (collate !== '') found = simple(parenthesized([operand(found, 'simple'), collate]));
      continue;
    }
    const arrow = cursor.acceptOneOf('->>', '->');
    if (arrow === undefined) return found;
    const extract: Output = [{ text: 'json_extract(', at }, found.output, ',', parseString(cursor), ')'];
    found = simple(arrow === '->' ? extract : ['json_unquote(', extract, ')']);
  }
}

function parsePrefix(cursor: Cursor): Expression {
  const token = cursor.peek();
  const at = token?.at ?? 0;
  const sign = cursor.acceptOneOf('-', '+', '~');
  if (sign !== undefined) {
    if (sign === '-' && cursor.isKind('number'))
      return { output: { text: `-${numberConstant(cursor.take().text)}`, at }, binding: 'unary' };
    const inner = cursor.nested(() => parseSimple(cursor));
    if (sign === '+') return inner;
    return { output: [{ text: sign, at }, operand(inner, 'simple')], binding: sign === '~' ? 'other' : 'unary' };
  }
  if (cursor.accept('!'))
    return simple(
      parenthesized([
        { text: 'NOT', at },
        operand(
          cursor.nested(() => parseSimple(cursor)),
          'not',
        ),
      ]),
    );
  if (cursor.accept('BINARY'))
    return simple([{ text: 'mysql_binary(', at }, cursor.nested(() => parseSimple(cursor)).output, ')']);
  if (cursor.is('(')) return parseParenthesized(cursor);
  return parseLiteral(cursor) ?? parseKeyword(cursor) ?? parseNamed(cursor);
}

/** A value, a row of values, or a subquery. */
function parseParenthesized(cursor: Cursor): Expression {
  if (isSubquery(cursor)) return simple(parseSubquery(cursor));
  const items = cursor.parenthesized(() => cursor.list(() => parseOr(cursor)));
  const [only] = items;
  if (items.length === 1 && only !== undefined)
    return only.binding === 'simple' ? only : simple(parenthesized(only.output));
  return simple(['(', commaList(items.map((item) => item.output)), ')']);
}

function parseLiteral(cursor: Cursor): Expression | undefined {
  const token = cursor.peek();
  if (token === undefined) return undefined;
  if (isString(cursor)) return simple(parseString(cursor));
  switch (token.kind) {
    case 'number':
      return simple(placed(cursor.take(), numberConstant(token.text)));
    case 'hex':
      return simple(placed(cursor.take(), `X'${token.value}'`));
    case 'bits':
      return simple(placed(cursor.take(), `B'${token.value}'`));
    case 'parameter':
      return simple(placed(cursor.take(), `$${cursor.parameters.get(token) ?? 0}`));
    case 'user-variable':
      return parseUserVariable(cursor);
    case 'system-variable':
      return simple(placed(cursor.take(), systemVariable(token.value)));
    default:
      return undefined;
  }
}

function placed(token: Token, text: string): Output {
  return { text, at: token.at };
}

function parseUserVariable(cursor: Cursor): Expression {
  const token = cursor.take();
  const name = stringConstant(token.value.toLowerCase());
  if (!cursor.accept(':=')) return simple({ text: `mysql_user_variable(${name})`, at: token.at });
  return simple([{ text: 'mysql_set_user_variable(', at: token.at }, name, ',', parseExpression(cursor), ')']);
}

function systemVariable(value: string): string {
  const [scope = '', ...rest] = value.split('.');
  const isScoped = rest.length > 0 && /^(global|session|local|persist|persist_only)$/.test(scope);
  const name = stringConstant(isScoped ? rest.join('.') : value);
  return isScoped && scope !== 'session' && scope !== 'local'
    ? `mysql_variable(${name}, 'global')`
    : `mysql_variable(${name})`;
}

const constants: Readonly<Record<string, string>> = { TRUE: '1', FALSE: '0', NULL: 'NULL' };

function parseKeyword(cursor: Cursor): Expression | undefined {
  const { at = 0 } = cursor.peek() ?? {};
  if (cursor.is('DEFAULT', '(')) throw cursor.unsupported('DEFAULT(column)');
  const constant = cursor.acceptOneOf('TRUE', 'FALSE', 'NULL');
  if (constant !== undefined) return simple({ text: constants[constant] ?? '', at });
  if (cursor.accept('CASE')) return parseCase(cursor);
  if (cursor.accept('EXISTS')) return simple(['EXISTS', parseSubquery(cursor)]);
  if (cursor.is('ROW', '(')) {
    cursor.take();
    return simple(['ROW(', commaList(cursor.parenthesized(() => cursor.list(() => parseExpression(cursor)))), ')']);
  }
  if (cursor.is('INTERVAL')) return parseLeadingInterval(cursor);
  if (cursor.is('MATCH')) throw cursor.unsupported('MATCH ... AGAINST');
  return parseTypedForm(cursor);
}

function parseCase(cursor: Cursor): Expression {
  const subject = cursor.is('WHEN') ? '' : parseExpression(cursor);
  const branches: Output[] = [];
  do {
    cursor.expect('WHEN');
    const when = parseExpression(cursor);
    cursor.expect('THEN');
    branches.push(['WHEN', when, 'THEN', parseExpression(cursor)]);
  } while (cursor.is('WHEN'));
  const last = cursor.accept('ELSE') ? ['ELSE', parseExpression(cursor)] : '';
  cursor.expect('END');
  return simple(['CASE', subject, branches, last, 'END']);
}

/** A column or a function. */
function parseNamed(cursor: Cursor): Expression {
  const call = parseCall(cursor);
  if (call !== undefined) return call;
  return simple(columnReference(cursor, parseNames(cursor)));
}

function parseNames(cursor: Cursor): Name[] {
  const names = [cursor.name()];
  while (cursor.is('.') && !cursor.is('.', '*')) {
    cursor.take();
    names.push(cursor.nameAfterPoint());
  }
  return names;
}

function columnReference(cursor: Cursor, names: readonly Name[]): Output {
  return cursor.columnRule(names) ?? cursor.quoted(...names);
}
