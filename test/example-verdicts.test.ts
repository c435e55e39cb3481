/**
 * The examples are what people copy: each of them is either green on whole evidence or shows a violation. What moirai refuses, cannot do or
 * warns of turns up in none of them.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { clients } from '../examples/pldi2023/applications.ts';
import { runCampaign } from '../src/campaign/index.ts';
import { conclude, type Evidence, gapText } from '../src/evidence/index.ts';
import { checkProgram, isSqlProgram, type Program, type SqlProgram } from '../src/program/index.ts';
import { parseProfile } from '../src/database/index.ts';
import { runSqlCampaign } from '../src/campaign/sql/index.ts';
import { root } from './support/cli.ts';

/** Modules of `folder` whose default export is a program. */
function modulesIn(folder: string, ending: RegExp): string[] {
  return readdirSync(join(root, folder))
    .filter((name) => ending.test(name))
    .map((name) => join(root, folder, name));
}

async function load(path: string): Promise<Program | SqlProgram> {
  const { default: found } = (await import(path)) as { default: unknown };
  return isSqlProgram(found) ? found : checkProgram(found);
}

/** Why nothing could be said of an example; empty where something could. */
function complaints(evidence: Evidence): string[] {
  const conclusion = conclude(evidence);
  if (conclusion.kind === 'at-fault') return [conclusion.message];
  return conclusion.kind === 'unknown' ? conclusion.gaps.map(gapText) : [];
}

async function evidenceOf(tested: Program | SqlProgram): Promise<Evidence> {
  if (!isSqlProgram(tested)) return (await runCampaign(tested, { runs: 50 })).evidence;
  const profile = parseProfile({ engine: tested.dialect });
  const { evidence } = await runSqlCampaign(tested, { profile, runs: 10, explains: false });
  // What a violation would hide is looked at as well: nothing in an example is unsupported.
  expect(evidence.unsupported).toEqual([]);
  return evidence;
}

describe('examples/', () => {
  const paths = [...modulesIn('examples', /\.ts$/), ...modulesIn('examples/oltp', /\.program\.ts$/)];

  test('there are some', () => expect(paths.length).toBeGreaterThan(8));

  test.each(paths.map((path) => [path.slice(root.length), path]))('%s', async (_name, path) => {
    expect(complaints(await evidenceOf(await load(path)))).toEqual([]);
  });
});

test.each(Object.entries(clients))('examples/pldi2023: %s', async (_name, client) => {
  expect(complaints(await evidenceOf(client))).toEqual([]);
});
