/**
 * Schedules of SQL statements by some sessions, run step by step: one statement is sent, and before the next one is sent every statement under
 * way has been answered or waits for a lock. What each step came to is a line of text, the same on every database that behaves the same.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dialect } from '../src/sql/model/index.ts';
import type { Answer } from '../test/sql-oracle/answer.ts';

export type Level = 'read uncommitted' | 'read committed' | 'repeatable read' | 'serializable';

export interface Step {
  readonly session: number;
  readonly sql: string;
  /** What kind of statement it is: differences are grouped by it. */
  readonly form: string;
  /** Is the order of its rows decided? */
  readonly isOrdered?: boolean;
  /** Does a limit of time end it when it waits? Then its end is waited for. */
  readonly endsInTime?: boolean;
}

export interface Schedule {
  readonly dialect: Dialect;
  /** Tables and rows, each statement committed by itself. */
  readonly setUp: readonly string[];
  /** No statement of a session defines anything: the next schedule with the same set-up may keep its tables. */
  readonly keepsTables?: boolean;
  /** The level of each session. */
  readonly levels: readonly Level[];
  readonly steps: readonly Step[];
  /** What reads the final state. */
  readonly queries: readonly string[];
}

/** A database that runs a schedule. */
export interface Side {
  readonly name: string;
  /** Empties the database, runs the set-up and opens the sessions. @returns the answer of the set-up's first error */
  prepare(schedule: Schedule): Promise<Answer | null>;
  /** Sends a statement of a session that is not waiting for an answer. */
  start(step: Step): void;
  /** Waits until every statement under way has been answered or waits. @returns the answers, by session */
  settle(): Promise<ReadonlyMap<number, Answer>>;
  /** A statement while no session waits. */
  ask(sql: string): Promise<Answer>;
  /** Ends what `prepare` opened. */
  finish(): Promise<void>;
  /** Ends the side. */
  close(): Promise<void>;
}

export interface TraceLine {
  /** `null`: the final state. */
  readonly step: Step | null;
  /** `waits`; else who was answered and how, joined by `; `. */
  readonly outcome: string;
  /** The answers by themselves. */
  readonly answers: ReadonlyMap<number, Answer>;
}

export interface Trace {
  readonly lines: readonly TraceLine[];
  /** The set-up failed with it. */
  readonly refused: Answer | null;
}

/** Statements of a session that waits are sent as soon as it has been answered, before those that come later. */
export async function runSchedule(schedule: Schedule, side: Side): Promise<Trace> {
  const refused = await side.prepare(schedule);
  try {
    if (refused !== null) return { lines: [], refused };
    return { lines: await runSteps(schedule, side), refused };
  } finally {
    await side.finish();
  }
}

async function runSteps(schedule: Schedule, side: Side): Promise<TraceLine[]> {
  const lines: TraceLine[] = [];
  const waiting = new Set<number>();
  const run = async (step: Step): Promise<void> => {
    side.start(step);
    waiting.add(step.session);
    const answers = await settled(step, side);
    for (const session of answers.keys()) waiting.delete(session);
    lines.push({ step, answers, outcome: outcomeOf(answers) });
  };
  const left = [...schedule.steps];
  for (;;) {
    const next = left.findIndex(({ session }) => !waiting.has(session));
    if (next === -1) break;
    await run(left.splice(next, 1)[0] as Step);
  }
  // A session that waits may be answered when another one has rolled back.
  const rollbacks = schedule.levels.map((_, session): Step => ({ session, sql: 'rollback', form: 'end' }));
  for (const step of schedule.levels.flatMap(() => rollbacks)) if (!waiting.has(step.session)) await run(step);
  if (waiting.size > 0) return lines;
  for (const sql of schedule.queries) {
    const answer = await side.ask(sql);
    const answers = new Map([[-1, answer]]);
    lines.push({ step: null, answers, outcome: answerOutcome(answer) });
  }
  return lines;
}

/** The limits of time that steps set are some milliseconds. */
const timePollsMax = 200;

async function settled(step: Step, side: Side): Promise<ReadonlyMap<number, Answer>> {
  const answers = new Map(await side.settle());
  for (let polls = 0; step.endsInTime === true && !answers.has(step.session) && polls < timePollsMax; polls += 1) {
    await sleep(10);
    for (const [session, answer] of await side.settle()) answers.set(session, answer);
  }
  return answers;
}

function outcomeOf(answers: ReadonlyMap<number, Answer>): string {
  if (answers.size === 0) return 'waits';
  return [...answers]
    .toSorted(([a], [b]) => a - b)
    .map(([session, answer]) => `s${session} ${answerOutcome(answer)}`)
    .join('; ');
}

/** Rows without their types, which `test/sql-oracle` compares; errors without their message. */
export function answerOutcome(answer: Answer): string {
  switch (answer.kind) {
    case 'rows':
      return answer.rows.length === 0 ? 'no rows' : answer.rows.join(' ');
    case 'done':
      return answer.tag.trim() === '' ? 'OK' : answer.tag.trim();
    case 'error':
      // MariaDB has one error for a wait that took too long and one that is not wanted.
      return `error ${answer.code === '3572' ? '1205' : answer.code}`;
  }
}

/** What each session was answered, statement by statement, and the final state. */
export function scheduleOutcome({ levels }: Schedule, { lines }: Trace): string {
  const told = levels.map((_, session) =>
    lines
      // Sessions are rolled back when all is over.
      .filter(({ step }) => step?.form !== 'end')
      .flatMap(({ answers }) => answers.get(session) ?? [])
      .map(answerOutcome),
  );
  const end = lines.filter(({ step }) => step === null).map(({ outcome }) => outcome);
  return JSON.stringify([told, end]);
}

/** The position of the first line that is not the same, if there is one. */
export function firstDifferent(ours: Trace, theirs: Trace): number | null {
  const length = Math.max(ours.lines.length, theirs.lines.length);
  for (let i = 0; i < length; i += 1) if (ours.lines[i]?.outcome !== theirs.lines[i]?.outcome) return i;
  return null;
}

/** The sessions that InnoDB's answers to a step name as victims of a deadlock, in order. */
export function deadlockVictims(line: TraceLine | undefined): number[] {
  return [...(line?.answers ?? [])]
    .filter(([, answer]) => answer.kind === 'error' && answer.code === '1213')
    .map(([session]) => session)
    .toSorted((a, b) => a - b);
}
