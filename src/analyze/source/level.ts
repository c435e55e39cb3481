/** Levels as sources name them, and the one that MySQL's SET TRANSACTION keeps for what runs next on a connection. */
import type ts from 'typescript';
import type { IsolationName } from '../../sql/index.ts';
import { constant, undefinedValue } from './abstract-value.ts';
import type { Connection } from './emitter.ts';
import type { Machine } from './machine.ts';
import { constantOf } from './value-arithmetic.ts';

/** `isolation level repeatable read` or a driver's own spelling, `REPEATABLE_READ`; `null` where it names none. */
export function levelIn(text: string): IsolationName | null {
  const [name] =
    /read[\s_-]?uncommitted|read[\s_-]?committed|repeatable[\s_-]?read|serializable|snapshot/i.exec(text) ?? [];
  if (name === undefined) return null;
  const plain = name.toLowerCase().replaceAll(/[\s_-]/g, '');
  const levels: Readonly<Record<string, IsolationName>> = {
    readuncommitted: 'read uncommitted',
    readcommitted: 'read committed',
    repeatableread: 'repeatable read',
    snapshot: 'repeatable read',
    serializable: 'serializable',
  };
  return levels[plain] ?? null;
}

/** MySQL 8.0 manual, 15.3.7: of the next transaction alone. */
export function setNextLevel(machine: Machine, connection: Connection, level: IsolationName): void {
  connection.nextLevel ??= { value: undefinedValue };
  machine.memory.write(connection.nextLevel, constant(level));
}

/** What runs now has it: a transaction, a statement outside of one, or what ends none. */
export function takeNextLevel(machine: Machine, connection: Connection, at: ts.Node): IsolationName | null {
  const { nextLevel } = connection;
  const level = nextLevel?.value ?? undefinedValue;
  if (nextLevel === null || level.kind === 'undefined') return null;
  machine.memory.write(nextLevel, undefinedValue);
  const name = constantOf(level);
  if (typeof name === 'string') return levelIn(name);
  machine.notUnderstood(at, 'SET TRANSACTION ISOLATION LEVEL on a condition');
  return null;
}
