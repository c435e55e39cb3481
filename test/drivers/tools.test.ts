/** Clients that are programs of their own: psql, mariadb, and JDBC by a small Java program. */
import { mkdtempSync, rmSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findProgram, MissingServer, run, serversAreRequired } from '../support/server-process.ts';
import { Command } from './command.ts';
import { type CommandLine, mariadbCommand, psql } from './command-lines.ts';
import { connectorJ, type JdbcDriver, pgjdbc } from './jdbc.ts';
import { isolations } from './levels.ts';
import { type ServedHere, serve } from './served.ts';
import { tables } from './sql-shop.ts';

/** Is what a test needs there? Otherwise one line says how to get it. @throws MissingServer where it has to be there */
function isThere(found: boolean, what: string, debian: string): boolean {
  if (found) return true;
  const message = `${what} is not installed; on Debian: apt-get install ${debian}`;
  if (serversAreRequired()) throw new MissingServer(message);
  process.stderr.write(`skipped: ${message}\n`);
  return false;
}

async function isWaited({ database }: ServedHere): Promise<void> {
  await expect.poll(() => database.scheduler.waiting().some(({ wait }) => wait !== null), { interval: 5 }).toBe(true);
}

describe.each([psql, mariadbCommand])('$name', (tool: CommandLine) => {
  const hasTool = isThere(findProgram([tool.program]) !== undefined, tool.program, tool.debian);
  describe.skipIf(!hasTool).each(isolations[tool.dialect])('%s', (isolation) => {
    let served: ServedHere;
    beforeAll(async () => {
      served = await serve({ engine: tool.dialect, isolation });
      return () => served.close();
    });

    test('a script', async () => {
      const output = await tool.start(served).end(tool.script);
      expect(output.replaceAll(/at line \d+/g, 'at line N')).toBe(tool.answer);
    });

    test('one waits for the other', async () => {
      const [first, second] = [tool.start(served), tool.start(served)];
      first.write("begin; update book set price = 10 where title = 'plain'; select 'locked';\n");
      expect(await first.hasWritten('locked\n')).toBe(true);
      const waiting = second.end("update book set price = 11 where title = 'plain';\n");
      await isWaited(served);
      const ended = first.end('commit;\n');
      const isRefused = tool.dialect === 'postgres' && isolation !== 'read committed';
      expect(await waiting).toContain(
        isRefused ? 'could not serialize access' : tool.dialect === 'postgres' ? 'UPDATE 1' : '',
      );
      await ended;
      const price = await tool.start(served).end("select price from book where title = 'plain';\n");
      expect(price).toBe(isRefused ? '10.00\n' : '11.00\n');
    });
  });
});

describe.each([pgjdbc, connectorJ])('$name', (driver: JdbcDriver) => {
  const hasJava = isThere(findProgram(['javac']) !== undefined, 'a JDK', 'default-jdk-headless');
  const hasDriver = isThere(existsSync(driver.jar), driver.jar, driver.debian);
  const folder = mkdtempSync(join(tmpdir(), 'moirai-jdbc-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  describe.skipIf(!hasJava || !hasDriver).each(isolations[driver.dialect])('%s', (isolation) => {
    test('the shop', async () => {
      const served = await serve({ engine: driver.dialect, isolation });
      const source = fileURLToPath(new URL('Shop.java', import.meta.url));
      if (!existsSync(join(folder, 'Shop.class'))) run('javac', ['-encoding', 'UTF-8', '-d', folder, source]);
      const options = ['-Dfile.encoding=UTF-8', '-Dstdout.encoding=UTF-8', '-Xshare:auto', '-XX:TieredStopAtLevel=1'];
      const path = `${folder}:${driver.jar}${driver.more.map((jar) => `:${jar}`).join('')}`;
      const program = [...options, '-cp', path, 'Shop', driver.url(served), ...tables[driver.dialect]];
      const command = new Command('java', program, { LC_ALL: 'C.UTF-8', TZ: 'UTC' });
      if (await command.hasWritten('lock wait')) await isWaited(served);
      const isRefused = driver.dialect === 'postgres' && isolation !== 'read committed';
      expect((await command.end('\n')).split('\n')).toEqual([
        ...driver.answer,
        `waited: true, then ${isRefused ? '40001' : '1'}`,
        '',
      ]);
      await served.close();
    });
  });
});
