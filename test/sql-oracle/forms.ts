/** The forms of statements: how often each comes, and in which dialects. */
import type { Dialect } from '../../src/sql/model/index.ts';
import type { Statement } from './answer.ts';
import { Choices } from './choices.ts';
import type { Table } from './schema.ts';
import { WriteMaker } from './writes.ts';

interface Form {
  readonly name: string;
  readonly dialects: readonly Dialect[];
  readonly weight: number;
  readonly make: (maker: WriteMaker) => Statement;
  readonly isWrite?: boolean;
}

const both: readonly Dialect[] = ['postgres', 'mysql'];

export const forms: readonly Form[] = [
  { name: 'SELECT with joins', dialects: both, weight: 4, make: (m) => m.plain() },
  { name: 'ORDER BY and LIMIT', dialects: both, weight: 2, make: (m) => m.ordered() },
  { name: 'aggregates and groups', dialects: both, weight: 3, make: (m) => m.grouped() },
  { name: 'DISTINCT', dialects: both, weight: 1, make: (m) => m.distinct() },
  { name: 'UNION, INTERSECT, EXCEPT', dialects: both, weight: 2, make: (m) => m.union() },
  { name: 'window functions', dialects: both, weight: 2, make: (m) => m.window() },
  { name: 'WITH', dialects: both, weight: 2, make: (m) => m.withQuery() },
  { name: 'VALUES', dialects: both, weight: 1, make: (m) => m.values() },
  { name: 'LATERAL', dialects: ['postgres'], weight: 1, make: (m) => m.lateral() },
  { name: 'prepared statements', dialects: both, weight: 2, make: (m) => m.prepared() },
  { name: 'INSERT', dialects: both, weight: 3, make: (m) => m.insert(), isWrite: true },
  { name: 'upserts', dialects: both, weight: 2, make: (m) => m.upsert(), isWrite: true },
  { name: 'UPDATE', dialects: both, weight: 3, make: (m) => m.update(), isWrite: true },
  { name: 'DELETE', dialects: both, weight: 2, make: (m) => m.delete(), isWrite: true },
  { name: 'WITH that changes', dialects: ['postgres'], weight: 1, make: (m) => m.modifyingWith(), isWrite: true },
  { name: 'transactions', dialects: both, weight: 1, make: (m) => m.transaction(), isWrite: true },
  { name: 'definitions', dialects: both, weight: 2, make: (m) => m.define(), isWrite: true },
];

export interface RandomStatement extends Statement {
  readonly form: string;
  readonly isWrite: boolean;
}

export function randomStatement(
  numbers: readonly number[],
  dialect: Dialect,
  tables: readonly Table[],
): RandomStatement {
  const choices = new Choices(numbers);
  const able = forms
    .filter(({ dialects }) => dialects.includes(dialect))
    .flatMap((form) => Array<Form>(form.weight).fill(form));
  const form = choices.pick(able);
  const statement = form.make(new WriteMaker(choices, dialect, tables));
  return { ...statement, form: form.name, isWrite: form.isWrite === true };
}
