/** Levels as sources name them, and the one that MySQL's SET TRANSACTION keeps for what runs next on a connection. */
import type ts from 'typescript';
import type { IsolationName } from '../../sql/index.ts';
import { type Cell, constant, undefinedValue } from './abstract-value.ts';
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

/** As the path has it. */
const nextLevels = new WeakMap<Connection, Cell>();

/** MySQL 8.0 manual, 15.3.7: of the next transaction alone. */
export function setNextLevel(machine: Machine, connection: Connection, level: IsolationName): void {
  const cell = nextLevels.get(connection) ?? { value: undefinedValue };
  nextLevels.set(connection, cell);
  machine.memory.write(cell, constant(level));
}

/** What runs now has it: a transaction, a statement outside of one, or what ends none. */
export function takeNextLevel(machine: Machine, connection: Connection, at: ts.Node): IsolationName | null {
  const cell = nextLevels.get(connection);
  if (cell === undefined || cell.value.kind === 'undefined') return null;
  const name = constantOf(cell.value);
  machine.memory.write(cell, undefinedValue);
  if (typeof name === 'string') return levelIn(name);
  machine.notUnderstood(at, 'SET TRANSACTION ISOLATION LEVEL on a condition');
  return null;
}
