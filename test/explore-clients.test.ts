/** The applications of PLDI 2023 at every level: the table of docs/explore-clients.md, and the proofs in it. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { clients } from '../examples/pldi2023/applications.ts';
import { explore, type ExploreOptions } from '../src/explore/index.ts';
import { constrainingLevels, type ConstrainingLevel } from '../src/isolation/index.ts';
import type { Program } from '../src/program/index.ts';

const table = readFileSync(new URL('../docs/explore-clients.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '));

/** What the table says of a client, at each level. */
const documented = new Map(
  table.map((line) => {
    const [name = '', ...cells] = line.slice(2, -2).split(' | ');
    return [name, cells] as const;
  }),
);
const notFound = 'not found to fail';

/** Where an invariant holds at a weak level, there can be millions of histories: without MOIRAI_HEAVY=1, fewer are explored of those that are known. */
function historiesMaxOf(known: string | undefined): number {
  return known === notFound && process.env['MOIRAI_HEAVY'] !== '1' ? 300 : 50_000;
}

function limits(level: ConstrainingLevel, known: string | undefined): ExploreOptions {
  switch (level) {
    case 'read-committed':
    case 'read-atomic':
      return { level, failsFast: true, historiesMax: historiesMaxOf(known) };
    case 'causal':
    case 'prefix':
      return { level, failsFast: true };
    case 'snapshot-isolation':
    case 'serializable':
      return { level };
  }
}

async function cell(client: Program, level: ConstrainingLevel, known: string | undefined): Promise<string> {
  const { violations, complete, histories } = await explore(client, limits(level, known));
  if (violations > 0) return '**fails**';
  return complete ? `holds (${histories})` : notFound;
}

test('which clients keep the invariants of their applications at which level', { timeout: 900_000 }, async () => {
  const lines = [`| | ${constrainingLevels.join(' | ')} |`, `| --- |${' --- |'.repeat(constrainingLevels.length)}`];
  for (const [name, client] of Object.entries(clients)) {
    const cells: string[] = [];
    for (const [i, level] of constrainingLevels.entries())
      cells.push(await cell(client, level, documented.get(name)?.[i]));
    lines.push(`| ${name} | ${cells.join(' | ')} |`);
    // The applications are right when nobody disturbs.
    expect(cells.at(-1)).toMatch(/^holds/);
  }
  expect(table).toEqual(lines);
});
