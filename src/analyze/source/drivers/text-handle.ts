/** `query(text)` on something of which the origin is not known, where the text is SQL: what a plugin or a container gives. */
import type ts from 'typescript';
import type { Value } from '../../application.ts';
import { type Abstract, constant, type Native, unknown } from '../abstract-value.ts';
import type { Connection } from '../emitter.ts';
import type { Machine } from '../machine.ts';
import { commonConnection, openConnection } from '../common-connection.ts';
import { isMapCall } from '../map-call.ts';
import { calledName, outsideMethod, type OutsideCall } from '../called-name.ts';
import { holdsWholeStatement, isSqlText, startsAsSql } from '../sql-text.ts';
import { valueOf } from '../value-arithmetic.ts';
import { mysqlClient } from './mysql2.ts';
import { pgClient } from './pg.ts';
import { sqlOf } from './postgres.ts';

interface Client {
  readonly open: (machine: Machine, connection: Connection) => Native;
  /** Transactions are begun and ended by these, not by text alone. */
  readonly transactionMethods: ReadonlySet<string>;
}

/** The commonest driver of each dialect. */
const clients: Readonly<Record<Machine['dialect'], Client>> = {
  postgres: { open: pgClient, transactionMethods: new Set() },
  mysql: {
    open: (machine, connection) => mysqlClient(machine, connection, 'either'),
    transactionMethods: new Set(['beginTransaction', 'commit', 'rollback']),
  },
};

export const textHandle: OutsideCall = (machine, callee, args, at) => {
  const called = outsideMethod(machine, callee, at);
  if (called === undefined) return undefined;
  const { method } = called;
  if (clients[machine.dialect].transactionMethods.has(method)) {
    return machine.call(clientOf(machine).member?.(method, at) ?? unknown(method), args, at);
  }
  if (!isSql(args[0])) return undefined;
  if (!/^(?:query|execute|unsafe)$/i.test(method)) {
    if (isWholeStatement(args[0]) && !isConsole(callee) && !isMapCall(machine, called.call))
      machine.notUnderstood(at, `SQL is passed to ${calledName(machine, at)}, which is not in the sources`);
    return undefined;
  }
  const query = clientOf(machine).member?.('query', at);
  return query === undefined ? unknown('a result') : machine.call(query, args, at);
};

/**
 * The tag of a template, where the tag's origin is not known: `locals.sql`, `prisma.$queryRaw`. It is known by a whole statement, or by its name:
 * the template may be a part of one.
 */
export function textTag(
  machine: Machine,
  tag: Abstract,
  texts: readonly string[],
  at: ts.TaggedTemplateExpression,
): Native | undefined {
  const isOpaque = tag.kind === 'value' || (tag.kind === 'external' && tag.module !== '');
  const isStatement = isWholeStatement(constant(texts.join('?'))) && isSql(constant(texts[0] ?? ''));
  if (!isOpaque || !(isStatement || isNamedSql(tag, at.tag))) return undefined;
  if (!isStatement) machine.assumed.add(`${at.tag.getText()} is the tag of a SQL driver, as its name says`);
  return sqlOf(machine, openConnection(machine));
}

/** `this.sql(columns)` in a template of `this.sql`. */
export const sqlHelper: OutsideCall = (machine, callee, args, at) => {
  const { ts } = machine.project;
  if (!ts.isCallExpression(at) || !ts.isTemplateSpan(at.parent) || !isNamedSql(callee, at.expression)) return undefined;
  return ts.isTaggedTemplateExpression(at.parent.parent.parent) ? sqlOf(machine, null).call?.(args, at) : undefined;
};

/** What a container, a parameter or a call outside the sources gave, not an import: that is known by its module. */
function isNamedSql(value: Abstract, at: ts.Expression): boolean {
  const isMade = value.kind === 'value' || (value.kind === 'external' && value.path.includes('()'));
  return isMade && /(?:^|\.)sql$/i.test(at.getText());
}

function isConsole(callee: Abstract): boolean {
  return callee.kind === 'external' && callee.module === '' && callee.path[0] === 'console';
}

function clientOf(machine: Machine): Native {
  return openClient(machine, commonConnection(machine));
}

export function openClient(machine: Machine, connection: Connection): Native {
  return clients[machine.dialect].open(machine, connection);
}

function isWholeStatement(abstract: Abstract | undefined): boolean {
  return holdsWholeStatement(JSON.stringify(abstract === undefined ? '' : valueOf(abstract)));
}

function isSql(abstract: Abstract | undefined): boolean {
  if (abstract === undefined) return false;
  if (abstract.kind === 'object')
    return isSql(abstract.properties.get('text')?.value ?? abstract.properties.get('sql')?.value);
  return isSqlValue(valueOf(abstract));
}

/** On some path, where it differs by path. */
function isSqlValue(value: Value): boolean {
  if (value.kind === 'constant') return isSqlText(String(value.value));
  if (value.kind !== 'expression') return false;
  const [first, ...rest] = value.operands;
  if (value.operator === 'if') return rest.some(isSqlValue);
  if (value.operator !== '||' || first === undefined) return false;
  return first.kind === 'constant' ? startsAsSql(String(first.value)) : isSqlValue(first);
}
