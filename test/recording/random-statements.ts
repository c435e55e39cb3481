/** Clients that ask a real server random statements of a workload, recorded and verified: what the tests of statements share. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { Recording } from '../../src/capture/index.ts';
import { monotonicNanoseconds } from '../../src/base/index.ts';
import { mechanismsOf, type TraceResult, TraceVerification } from '../../src/verify/index.ts';
import { seededRandom } from '../../src/verify/verify.test-support.ts';

export type Run = (sql: string) => Promise<unknown>;
export type Random = (n: number) => number;

/** @param fresh a number that no other statement has */
export type Statement = (random: Random, fresh: () => number) => string;

export interface StatementWorkload {
  /** Definitions, before anything is recorded. */
  readonly setUp: readonly string[];
  readonly rows?: readonly string[];
  readonly statements: readonly (readonly [weight: number, statement: Statement])[];
  /** How a transaction begins and ends; one of them each time. */
  readonly transactions: readonly (readonly [begin: readonly string[], end: readonly string[]])[];
  /** What to do after a statement that failed. */
  readonly afterError: (error: unknown) => 'go on' | 'roll back';
}

/** What one client does until the time is over, and some transactions are. */
async function work(run: Run, workload: StatementWorkload, seed: number, until: number): Promise<void> {
  const random = seededRandom(seed);
  let value = seed * 1_000_000;
  const fresh = (): number => (value += 1);
  const all = workload.statements.flatMap(([weight, statement]) => Array.from({ length: weight }, () => statement));
  for (let done = 0; done < transactionsMin || monotonicNanoseconds() < until; done += 1) {
    const [begin, end] = oneOf(random, workload.transactions);
    for (const sql of begin) await run(sql);
    let isBroken = false;
    for (let step = 1 + random(6); step > 0 && !isBroken; step -= 1)
      isBroken = await breaks(run, oneOf(random, all)(random, fresh), workload);
    const isRolledBack = isBroken || random(6) === 0;
    if (isRolledBack) await run('ROLLBACK');
    // A transaction without a BEGIN has no end either; where there is one, COMMIT may fail.
    for (const sql of end.filter((each) => each !== 'COMMIT' || !isRolledBack)) await breaks(run, sql, workload);
  }
}

async function breaks(run: Run, sql: string, { afterError }: StatementWorkload): Promise<boolean> {
  try {
    await run(sql);
    return false;
  } catch (error) {
    return afterError(error) === 'roll back';
  }
}

const transactionsMin = 10;

export function oneOf<Item>(random: Random, items: readonly Item[]): Item {
  return items[random(items.length)] as Item;
}

export interface RecordedTrace {
  readonly recording: Recording;
  /** What the clients said, with its times and errors: a line each. */
  readonly said: string[];
  readonly text: () => string;
  readonly verified: (engine: string, level: string) => TraceResult;
}

export function newTrace(): RecordedTrace {
  const parts: string[] = [];
  const recording = new Recording({
    write: (line) => void parts.push(line),
    now: monotonicNanoseconds,
    warn: (message) => {
      throw new Error(message);
    },
  });
  const text = (): string => parts.join('');
  return {
    recording,
    said: [],
    text,
    verified: (engine, level) => {
      const verification = new TraceVerification({ mechanisms: mechanismsOf(engine, level), violationsMax: 20 });
      verification.push(new TextEncoder().encode(text()));
      return verification.finish();
    },
  };
}

interface Client {
  readonly run: Run;
  readonly end: () => Promise<unknown>;
}

/** MOIRAI_HEAVY=1: a minute each. MOIRAI_SEED: another run. */
const isHeavy = process.env['MOIRAI_HEAVY'] === '1';
/** Up to 20, or what is fresh is no int any more. */
const seed = Number(process.env['MOIRAI_SEED'] ?? 1);
const clients = 6;

/** @param hook of the driver @param milliseconds that a run takes, if none is heavy @returns the trace */
export async function recordClients(
  workload: StatementWorkload,
  connect: (i: number) => Promise<Client>,
  hook: (recording: Recording) => () => void,
  milliseconds = 100,
): Promise<RecordedTrace> {
  const trace = newTrace();
  const { recording } = trace;
  const first = await connect(0);
  for (const sql of workload.setUp) await first.run(sql);
  await first.end();
  const unhook = hook(recording);
  const all = await Promise.all(Array.from({ length: clients }, (_, i) => connect(i)));
  for (const sql of workload.rows ?? []) await all[0]?.run(sql);
  const until = monotonicNanoseconds() + (isHeavy ? 60_000 : milliseconds) * 1e6;
  await Promise.all(all.map(({ run }, i) => work(noted(run, i, trace.said), workload, 100 * seed + i, until)));
  for (const client of all) await client.end();
  unhook();
  recording.end();
  return trace;
}

function noted(run: Run, client: number, said: string[]): Run {
  return async (sql) => {
    const start = monotonicNanoseconds();
    const note = (outcome: string): void =>
      void said.push(`${client} [${start}, ${monotonicNanoseconds()}] ${sql}${outcome}`);
    try {
      const answer = await run(sql);
      note('');
      return answer;
    } catch (error) {
      note(`: ${String(error)}`);
      throw error;
    }
  };
}

/** A trace with a violation is kept, with what the clients said, for such a run does not come again. */
export function expectRight({ said, text, verified }: RecordedTrace, engine: string, level: string): void {
  const { counts, violations } = verified(engine, level);
  const kept = violations.length === 0 ? '' : keep(text(), said);
  expect(
    violations.map(({ reason, smallest }) => [reason, smallest]),
    `the trace is in ${kept}`,
  ).toEqual([]);
  expect(counts.transactions).toBeGreaterThan(20);
  expect(counts.deduced).toBeGreaterThan(0);
}

/** @returns where */
function keep(trace: string, said: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'moirai-violation-'));
  writeFileSync(join(folder, 'trace.jsonl'), trace);
  writeFileSync(join(folder, 'said.sql'), said.join('\n'));
  return folder;
}
