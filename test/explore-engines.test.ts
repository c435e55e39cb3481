/** The classic mistakes and their usual fixes, on every schedule of every level of both engines: the table of docs/explore.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isolationNames } from '../src/serve/index.ts';
import { everyEngineLevel } from '../src/sql-campaign/engines.test-support.ts';
import { exploreSql, parseProfile } from '../src/sql-campaign/index.ts';
import { gaveUp, mistakes, programOf } from './support/engine-mistakes.ts';

/** MOIRAI_UPDATE_DOCS=1 writes the table. */
const isUpdate = process.env['MOIRAI_UPDATE_DOCS'] === '1';
const docs = new URL('../docs/explore.md', import.meta.url);

test('the table of mistakes and fixes; else run: MOIRAI_UPDATE_DOCS=1 npx vitest run test/explore-engines.test.ts', {
  timeout: 600_000,
}, async () => {
  const lines = [
    `| | ${everyEngineLevel.map(([engine, isolation]) => `${engine === 'postgres' ? 'PostgreSQL' : 'InnoDB'} ${isolation}`).join(' | ')} |`,
    `| --- |${' --- |'.repeat(everyEngineLevel.length)}`,
  ];
  for (const mistake of mistakes) {
    const cells: string[] = [];
    for (const [engine, isolation] of everyEngineLevel) {
      const profile = parseProfile({ engine, isolation });
      const { schedules, violations, complete, marks } = await exploreSql(programOf(mistake, engine), { profile });
      expect(complete).toBe(true);
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
  const documented = readFileSync(docs, 'utf8');
  const table = documented.split('\n').filter((line) => line.startsWith('| ') && line.endsWith('|'));
  if (isUpdate)
    writeFileSync(
      docs,
      documented.replace(table.join('\n'), () => lines.join('\n')),
    );
  else expect(table).toEqual(lines);
});
