/** Prisma does the same as every other client. On request: it is installed for the test, which takes a network and 311 MB. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isolations } from './levels.ts';
import { openPrisma, type PrismaClasses, prismaDrivers, prismaVersions } from './prisma/prisma-shop.ts';
import { type ServedHere, serve } from './served.ts';
import type { Driver, Shop } from './shop.ts';
import { stepsOf } from './shop-steps.ts';

const isWanted = process.env['MOIRAI_PRISMA'] === '1';
if (!isWanted) process.stderr.write('skipped: Prisma is tested with MOIRAI_PRISMA=1, which installs 311 MB\n');

const minutes = 60_000;
const runFile = promisify(execFile);
const dialects = ['postgres', 'mysql'] as const;

const entry = `export { PrismaPg } from '@prisma/adapter-pg';
export { PrismaMariaDb } from '@prisma/adapter-mariadb';
export { PrismaClient as PostgresClient } from './postgres/client/client.ts';
export { PrismaClient as MysqlClient } from './mysql/client/client.ts';
`;

/** Installs Prisma there and generates a client of each dialect. */
async function install(folder: string): Promise<PrismaClasses> {
  const manifest = { private: true, type: 'module', dependencies: prismaVersions };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  await runFile('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
  // `prisma generate` wants a schema engine, which it would download, and does not use it.
  const engine = join(folder, 'engine.sh');
  writeFileSync(engine, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: engine, CHECKPOINT_DISABLE: '1' };
  const program = join(folder, 'node_modules/prisma/build/index.js');
  for (const dialect of dialects) {
    mkdirSync(join(folder, dialect));
    const schema = join(folder, dialect, 'schema.prisma');
    copyFileSync(fileURLToPath(new URL(`prisma/${dialect}.prisma`, import.meta.url)), schema);
    await runFile(process.execPath, [program, 'generate', '--schema', schema], { cwd: folder, env });
  }
  writeFileSync(join(folder, 'entry.ts'), entry);
  return (await import(/* @vite-ignore */ join(folder, 'entry.ts'))) as PrismaClasses;
}

describe.runIf(isWanted)('Prisma', () => {
  let classes: PrismaClasses;
  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'moirai-prisma-'));
    const remove = (): void => rmSync(folder, { recursive: true, force: true });
    try {
      classes = await install(folder);
    } catch (error) {
      remove();
      throw error;
    }
    return remove;
  }, 5 * minutes);

  const cases = prismaDrivers.flatMap((row) => isolations[row.dialect].map((isolation) => ({ row, isolation })));
  describe.each(cases)('$row.dialect, $isolation', ({ row, isolation }) => {
    const driver: Driver = { ...row, open: async (served) => openPrisma(classes, row.dialect, served) };
    let served: ServedHere;
    let shop: Shop;
    beforeAll(async () => {
      served = await serve({ engine: row.dialect, isolation });
      shop = await driver.open(served);
    });
    afterAll(async () => {
      await shop.close();
      await served.close();
    });
    test.each(stepsOf(driver))('$name', { timeout: 5 * minutes }, async ({ run }) => {
      await run(shop, served, driver);
      expect(served.bugs).toEqual([]);
    });
  });
});
