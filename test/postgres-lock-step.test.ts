/** SQL of several sessions, statement by statement: the PostgreSQL profile answers as written and, where one is installed, PostgreSQL does too. */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { startPostgres } from './support/postgres-server.ts';
import { startedOrSkipped } from './support/server-process.ts';
import { moiraiInLockStep, parseCases, postgresInLockStep, runInLockStep } from './support/sql-lock-step.ts';

const postgres = await startedOrSkipped(startPostgres);
const real = postgres && (await postgresInLockStep(postgres.port));
const ours = moiraiInLockStep();

afterAll(async () => {
  await real?.close();
  await ours.close();
  await postgres?.stop();
});

const folder = new URL('postgres-lock-step/', import.meta.url);
const files = readdirSync(folder).map((name) => [name.replace('.txt', ''), new URL(name, folder)] as const);

describe.each(files)('%s', (_subject, file) => {
  test.each(parseCases(readFileSync(file, 'utf8')))(
    '$name',
    { timeout: 60_000 },
    async ({ schema, commands, expected }) => {
      expect(await runInLockStep(ours, schema, commands)).toBe(expected);
      if (real !== undefined) expect(await runInLockStep(real, schema, commands, expected)).toBe(expected);
    },
  );
});
