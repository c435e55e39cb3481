/** The applications of PLDI 2023 at every level: the table of docs/explore-clients.md, and the proofs in it. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { clients } from '../examples/pldi2023/applications.ts';
import { explore, type ExploreOptions } from '../src/explore/index.ts';
import { constrainingLevels, type ConstrainingLevel } from '../src/isolation/index.ts';
import type { Program } from '../src/program/index.ts';

/** Where an invariant holds at a weak level, there can be millions of histories. MOIRAI_HEAVY=1: more of them. */
const historiesMax = process.env['MOIRAI_HEAVY'] === '1' ? 50_000 : 5_000;

function limits(level: ConstrainingLevel): ExploreOptions {
  switch (level) {
    case 'read-committed':
    case 'read-atomic':
      return { level, failsFast: true, historiesMax };
    case 'causal':
    case 'prefix':
      return { level, failsFast: true };
    case 'snapshot-isolation':
    case 'serializable':
      return { level };
  }
}

async function cell(client: Program, level: ConstrainingLevel): Promise<string> {
  const { violations, complete, histories } = await explore(client, limits(level));
  if (violations > 0) return '**fails**';
  return complete ? `holds (${histories})` : 'not found to fail';
}

test('which clients keep the invariants of their applications at which level', { timeout: 900_000 }, async () => {
  const lines = [`| | ${constrainingLevels.join(' | ')} |`, `| --- |${' --- |'.repeat(constrainingLevels.length)}`];
  for (const [name, client] of Object.entries(clients)) {
    const cells: string[] = [];
    for (const level of constrainingLevels) cells.push(await cell(client, level));
    lines.push(`| ${name} | ${cells.join(' | ')} |`);
    // The applications are right when nobody disturbs.
    expect(cells.at(-1)).toMatch(/^holds/);
  }
  const documented = readFileSync(new URL('../docs/explore-clients.md', import.meta.url), 'utf8');
  expect(documented.split('\n').filter((line) => line.startsWith('| '))).toEqual(lines);
});
