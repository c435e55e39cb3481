/** `moirai replay --on`: the failing run of a SQL program, statement by statement, on a real server. */
import { ordersOf, type SqlProgram } from '../program/index.ts';
import { engineLevels } from '../database/index.ts';
import { InputError } from '../base/index.ts';
import type { IsolationName } from '../sql/index.ts';
import { requireDialect } from './own-client.ts';
import { predict, type Prediction, type PredictionOptions } from './prediction.ts';
import { Scratch } from './scratch.ts';
import type { RealServer } from './server.ts';
import { interrupted, runOnServer, type ServerRun, type ServerRunOptions } from './server-run.ts';
import { type Compared, compare, judge, type Verdict } from './verdict.ts';

export interface ReplayOnOptions extends Omit<PredictionOptions, 'isolation'> {
  readonly server: RealServer;
  /** The program before a change: its failing run is replayed. `null`: the program's own. */
  readonly before: SqlProgram | null;
  /** Of transactions that name none: one level, all of the engine, or `null`, where the run fails. */
  readonly isolation: IsolationName | 'all' | null;
  /** How often the run is replayed at each level. */
  readonly repeat: number;
}

export interface ReplayedLevel {
  readonly isolation: IsolationName;
  /** The most telling of the runs. */
  readonly verdict: Verdict;
  /** How often each verdict came. */
  readonly counts: Readonly<Record<Verdict['kind'], number>>;
  readonly statements: readonly Compared[];
}

export interface ReplayedOn {
  /** `PostgreSQL 15.18`. */
  readonly server: string;
  /** Databases of replays that were killed, which this user may not drop. */
  readonly leftOver: readonly string[];
  readonly prediction: Prediction;
  readonly levels: readonly ReplayedLevel[];
}

/** @throws InputError `replay/...`, `program/...` */
export async function replayOn(program: SqlProgram, options: ReplayOnOptions): Promise<ReplayedOn> {
  const { server, isolation, before } = options;
  requireDialect(program, server);
  if (before !== null) requireSameSessions(before, program);
  const engine = engineLevels[program.dialect];
  const asked = isolation === 'all' ? (engine[0] ?? null) : isolation;
  const prediction = await predict(before ?? program, { ...options, isolation: asked });
  if (options.signal?.aborted === true) throw interrupted();
  const levels = isolation === 'all' ? engine : [asked ?? prediction.isolation];
  return await Scratch.use(server, async (scratch) => {
    const replayed: ReplayedLevel[] = [];
    for (const level of levels) replayed.push(await replayAt(level, program, prediction, scratch, options));
    return { server: scratch.version, leftOver: scratch.leftOver, prediction, levels: replayed };
  });
}

function requireSameSessions(before: SqlProgram, { sessionNames, dialect }: SqlProgram): void {
  const names = before.sessionNames.join(', ');
  if (before.dialect === dialect && names === sessionNames.join(', ')) return;
  throw new InputError(
    'replay/before',
    `the program before the change has other sessions: ${names}, not ${sessionNames.join(', ')}`,
  );
}

async function replayAt(
  isolation: IsolationName,
  program: SqlProgram,
  prediction: Prediction,
  scratch: Scratch,
  { server, before, repeat, timeoutMs, signal }: ReplayOnOptions,
): Promise<ReplayedLevel> {
  const options: ServerRunOptions = { server, scratch, isolation, timeoutMs, signal };
  const serial: ServerRun[] = [];
  for (const sessions of ordersOf(program.sessions.map((_, i) => i))) {
    serial.push(await runOnServer(program, { kind: 'serial', sessions }, options));
    if (serial.length === serialMax) break;
  }
  const plan = prediction.statements.map(({ session, sql }) => ({
    session: program.sessionNames.indexOf(session),
    sql,
  }));
  const isChanged = before !== null || isolation !== prediction.isolation;
  const counts = { observed: 0, prevented: 0, infeasible: 0, diverged: 0 };
  let telling: Pick<ReplayedLevel, 'verdict' | 'statements'> | null = null;
  for (let i = 0; i < repeat; i += 1) {
    const run = await runOnServer(program, { kind: 'planned', plan }, options);
    const verdict = judge({ program, prediction, run, serial, isChanged });
    counts[verdict.kind] += 1;
    if (telling === null || rank(verdict) < rank(telling.verdict))
      telling = { verdict, statements: compare(program, prediction, run) };
  }
  return {
    isolation,
    counts,
    ...(telling ?? { verdict: { kind: 'diverged', reason: 'it was not run' }, statements: [] }),
  };
}

const ranks: readonly Verdict['kind'][] = ['observed', 'diverged', 'prevented', 'infeasible'];

function rank({ kind }: Verdict): number {
  return ranks.indexOf(kind);
}

/** Of more than five sessions not every order is run. */
const serialMax = 120;
