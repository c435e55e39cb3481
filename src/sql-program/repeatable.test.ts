import { afterEach, beforeEach, expect, test } from 'vitest';
import { sqlProgram } from '../program/index.ts';
import { RepeatedRuns } from './repeatable.ts';
import type { SqlRun } from './sql-run.ts';

type Finished = Extract<SqlRun, { kind: 'finished' }>;

const run = (violation: string | null): Finished => ({ kind: 'finished', violation }) as Finished;
const program = sqlProgram({
  dialect: 'postgres',
  schema: '',
  sessions: { a: () => Promise.resolve(body()) },
  invariant: () => true,
});
let body: () => unknown;
let repeated: RepeatedRuns;

beforeEach(() => {
  repeated = new RepeatedRuns(program);
});
afterEach(() => repeated.stop());

async function taken(violation: string | null, inSession: () => unknown): Promise<string | null> {
  const made = run(violation);
  body = inSession;
  await repeated.made(async () => {
    await repeated.program.sessions[0]?.({ name: 'a', connect: () => null, sometimes: () => {} });
    return made;
  });
  return repeated.takes(made);
}

test('the first run and the first that fails', async () => {
  const taking: (string | null)[] = [];
  for (const violation of [null, null, 'broken', null, 'broken']) taking.push(await taken(violation, () => 0));
  expect(taking).toEqual(['whole', null, 'whole', null, null]);
});

test('the first runs that call a source: with forced values, eight at most', async () => {
  const taking: (string | null)[] = [];
  for (let i = 0; i < 12; i += 1) taking.push(await taken(null, () => (i === 1 ? 0 : Math.random())));
  expect(taking).toEqual(['whole', null, ...Array.from({ length: 8 }, () => 'forced'), null, null]);
});
