/** What statements of both servers share: their table t and the reads of it. */
import type { Random, Statement } from './random-statements.ts';

export const id = (random: Random): number => 1 + random(5);

/** Of few values, so that updates often change nothing. */
export const few = (random: Random): number => random(3);

/** @param lock what a SELECT ends with */
export const readsOf = (lock: (random: Random) => string): readonly Statement[] => [
  (r) => `SELECT * FROM t WHERE id = ${id(r)}${lock(r)}`,
  (r) => `SELECT id, v, w FROM t WHERE id IN (${id(r)}, ${id(r)})${lock(r)}`,
  (r) => `SELECT id, k FROM t WHERE k = ${few(r)}${lock(r)}`,
  (r) => `SELECT id, k, v FROM t WHERE k >= ${few(r)}${lock(r)}`,
  (r) => `SELECT id, u FROM t WHERE u = ${id(r)}${lock(r)}`,
  (r) => `SELECT id, v FROM t ORDER BY id LIMIT ${1 + r(5)}${lock(r)}`,
  (r) => `SELECT count(*) FROM t WHERE w = ${few(r)}`,
];
