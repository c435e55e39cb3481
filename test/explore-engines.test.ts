/**
 * The classic mistakes and their usual fixes, on every schedule of every level of both engines: the table of docs/explore.md. And whatever a real
 * server comes to with its own timing is among what exploring its profile comes to. A third of the cells, with each mistake at two levels or three, and
 * a few runs of each; with MOIRAI_HEAVY=1 every cell, a thousand runs, and a line for each: runs, outcomes explored, of those shown, others shown.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { engineLevels, isolationNames, parseProfile } from '../src/database/index.ts';
import { exploreSql, type ExploreSqlResult } from '../src/explore/sql/index.ts';
import { type Dialect, everyEngineLevel } from '../src/sql-program/engines.test-support.ts';
import { gaveUp, type Mistake, mistakes, programOf } from './support/engine-mistakes.ts';
import { startMariadb } from './support/mariadb-server.ts';
import { startPostgres } from './support/postgres-server.ts';
import { startedOrSkipped } from './support/server-process.ts';
import { type Lane, mariadbLane, postgresLane, timedOutcomes } from './support/timed-runs.ts';

/** MOIRAI_UPDATE_DOCS=1 writes the table. */
const isUpdate = process.env['MOIRAI_UPDATE_DOCS'] === '1';
const docs = new URL('../docs/explore.md', import.meta.url);

const isHeavy = process.env['MOIRAI_HEAVY'] === '1';
const runs = Number(process.env['MOIRAI_TIMED_RUNS'] ?? (isHeavy ? 1_000 : 4));
const lanesCount = isHeavy ? 4 : 2;

/** Is the cell of a mistake at a level looked at? Every third of a row, one further on in the next row. */
function isTaken(mistake: Mistake, level: number): boolean {
  return isHeavy || isUpdate || (mistakes.indexOf(mistake) + level) % 3 === 0;
}

interface Explored {
  readonly result: ExploreSqlResult;
  readonly outcomes: ReadonlySet<string>;
}

/** Each mistake is explored once at each level. */
const explorations = new Map<string, Promise<Explored>>();

function explored(mistake: Mistake, engine: Dialect, isolation: string): Promise<Explored> {
  const name = [mistake.name, engine, isolation].join();
  const exploring = explorations.get(name) ?? explore(mistake, engine, isolation);
  explorations.set(name, exploring);
  return exploring;
}

async function explore(mistake: Mistake, engine: Dialect, isolation: string): Promise<Explored> {
  const outcomes = new Set<string>();
  let last = '';
  const result = await exploreSql(
    programOf(mistake, engine, (outcome) => (last = outcome)),
    { profile: parseProfile({ engine, isolation }), onSeen: () => void outcomes.add(last) },
  );
  expect(result.complete).toBe(true);
  return { result, outcomes };
}

test('the table of mistakes and fixes; else run: MOIRAI_UPDATE_DOCS=1 npx vitest run test/explore-engines.test.ts', {
  timeout: 600_000,
}, async () => {
  const lines = [
    `| | ${everyEngineLevel.map(([engine, isolation]) => `${engine === 'postgres' ? 'PostgreSQL' : 'InnoDB'} ${isolation}`).join(' | ')} |`,
    `| --- |${' --- |'.repeat(everyEngineLevel.length)}`,
  ];
  const documented = readFileSync(docs, 'utf8');
  const table = documented.split('\n').filter((line) => line.startsWith('| ') && line.endsWith('|'));
  for (const mistake of mistakes) {
    const known = table.find((line) => line.startsWith(`| ${mistake.name} |`))?.split(' | ') ?? [];
    const cells: string[] = [];
    for (const [level, [engine, isolation]] of everyEngineLevel.entries()) {
      if (!isTaken(mistake, level)) {
        cells.push((known[level + 1] ?? '').replace(/ \|$/, ''));
        continue;
      }
      const { schedules, violations, marks } = (await explored(mistake, engine, isolation)).result;
      const holdsFrom = mistake.holdsFrom[engine === 'postgres' ? 0 : 1];
      const isExpected = isolationNames.indexOf(isolation) >= isolationNames.indexOf(holdsFrom);
      expect([mistake.name, engine, isolation, violations === 0]).toEqual([
        mistake.name,
        engine,
        isolation,
        isExpected,
      ]);
      const futile = marks.get(gaveUp) ?? 0;
      const note = futile === 0 ? '' : `; ${futile} gave up`;
      cells.push(violations === 0 ? `holds (${schedules}${note})` : `**fails** (${violations} of ${schedules}${note})`);
    }
    lines.push(`| ${mistake.name} | ${cells.join(' | ')} |`);
  }
  if (isUpdate)
    writeFileSync(
      docs,
      documented.replace(table.join('\n'), () => lines.join('\n')),
    );
  else expect(table).toEqual(lines);
});

const postgres = await startedOrSkipped(startPostgres);
const mariadb = await startedOrSkipped(startMariadb);

const engines = [
  { name: 'PostgreSQL', dialect: 'postgres', server: postgres, open: postgresLane },
  { name: 'MariaDB', dialect: 'mysql', server: mariadb, open: mariadbLane },
] as const;

afterAll(async () => {
  await postgres?.stop();
  await mariadb?.stop();
});

describe.each(engines)('what $name comes to with its own timing is explored', ({ name, dialect, server, open }) => {
  test.skipIf(server === undefined).each(engineLevels[dialect])('%s', { timeout: 3_600_000 }, async (isolation) => {
    if (server === undefined) return;
    const lanes = await Promise.all(
      Array.from({ length: lanesCount }, (_, lane): Promise<Lane> => open(server.port, lane, isolation)),
    );
    const unexplored: string[] = [];
    const level = everyEngineLevel.findIndex(([engine, at]) => engine === dialect && at === isolation);
    for (const mistake of mistakes.filter((each) => isTaken(each, level))) {
      const { outcomes } = await explored(mistake, dialect, isolation);
      const shown = await timedOutcomes(mistake, lanes, { runs, seed: 1 });
      const others = [...shown.keys()].filter((outcome) => !outcomes.has(outcome));
      const figures = [name, isolation, mistake.name, runs, outcomes.size, shown.size, others.length];
      if (isHeavy) process.stdout.write(`| ${figures.join(' | ')} |\n`);
      unexplored.push(...others.map((outcome) => `${mistake.name} (${shown.get(outcome)} of ${runs}): ${outcome}`));
    }
    for (const lane of lanes) await lane.close();
    expect(unexplored).toEqual([]);
  });
});
