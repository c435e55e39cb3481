/**
 * Ten bugs as developers write them, through the libraries that they use, with uuid keys and wide tables: the anomaly is named, and the first remedy is
 * one that holds in every schedule.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseProfile } from '../src/database/index.ts';
import { exploreRemedies, exploreSql } from '../src/explore/sql/index.ts';
import { isSqlProgram } from '../src/program/index.ts';
import { root } from './support/cli.ts';

const lock = (part: string) => ({ kind: 'lock', statements: [expect.stringContaining(part)] });
const unique = (table: string, columns: readonly string[]) => ({ kind: 'unique', table, columns });

/** By program: the anomaly, the remedy, and the error with which it ends the loser of the race. */
const mistakes: readonly (readonly [program: string, anomaly: string, remedy: object, errors: readonly string[]])[] = [
  ['count-then-insert', 'write-skew', lock('FROM `enrollments`'), []],
  // The second UPDATE finds the value that it writes, and writes nothing.
  ['coupon-limit', 'non-repeatable-read', lock('FROM coupons'), []],
  ['double-spend', 'lost-update', lock('FROM wallets'), []],
  ['duplicate-invite', 'write-skew', unique('invitations', ['team_id', 'email']), ['23505']],
  ['idempotency-key', 'write-skew', unique('requests', ['idempotency_key']), ['23505']],
  ['job-queue', 'lost-update', lock('FROM jobs'), []],
  ['last-admin', 'write-skew', lock('from `members`'), []],
  ['overlapping-booking', 'write-skew', lock('from "rooms"'), []],
  ['oversell', 'lost-update', lock('from "products"'), []],
  ['unique-slug', 'write-skew', unique('posts', ['slug']), ['23505']],
];

const folder = 'examples/mistakes';

test('every program of the folder is here', () => {
  const names = readdirSync(join(root, folder)).flatMap((file) => /^(.*)\.program\.ts$/.exec(file)?.slice(1) ?? []);
  expect(names.toSorted()).toEqual(mistakes.map(([name]) => name));
});

test.each(mistakes)(
  '%s: %s, and what is suggested holds',
  { timeout: 240_000 },
  async (name, anomaly, remedy, errors) => {
    const { default: program } = (await import(join(root, folder, `${name}.program.ts`))) as { default: unknown };
    if (!isSqlProgram(program)) throw new Error(`${name} is no SQL program`);
    const result = await exploreSql(program, { profile: parseProfile({ engine: program.dialect }) });
    expect(result.failures[0]).toMatchObject({ kind: 'invariant-broken', anomaly });
    const [best] = await exploreRemedies(program, result, {});
    expect(best).toMatchObject({ remedy, holds: true, complete: true, invariantBroken: 0, errors });
  },
);
