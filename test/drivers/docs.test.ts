import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { filled, type Parts } from '../support/level-docs.ts';
import { mariadbCommand, psql } from './command-lines.ts';
import { drivers } from './drivers.ts';
import { connectorJ, pgjdbc } from './jdbc.ts';
import { isolations } from './levels.ts';
import { prismaDrivers, prismaVersions } from './prisma/prisma-shop.ts';
import { steps } from './shop-steps.ts';

const file = new URL('../../docs/drivers.md', import.meta.url);
const { devDependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  devDependencies: Record<string, string>;
};

const versions = { ...devDependencies, ...prismaVersions };

const protocols = { postgres: 'PostgreSQL', mysql: 'MySQL' };

/**
 * The tests run every row at its levels, so a row that does not pass cannot stand here with a test suite that does; Prisma's two on request.
 */
function clients(): string {
  const packaged = [...drivers, ...prismaDrivers].map(({ name, packages, dialect, how, without = [] }) => {
    const pinned = packages.map((each) => `${each} ${versions[each]}`).join(', ');
    const left = without.length === 0 ? 'all steps' : `all but ${without.join(', ')}`;
    return [name, pinned, protocols[dialect], how, left, isolations[dialect].join(', ')];
  });
  const programs = [psql, mariadbCommand, pgjdbc, connectorJ].map(({ name, debian, dialect, how }) => {
    return [
      name,
      `Debian's ${debian}`,
      protocols[dialect],
      how,
      'a script of the same',
      isolations[dialect].join(', '),
    ];
  });
  return table(['client', 'version', 'protocol', 'how', 'does', 'passes at'], [...packaged, ...programs]);
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

const parts: Parts = {
  clients: clients(),
  steps: table(
    ['step', 'is'],
    steps.map(({ name, is }) => [name, is]),
  ),
};

test('docs/drivers.md says which clients are tested; else run: MOIRAI_UPDATE_DOCS=1 npx vitest run test/drivers/docs.test.ts', () => {
  const text = readFileSync(file, 'utf8');
  const expected = filled(text, parts);
  if (process.env['MOIRAI_UPDATE_DOCS'] === '1') writeFileSync(file, expected);
  else expect(text).toBe(expected);
  expect([...text.matchAll(/<!-- part (\S+) -->/g)].map(([, name]) => name)).toEqual(Object.keys(parts));
});

test('every package in the table is pinned', () => {
  for (const { packages } of [...drivers, ...prismaDrivers])
    for (const each of packages) expect(versions[each]).toMatch(/^\d+\.\d+\.\d+$/);
});
