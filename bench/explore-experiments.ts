/** The experiments of the evaluation of explore-ce (PLDI 2023, section 7.3): applications, sessions, transactions a session. */
import { exploring, nextPath } from '#moirai/base';
import { explore } from '#moirai/explore';
import type { ConstrainingLevel } from '#moirai/isolation';
import { enumerating, MockDatabase } from '#moirai/mockdb';
import { type Program, runProgram } from '#moirai/program';
import { clients } from '../examples/pldi2023/applications.ts';
import { tpcc, tpccGrowing } from '../examples/pldi2023/tpcc.ts';
import { wikipedia, wikipediaGrowing } from '../examples/pldi2023/wikipedia.ts';
import type { LinePlot } from './line-plot.ts';

export interface Measured {
  readonly histories: number;
  /** Runs of the program, whether they end at a history of the level or not. */
  readonly endStates: number;
  readonly complete: boolean;
  readonly seconds: number;
  /** The most that was in use on the heap when somebody looked. */
  readonly peakMb: number;
}

export const levels = ['read-committed', 'read-atomic', 'causal', 'snapshot-isolation', 'serializable'] as const;

export async function measure(program: Program, level: ConstrainingLevel, timeMaxMs: number): Promise<Measured> {
  let peak = process.memoryUsage().heapUsed;
  const start = performance.now();
  const { histories, runs, complete } = await explore(program, {
    level,
    timeMaxMs,
    onProgress: () => void (peak = Math.max(peak, process.memoryUsage().heapUsed)),
  });
  return { histories, endStates: runs, complete, seconds: (performance.now() - start) / 1_000, peakMb: peak / 1e6 };
}

/** The paper's baseline: depth-first search without reduction, on the same store: who goes next and what a read sees, every way. */
export async function measureDepthFirst(program: Program, timeMaxMs: number): Promise<Measured> {
  const database = new MockDatabase({ level: 'causal', initial: program.initial, sessionNames: program.sessionNames });
  const start = performance.now();
  let [endStates, peak] = [0, 0];
  for (let path: number[] | null = []; path !== null && performance.now() - start < timeMaxMs; ) {
    const chooser = exploring(path);
    const decisions = enumerating(chooser);
    database.reset(decisions);
    await runProgram(program, database, { nextSession: decisions.session });
    endStates += 1;
    if ((endStates & 1_023) === 0) peak = Math.max(peak, process.memoryUsage().heapUsed);
    path = nextPath(chooser.path, chooser.options);
    if (path === null) {
      const seconds = (performance.now() - start) / 1_000;
      return { histories: endStates, endStates, complete: true, seconds, peakMb: peak / 1e6 };
    }
  }
  return { histories: 0, endStates, complete: false, seconds: timeMaxMs / 1_000, peakMb: peak / 1e6 };
}

/** The first experiment. */
export async function applications(timeMaxMs: number): Promise<{ rows: string[][]; plot: LinePlot }> {
  const rows = [['client', 'search', 'histories', 'end states', 'complete', 's', 'end states/s', 'peak MB']];
  const times = new Map<string, number[]>();
  for (const [name, client] of Object.entries(clients)) {
    await explore(client, { historiesMax: 100 }); // warm
    for (const search of [...levels, 'depth first'] as const) {
      const found = await (search === 'depth first'
        ? measureDepthFirst(client, timeMaxMs)
        : measure(client, search, timeMaxMs));
      const { histories, endStates, complete, seconds, peakMb } = found;
      if (complete) times.set(search, [...(times.get(search) ?? []), seconds]);
      rows.push([
        name,
        search,
        search === 'depth first' ? '' : String(histories),
        String(endStates),
        complete ? 'yes' : 'no',
        seconds.toFixed(2),
        (endStates / seconds).toFixed(0),
        peakMb.toFixed(0),
      ]);
    }
  }
  const series = [...times].map(([name, seconds]) => ({ name, points: cactus(seconds) }));
  return { rows, plot: { title: 'Clients that are done within a time', x: 'clients', y: 'seconds', series } };
}

/** How many are done when each has its time: sorted, so that the n-th point is the time of the n-th fastest. */
function cactus(seconds: readonly number[]): (readonly [number, number])[] {
  return seconds.toSorted((a, b) => a - b).map((time, i) => [i + 1, Math.max(time, 1e-4)] as const);
}

/** The second and third experiments: averages over ten programs, at causal. */
export async function growth(
  what: 'sessions' | 'transactions',
  timeMaxMs: number,
): Promise<{ rows: string[][]; plot: LinePlot }> {
  const head = what === 'sessions' ? 'sessions of 3 transactions' : 'transactions in each of 3 sessions';
  const rows = [[head, 'histories', 's', 'peak MB', 'complete']];
  const points: (readonly [number, number])[] = [];
  const applicationsOf = [
    [wikipedia, wikipediaGrowing],
    [tpcc, tpccGrowing],
  ] as const;
  for (let size = 1; size <= 5; size += 1) {
    const [sessions, transactions] = what === 'sessions' ? [size, 3] : [3, size];
    const all: Measured[] = [];
    for (const [application, programs] of applicationsOf) {
      for (const program of programs) {
        const calls = program.slice(0, sessions).map((session) => session.slice(0, transactions).join('; '));
        all.push(await measure(application(calls.join(' | ')), 'causal', timeMaxMs));
      }
    }
    const mean = (value: (each: Measured) => number): number =>
      all.reduce((sum, each) => sum + value(each), 0) / all.length;
    const done = all.filter(({ complete }) => complete).length;
    points.push([
      size,
      Math.max(
        mean(({ seconds }) => seconds),
        1e-4,
      ),
    ]);
    rows.push([
      String(size),
      mean(({ histories }) => histories).toFixed(0),
      mean(({ seconds }) => seconds).toFixed(3),
      mean(({ peakMb }) => peakMb).toFixed(0),
      `${done} of ${all.length}`,
    ]);
  }
  return {
    rows,
    plot: { title: `Average time at causal, ${head}`, x: what, y: 'seconds', series: [{ name: 'causal', points }] },
  };
}
