/** What a run on a real server says of the run that was predicted. */
import type { SqlProgram } from '../program/index.ts';
import type { Arrival } from './granted.ts';
import type { Prediction } from './prediction.ts';
import type { ServerRun } from './server-run.ts';

export type Verdict =
  /** The server did what was predicted: no serial order leaves this. */
  | { readonly kind: 'observed'; readonly message: string }
  /** A statement failed that was predicted to succeed; or, at another level or after a change, it was answered otherwise, and all is as in a serial order. */
  | {
      readonly kind: 'prevented';
      readonly session: string;
      readonly sql: string;
      /** Of the error; `null`: there was none. */
      readonly code: string | null;
      readonly message: string;
    }
  /** A statement waited that was predicted to be answered: the order is none that the server allows. */
  | {
      readonly kind: 'infeasible';
      readonly session: string;
      readonly sql: string;
      readonly lock: string;
      /** The sessions that hold it. */
      readonly by: readonly string[];
    }
  /** The program took another way, or the server answered otherwise. */
  | { readonly kind: 'diverged'; readonly reason: string };

/** A statement as it was predicted and as it was on the server. `null`: there was none. */
export interface Compared {
  readonly session: string;
  readonly sql: string;
  readonly predicted: string | null;
  readonly server: string | null;
  /** What it waited for on the server. */
  readonly waited: string | null;
}

/** A run and what it is judged by. */
export interface Judged {
  readonly program: SqlProgram;
  readonly prediction: Prediction;
  readonly run: ServerRun;
  /** Of every order of the sessions, on the same server. */
  readonly serial: readonly ServerRun[];
  /** Is the program, or the level, another one than of the prediction? Then another answer is none of its mistakes. */
  readonly isChanged: boolean;
}

export function judge(judged: Judged): Verdict {
  const { program, prediction, run, serial, isChanged } = judged;
  const broken = brokenSerially(program, serial);
  if (broken !== null) return { kind: 'diverged', reason: broken };
  const failed = unpredictedError(program, prediction, run);
  const violation = run.violation ?? predictedFailure(program, run, failed);
  const isSerial = serial.some(({ outcome }) => outcome === run.outcome);
  if (violation !== null && failed !== null) return { kind: 'diverged', reason: `${errorOf(failed)}; ${violation}` };
  if (violation !== null && serial.some((one) => isSerial || one.violation === violation))
    return { kind: 'diverged', reason: `so it ends where the sessions run one after another, too: ${violation}` };
  if (violation !== null) return { kind: 'observed', message: violation };
  if (failed !== null && failsSerially(program, failed, serial))
    return {
      kind: 'diverged',
      reason: `so it fails where the sessions run one after another, too: ${errorOf(failed)}`,
    };
  if (failed !== null) return failed;
  const wait = unpredictedWait(program, prediction, run);
  if (wait !== null) return wait;
  if (run.late !== null) return { kind: 'diverged', reason: `it did not end in time: ${run.late}` };
  const other = otherAnswer(prediction, run);
  if (isChanged && isSerial && other !== null) {
    const { at, session, sql, answer } = other;
    const message = `was answered ${answer?.text}, not ${prediction.statements[at]?.outcome}`;
    return { kind: 'prevented', session: program.sessionNames[session] ?? '', sql, code: null, message };
  }
  return { kind: 'diverged', reason: departureText(program, run, other) };
}

/** What goes wrong in every order of the sessions is wrong without concurrency. */
function brokenSerially({ sessionNames }: SqlProgram, serial: readonly ServerRun[]): string | null {
  const faults = serial.map(({ violation, failures: [failure], late }) =>
    failure === undefined
      ? (violation ?? (late === null ? null : `they do not end in time: ${late}`))
      : `session "${sessionNames[failure.session]}" failed: ${failure.error}`,
  );
  const [first = null] = faults;
  if (first === null || faults.includes(null)) return null;
  return `on this server the sessions fail also one after another: ${first}`;
}

/** A session that ended with an error, as predicted. */
function predictedFailure({ sessionNames }: SqlProgram, run: ServerRun, failed: Prevented | null): string | null {
  const [failure] = run.failures;
  return failure === undefined || failed !== null
    ? null
    : `session "${sessionNames[failure.session]}" failed: ${failure.error}`;
}

type Prevented = Extract<Verdict, { kind: 'prevented' }>;

/** Does the statement fail in every order of the sessions? Then no other session is the reason: it may be no SQL. */
function failsSerially(
  { sessionNames }: SqlProgram,
  { session, sql, code }: Prevented,
  serial: readonly ServerRun[],
): boolean {
  return (
    serial.length > 0 &&
    serial.every(({ statements }) =>
      statements.some(
        (each) => sessionNames[each.session] === session && each.sql === sql && each.answer?.error?.code === code,
      ),
    )
  );
}

/** The session that got it went on: what it wrote is lost without another session's doing. */
function errorOf({ session, code, message }: Prevented): string {
  return `session "${session}" got ${code} ${message} and did not try again`;
}

function unpredictedError(program: SqlProgram, { statements }: Prediction, run: ServerRun): Prevented | null {
  for (const { session, sql, answer, planned } of run.statements) {
    const error = answer?.error ?? null;
    if (error === null || planned.some((at) => statements[at]?.isError)) continue;
    return { kind: 'prevented', session: program.sessionNames[session] ?? '', sql, ...error };
  }
  return null;
}

function unpredictedWait(program: SqlProgram, { statements }: Prediction, run: ServerRun): Verdict | null {
  const waited = run.statements.find(
    ({ wait, planned }) => wait !== null && !planned.some((at) => (statements[at]?.waitedFor ?? null) !== null),
  );
  if (waited === undefined || waited.wait === null) return null;
  const { session, sql, wait } = waited;
  return {
    kind: 'infeasible',
    session: program.sessionNames[session] ?? '',
    sql,
    lock: wait.lock,
    by: holders(program, wait.holders, run),
  };
}

function holders({ sessionNames }: SqlProgram, ids: readonly number[], { connections }: ServerRun): string[] {
  const names = ids.map((id) => sessionNames[connections.get(id) ?? -1] ?? 'another connection');
  return [...new Set(names)];
}

interface OtherAnswer extends Arrival {
  /** Its position in the plan. */
  readonly at: number;
}

/** The first statement that was answered otherwise than predicted. */
function otherAnswer({ statements }: Prediction, run: ServerRun): OtherAnswer | null {
  for (const arrival of run.statements) {
    const [at] = arrival.planned;
    const predicted = arrival.planned.map((each) => statements[each]?.outcome).join('; ');
    if (at !== undefined && predicted !== arrival.answer?.text) return { ...arrival, at };
  }
  return null;
}

function departureText({ sessionNames }: SqlProgram, { departure }: ServerRun, other: OtherAnswer | null): string {
  if (departure !== null) {
    const { session, planned, sent } = departure;
    const does = sent === null ? 'ended' : `sent ${sent}`;
    const instead = planned === null ? 'where it was predicted to end' : `where ${planned} was predicted`;
    return `session "${sessionNames[session]}" ${does} ${instead}`;
  }
  if (other === null) return 'the invariant holds after the same statements with the same answers';
  return `session "${sessionNames[other.session]}" was answered ${other.answer?.text ?? 'nothing'} to ${other.sql}`;
}

/** Statements in the order of the grants, then those that were predicted and never sent. */
export function compare(program: SqlProgram, { statements, asked }: Prediction, run: ServerRun): Compared[] {
  const textOf = (at: number): string | null => statements[at]?.outcome ?? null;
  const ran = run.statements.map(
    ({ session, sql, answer, wait, planned }): Compared => ({
      session: program.sessionNames[session] ?? '',
      sql,
      predicted: planned.length === 0 ? null : planned.map(textOf).join('; '),
      server: answer?.text ?? 'no answer',
      waited: wait === null ? null : waitText(program, wait, run),
    }),
  );
  const seen = new Set(run.statements.flatMap(({ planned }) => planned));
  const unsent = statements.flatMap(({ session, sql, outcome }, at): Compared[] =>
    seen.has(at) ? [] : [{ session, sql, predicted: outcome, server: null, waited: null }],
  );
  const ofInvariant = run.asked.map(
    ({ sql, answer }, at): Compared => ({
      session: 'invariant',
      sql,
      predicted: asked[at]?.sql === sql ? asked[at].outcome : null,
      server: answer?.text ?? 'no answer',
      waited: null,
    }),
  );
  return [...ran, ...unsent, ...ofInvariant];
}

export function waitText(
  program: SqlProgram,
  { lock, holders: ids }: NonNullable<Arrival['wait']>,
  run: ServerRun,
): string {
  const by = holders(program, ids, run);
  return `${lock}${by.length === 0 ? '' : `, held by ${by.join(', ')}`}`;
}
