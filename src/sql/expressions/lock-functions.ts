/** Functions that take locks by a key, and those that sleep: PostgreSQL manual, 9.27.10 and 9.9.5; MySQL manual, "Locking Functions". */
import { SqlError, intervalLength, type Interval, type SqlValue } from '../model/index.ts';
import type { Ambient } from './signature.ts';
import type { LockFunctions, Surroundings } from '../execution.ts';

type Key = readonly (bigint | number)[];

/** A bigint and two integers are keys of two kinds: none of one is one of the other. */
function keyOf(key: Key): string {
  return key.join(', ');
}

function postgresLock(
  name: string,
  call: (from: Surroundings, key: string) => SqlValue,
  result: 'bool' | 'void',
): Record<string, Ambient> {
  const ask = (from: Surroundings, ...key: Key): SqlValue => call(from, keyOf(key));
  return { [`${name}(int8) ${result}`]: ask, [`${name}(int4, int4) ${result}`]: ask };
}

export const postgresLocks: Record<string, Ambient> = {
  ...Object.fromEntries(
    (['session', 'transaction'] as const).flatMap((owner) =>
      (['exclusive', 'share'] as const).flatMap((mode) => {
        const name = `advisory${owner === 'session' ? '' : '_xact'}_lock${mode === 'share' ? '_shared' : ''}`;
        const lock = postgresLock(
          `pg_${name}`,
          ({ locks }, key) => {
            locks.lock(key, mode, owner);
            return '';
          },
          'void',
        );
        const tryLock = postgresLock(`pg_try_${name}`, ({ locks }, key) => locks.tryLock(key, mode, owner), 'bool');
        return [...Object.entries(lock), ...Object.entries(tryLock)];
      }),
    ),
  ),
  ...postgresLock('pg_advisory_unlock', ({ locks }, key) => locks.unlock(key, 'exclusive'), 'bool'),
  ...postgresLock('pg_advisory_unlock_shared', ({ locks }, key) => locks.unlock(key, 'share'), 'bool'),
  'pg_advisory_unlock_all() void': ({ locks }) => {
    locks.unlockAll();
    return '';
  },
  'pg_sleep(float8) void': ({ locks }, seconds: number) => slept(locks, seconds * 1_000),
  'pg_sleep_for(interval) void': ({ locks }, length: Interval) => slept(locks, millisecondsOf(intervalLength(length))),
  'pg_sleep_until(timestamptz) void': ({ locks, clock }, end: bigint) => slept(locks, millisecondsOf(end - clock())),
};

function slept(locks: LockFunctions, ms: number): SqlValue {
  if (ms > 0) locks.sleep(ms);
  return '';
}

function millisecondsOf(microseconds: bigint): number {
  return Number(microseconds) / 1_000;
}

const nameLengthMax = 192;

/** The key of a name, which has no capital letters; `null`: it is no name. @throws SqlError 42000 (1059) */
function mysqlKey(name: string | null): string | null {
  if (name === null || name === '') return null;
  if (name.length > nameLengthMax)
    throw new SqlError('42000', `Identifier name '${name}' is too long`, { mysqlNumber: 1059 });
  return name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function named(call: (from: Surroundings, key: string, ...values: never[]) => SqlValue): Ambient {
  return (from, name: string | null, ...values: never[]) => {
    const key = mysqlKey(name);
    return key === null ? null : call(from, key, ...values);
  };
}

export const mysqlLocks: Record<string, Ambient> = {
  // A negative limit is none, as in MySQL; MariaDB answers NULL.
  'get_lock(text, float8) int8': named(({ locks }, key, seconds: number) =>
    locks.lockWithin(key, seconds < 0 ? Infinity : seconds * 1_000) ? 1n : 0n,
  ),
  'release_lock(text) int8': named(({ locks }, key) => {
    if (locks.unlock(key, 'exclusive')) return 1n;
    return locks.holder(key) === null ? null : 0n;
  }),
  'release_all_locks() int8': ({ locks }) => BigInt(locks.unlockAll()),
  'is_free_lock(text) int8': named(({ locks }, key) => (locks.holder(key) === null ? 1n : 0n)),
  'is_used_lock(text) int8': named(({ locks }, key) => {
    const holder = locks.holder(key);
    return holder === null ? null : BigInt(holder);
  }),
  'sleep(float8) int8': ({ locks }, seconds: number) => {
    if (seconds > 0) locks.sleep(seconds * 1_000);
    return 0n;
  },
};
