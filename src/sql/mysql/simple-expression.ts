/** The innermost level of expressions: literals, names, variables, calls and everything in parentheses. */
import type { Node } from '@pgsql/types';
import { bitsNode, integerNode, nullNode, numberNode } from '../tree/constant.ts';
import {
  type Branch,
  caseOf,
  collated,
  columnRef,
  exists,
  funcCall,
  negated,
  not,
  parameterRef,
  prefixOperation,
  row,
  scalarSubquery,
} from '../tree/expression.ts';
import { mysqlCall } from '../tree/mysql.ts';
import { parseCall, parseTypedForm } from './call.ts';
import type { Cursor, Name } from './cursor.ts';
import { parseLeadingInterval } from './interval.ts';
import { collation, isString, numberText, parseString } from './literal.ts';
import { isSubquery, parseExpression, parseSubqueryNode } from './nested.ts';

export function parseSimple(cursor: Cursor): Node {
  let found = parsePrefix(cursor);
  for (;;) {
    const at = cursor.at();
    if (cursor.accept('COLLATE')) {
      const name = collation(cursor.nameAfterPointOrString());
      if (name !== undefined) found = collated(found, name, at);
      continue;
    }
    const arrow = cursor.acceptOneOf('->>', '->');
    if (arrow === undefined) return found;
    const extract = funcCall('json_extract', [found, parseString(cursor)], at);
    found = arrow === '->' ? extract : funcCall('json_unquote', [extract], at);
  }
}

function parsePrefix(cursor: Cursor): Node {
  const at = cursor.at();
  const operand = (): Node => cursor.nested(() => parseSimple(cursor));
  const sign = cursor.acceptOneOf('-', '+', '~', '!', 'BINARY');
  switch (sign) {
    case '-':
      return cursor.isKind('number')
        ? negated(numberNode(numberText(cursor.take().text), at), at)
        : negated(operand(), at);
    case '+':
      return operand();
    case '~':
      return prefixOperation('~', operand(), at);
    case '!':
      return not(operand(), at);
    case 'BINARY':
      return mysqlCall({ kind: 'binary' }, [operand()], at);
    default:
      if (cursor.is('(')) return parseParenthesized(cursor, at);
      return parseLiteral(cursor, at) ?? parseKeyword(cursor, at) ?? parseNamed(cursor);
  }
}

/** A value, a row of values, or a subquery. */
function parseParenthesized(cursor: Cursor, at: number): Node {
  if (isSubquery(cursor)) return scalarSubquery(parseSubqueryNode(cursor), at);
  const items = cursor.parenthesized(() => cursor.list(() => parseExpression(cursor)));
  const [only] = items;
  return items.length === 1 && only !== undefined ? only : row(items, false, at);
}

function parseLiteral(cursor: Cursor, at: number): Node | undefined {
  const token = cursor.peek();
  if (token === undefined) return undefined;
  if (isString(cursor)) return parseString(cursor);
  switch (token.kind) {
    case 'number':
      return numberNode(numberText(cursor.take().text), at);
    case 'hex':
      return bitsNode(`x${cursor.take().value}`, at);
    case 'bits':
      return bitsNode(`b${cursor.take().value}`, at);
    case 'parameter':
      return parameterRef(cursor.parameters.get(cursor.take()) ?? 0, at);
    case 'user-variable':
      return parseUserVariable(cursor, at);
    case 'system-variable':
      return systemVariable(cursor.take().value, at);
    default:
      return undefined;
  }
}

function parseUserVariable(cursor: Cursor, at: number): Node {
  const name = cursor.take().value.toLowerCase();
  if (!cursor.accept(':=')) return mysqlCall({ kind: 'user variable', name }, [], at);
  return mysqlCall({ kind: 'set user variable', name }, [parseExpression(cursor)], at);
}

function systemVariable(value: string, at: number): Node {
  const [scope = '', ...rest] = value.split('.');
  const isScoped = rest.length > 0 && /^(global|session|local|persist|persist_only)$/.test(scope);
  const name = isScoped ? rest.join('.') : value;
  const isGlobal = isScoped && scope !== 'session' && scope !== 'local';
  return mysqlCall({ kind: 'variable', name, isGlobal }, [], at);
}

function parseKeyword(cursor: Cursor, at: number): Node | undefined {
  if (cursor.is('DEFAULT', '(')) throw cursor.unsupported('DEFAULT(column)');
  if (cursor.accept('TRUE')) return integerNode(1, at);
  if (cursor.accept('FALSE')) return integerNode(0, at);
  if (cursor.accept('NULL')) return nullNode(at);
  if (cursor.accept('CASE')) return parseCase(cursor, at);
  if (cursor.accept('EXISTS')) return exists(parseSubqueryNode(cursor), at);
  if (cursor.is('ROW', '(')) {
    cursor.take();
    return row(
      cursor.parenthesized(() => cursor.list(() => parseExpression(cursor))),
      true,
      at,
    );
  }
  if (cursor.is('INTERVAL')) return parseLeadingInterval(cursor);
  if (cursor.is('MATCH')) throw cursor.unsupported('MATCH ... AGAINST');
  return parseTypedForm(cursor);
}

function parseCase(cursor: Cursor, at: number): Node {
  const subject = cursor.is('WHEN') ? undefined : parseExpression(cursor);
  const branches: Branch[] = [];
  do {
    const { at: whenAt } = cursor.expect('WHEN');
    const when = parseExpression(cursor);
    cursor.expect('THEN');
    branches.push({ when, result: parseExpression(cursor), at: whenAt });
  } while (cursor.is('WHEN'));
  const otherwise = cursor.accept('ELSE') ? parseExpression(cursor) : undefined;
  cursor.expect('END');
  return caseOf(subject, branches, otherwise, at);
}

/** A column or a function. */
function parseNamed(cursor: Cursor): Node {
  return parseCall(cursor) ?? columnReference(cursor, parseNames(cursor));
}

function parseNames(cursor: Cursor): Name[] {
  const names = [cursor.name()];
  while (cursor.is('.') && !cursor.is('.', '*')) {
    cursor.take();
    names.push(cursor.nameAfterPoint());
  }
  return names;
}

function columnReference(cursor: Cursor, names: readonly Name[]): Node {
  return cursor.columnRule(names) ?? columnNamed(cursor, names);
}

function columnNamed(cursor: Cursor, names: readonly Name[]): Node {
  return columnRef(cursor.checked(...names), names[0]?.at ?? 0);
}
