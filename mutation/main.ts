/**
 * `npm run mutation [-- TEXT ...]`: plants each bug of `planted-bugs.ts` (of those whose name or file has one of the texts: a folder is one) in a copy of
 * the repository, runs the tests that should see it, file by file, then those of its folder, and prints a table. Exit code 1: more than one in twenty
 * survives, or a test fails without a bug; 3: nothing to do.
 */
import { dirname } from 'node:path';
import type { PlantedBug } from './planted-bug.ts';
import { plantedBugs } from './planted-bugs.ts';
import { formatRow, formatSummary, isFailure, type Outcome, type Result, tableHead } from './summary.ts';
import { TestedCopy } from './tested-copy.ts';

const texts = process.argv.slice(2);
const chosen = plantedBugs.filter(
  ({ name, file }) => texts.length === 0 || texts.some((text) => name.includes(text) || file.includes(text)),
);

if (chosen.length === 0) {
  console.error('no planted bug has this in its name or file');
  process.exitCode = 3;
} else process.exitCode = await runAll(chosen);

async function runAll(bugs: readonly PlantedBug[]): Promise<0 | 1> {
  const copy = new TestedCopy();
  try {
    console.log(tableHead);
    const results: Result[] = [];
    for (const bug of bugs) {
      const result = { bug, outcome: await outcomeOf(bug, copy) };
      results.push(result);
      console.log(formatRow(result));
    }
    console.log(`\n${formatSummary(results)}`);
    return isFailure(results) ? 1 : 0;
  } finally {
    copy.remove();
  }
}

/** The first test that fails decides; the folder is asked where all that are named pass. */
async function outcomeOf(bug: PlantedBug, copy: TestedCopy): Promise<Outcome> {
  const endless: string[] = [];
  for (const target of [...bug.tests, `${dirname(bug.file)}/`]) {
    if (target.endsWith('/') && endless.length > 0) break;
    const baseline = await copy.baselineOf(target);
    if (baseline.kind === 'failed') return { kind: 'broken test', test: `${baseline.test} fails` };
    if (baseline.kind === 'no end') return { kind: 'broken test', test: `${target} does not end` };
    const run = await copy.runWith(bug, target, limitOf(baseline.tookMs));
    if (run.kind === 'failed') return { kind: 'caught', by: run.test };
    if (run.kind === 'no end') endless.push(target);
  }
  return endless.length > 0 ? { kind: 'no end', in: endless } : { kind: 'survives' };
}

/** A machine that does other things meanwhile takes a multiple, and starting Vitest its own time. */
function limitOf(baselineMs: number): number {
  return Math.ceil(20_000 + 4 * baselineMs);
}
