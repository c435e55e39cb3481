/** Random INSERT, UPDATE and DELETE over tables that refer to each other: for comparing with a real server. */
import type { Chooser } from '../../src/base/chooser.ts';

export const modificationTables: readonly string[] = [
  'CREATE TABLE p (id int PRIMARY KEY, u int UNIQUE, v int CHECK (v <> 13))',
  'CREATE TABLE c (id int PRIMARY KEY, p int REFERENCES p ON DELETE CASCADE ON UPDATE CASCADE, q int REFERENCES p (u) ON DELETE SET NULL, n int NOT NULL DEFAULT 3)',
  'CREATE TABLE d (id int PRIMARY KEY, c int REFERENCES c ON DELETE RESTRICT, t int DEFAULT 1 REFERENCES p ON DELETE SET DEFAULT ON UPDATE SET NULL)',
  'CREATE UNIQUE INDEX c_n ON c (n) WHERE p IS NULL',
];

/** What to compare after every statement. */
export const modificationStates: readonly string[] = ['p', 'c', 'd'].map(
  (table) => `SELECT * FROM ${table} ORDER BY id`,
);

const columns: Readonly<Record<string, readonly string[]>> = { p: ['u', 'v'], c: ['p', 'q', 'n'], d: ['c', 't'] };

export function randomModification(chooser: Chooser): string {
  const pick = <T>(options: readonly T[]): T => options[chooser.choose(options.length)] as T;
  const key = (): string => pick(['1', '2', '3', '4']);
  const value = (): string => pick(['0', '1', '2', '3', '4', 'NULL', '13']);
  const table = pick(['p', 'p', 'c', 'd']);
  const others = columns[table] ?? [];
  const row = (): string => `(${key()}, ${others.map(() => pick([value(), value(), 'DEFAULT'])).join(', ')})`;
  const conflict = pick([
    '',
    '',
    ' ON CONFLICT DO NOTHING',
    ' ON CONFLICT (id) DO NOTHING',
    ` ON CONFLICT (id) DO UPDATE SET ${others[0]} = excluded.${others[0]}`,
    ` ON CONFLICT (id) DO UPDATE SET id = ${table}.id + 1 WHERE ${table}.id < ${key()}`,
  ]);
  const where = pick([
    `id = ${key()}`,
    `id > ${key()}`,
    `id IN (${key()}, ${key()})`,
    `${pick(others)} IS NULL`,
    `${pick(others)} = ${key()}`,
    `id IN (SELECT id FROM ${pick(['p', 'c', 'd'])} WHERE id < ${key()})`,
  ]);
  return pick([
    `INSERT INTO ${table} VALUES ${row()}${conflict}`,
    `INSERT INTO ${table} VALUES ${row()}, ${row()}${conflict}`,
    `UPDATE ${table} SET ${pick(['id', ...others])} = ${value()} WHERE ${where}`,
    `UPDATE ${table} SET id = id + 10 WHERE ${where}`,
    `UPDATE ${table} SET ${pick(others)} = ${pick(others)} + 1 WHERE ${where}`,
    `DELETE FROM ${table} WHERE ${where}`,
    `UPDATE c SET n = p.v FROM p WHERE p.id = c.p AND p.id = ${key()}`,
    `DELETE FROM c USING p WHERE c.q = p.u AND p.v = ${key()}`,
    `INSERT INTO c (id, p, n) SELECT id + ${key()}, id, v FROM p WHERE v IS NOT NULL ORDER BY id${pick(['', ' ON CONFLICT DO NOTHING'])}`,
  ]);
}
