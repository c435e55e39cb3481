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

/**
 * Where an invariant holds at a weak level, there can be millions of histories: without MOIRAI_HEAVY=1, a few are explored of what is not known to
 * end, and of proofs of more than 400. A violation among them, or an end, is another cell than the documented one.
 */
function isSampled(known: string | undefined): boolean {
  const proven = Number(/^holds \((\d+)\)$/.exec(known ?? '')?.[1] ?? 0);
  return process.env['MOIRAI_HEAVY'] !== '1' && (known === notFound || proven > 400);
}

function limits(level: ConstrainingLevel, known: string | undefined): ExploreOptions {
  if (isSampled(known)) return { level, failsFast: true, historiesMax: 100 };
  return level === 'read-committed' || level === 'read-atomic'
    ? { level, failsFast: true, historiesMax: 50_000 }
    : { level, failsFast: true };
}

async function cell(client: Program, level: ConstrainingLevel, known: string | undefined): Promise<string> {
  const { violations, complete, histories } = await explore(client, limits(level, known));
  if (violations > 0) return '**fails**';
  if (complete) return `holds (${histories})`;
  return isSampled(known) && known !== undefined ? known : notFound;
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
