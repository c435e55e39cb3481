/**
 * The experiments of the evaluation of explore-ce (PLDI 2023, section 7.3): applications, sessions, transactions a session. Times are processor
 * time of this process, so that other jobs on the machine disturb less.
 */
import { exploring, nextPath } from '#moirai/base';
import { type BaseLevel, explore } from '#moirai/explore';
import type { ConstrainingLevel } from '#moirai/isolation';
import { enumerating, MockDatabase } from '#moirai/mockdb';
import { type Program, runProgram } from '#moirai/program';
import { clients } from '../examples/pldi2023/applications.ts';
import { tpcc, tpccGrowing } from '../examples/pldi2023/tpcc.ts';
import { wikipedia, wikipediaGrowing } from '../examples/pldi2023/wikipedia.ts';
import type { LinePlot } from './line-plot.ts';

export interface Measured {
  readonly histories: number;
  /** Histories of complete executions, before those that are not at the level are left out. */
  readonly endStates: number;
  readonly complete: boolean;
  readonly seconds: number;
  /** The most that was in use on the heap when somebody looked. */
  readonly peakMb: number;
}

export interface Experiment {
  readonly name: string;
  readonly title: string;
  readonly rows: string[][];
  readonly plots: readonly { readonly name: string; readonly plot: LinePlot }[];
}

/** explore-ce*(I0, I); the first is explore-ce, and the last is the paper's baseline. */
const searches: Readonly<Record<string, { readonly base: BaseLevel; readonly level: ConstrainingLevel } | null>> = {
  CC: { base: 'causal', level: 'causal' },
  'CC + SI': { base: 'causal', level: 'snapshot-isolation' },
  'CC + SER': { base: 'causal', level: 'serializable' },
  'RA + CC': { base: 'read-atomic', level: 'causal' },
  'RC + CC': { base: 'read-committed', level: 'causal' },
  'true + CC': { base: 'any', level: 'causal' },
  DFS: null,
};

class Meter {
  readonly #start = process.cpuUsage().user;
  peakMb = 0;

  get seconds(): number {
    return (process.cpuUsage().user - this.#start) / 1e6;
  }

  look(): void {
    this.peakMb = Math.max(this.peakMb, process.memoryUsage().heapUsed / 1e6);
  }
}

class OutOfTime extends Error {}

async function measure(
  program: Program,
  levels: { readonly base: BaseLevel; readonly level: ConstrainingLevel },
  secondsMax: number,
): Promise<Measured> {
  const meter = new Meter();
  let seen = { histories: 0, runs: 0 };
  let complete = true;
  try {
    seen = await explore(withoutInvariant(program), {
      ...levels,
      onProgress: (progress) => {
        seen = progress;
        meter.look();
        if (meter.seconds > secondsMax) throw new OutOfTime();
      },
    });
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error;
    complete = false;
  }
  meter.look();
  const { seconds, peakMb } = meter;
  return { histories: seen.histories, endStates: seen.runs, complete, seconds, peakMb };
}

/** What is measured is the search, as in the paper. */
function withoutInvariant(program: Program): Program {
  // One that takes nothing would have every session run every time.
  return { ...program, invariant: (end) => end !== null };
}

/** Depth-first search without reduction, on the same store: who goes next and what a read sees, every way; one transaction at a time. */
async function measureDepthFirst(program: Program, secondsMax: number): Promise<Measured> {
  const database = new MockDatabase({ level: 'causal', initial: program.initial, sessionNames: program.sessionNames });
  const meter = new Meter();
  let endStates = 0;
  let path: number[] | null = [];
  while (path !== null && meter.seconds < secondsMax) {
    const chooser = exploring(path);
    const decisions = enumerating(chooser);
    database.reset(decisions);
    await runProgram(program, database, { nextSession: decisions.session });
    endStates += 1;
    if ((endStates & 255) === 0) meter.look();
    path = nextPath(chooser.path, chooser.options);
  }
  meter.look();
  const { seconds, peakMb } = meter;
  return { histories: endStates, endStates, complete: path === null, seconds, peakMb };
}

/** The first experiment. */
export async function applications(secondsMax: number): Promise<Experiment> {
  const names = Object.keys(searches);
  const all = new Map<string, Measured[]>(names.map((name) => [name, []]));
  const rows = [['client', 'CC', 'SI', 'SER', ...names.flatMap((name) => [name, 'CPU s'])]];
  for (const [client, program] of Object.entries(clients)) {
    await explore(program, { historiesMax: 100 }); // warm
    const found: Measured[] = [];
    for (const [name, levels] of Object.entries(searches)) {
      const one = await (levels === null
        ? measureDepthFirst(program, secondsMax)
        : measure(program, levels, secondsMax));
      all.get(name)?.push(one);
      found.push(one);
    }
    const histories = found.slice(0, 3).map((one) => (one.complete ? String(one.histories) : '-'));
    rows.push([client, ...histories, ...found.flatMap((one) => [endStatesOf(one), secondsOf(one)])]);
  }
  const summary = (name: string, of: (found: readonly Measured[]) => string): void =>
    void rows.push([name, '', '', '', ...names.flatMap((each) => ['', of(all.get(each) as Measured[])])]);
  summary('done', (found) => String(found.filter(({ complete }) => complete).length));
  summary('average s', (found) => mean(found, (one) => one.seconds).toFixed(2));
  summary('average peak MB', (found) => mean(found, (one) => one.peakMb).toFixed(0));
  const plot = (y: string, value: (one: Measured) => number): LinePlot => ({
    title: `Clients by ${y}`,
    x: 'clients',
    y,
    series: [...all].map(([name, found]) => ({ name, points: cactus(found.filter((one) => one.complete).map(value)) })),
  });
  return {
    name: 'applications',
    title: `Clients of PLDI 2023, three sessions of three transactions: histories, then end states and CPU seconds of each search (limit ${secondsMax} s)`,
    rows,
    plots: [
      { name: 'time', plot: plot('CPU seconds', (one) => one.seconds) },
      { name: 'memory', plot: plot('peak MB', (one) => one.peakMb) },
      { name: 'end-states', plot: plot('end states', (one) => one.endStates) },
    ],
  };
}

function endStatesOf({ endStates: count, complete }: Measured): string {
  return complete ? String(count) : `> ${count}`;
}

function secondsOf(one: Measured): string {
  return one.complete ? one.seconds.toFixed(2) : '-';
}

function mean(found: readonly Measured[], value: (one: Measured) => number): number {
  return found.reduce((total, one) => total + value(one), 0) / found.length;
}

/** How many are done when each has its share: sorted, so that the n-th point is the n-th smallest. */
function cactus(values: readonly number[]): (readonly [number, number])[] {
  return values.toSorted((a, b) => a - b).map((value, i) => [i + 1, Math.max(value, 1e-4)] as const);
}

/** The second and third experiments: averages over ten programs, at causal. */
export async function growth(what: 'sessions' | 'transactions', secondsMax: number): Promise<Experiment> {
  const head = what === 'sessions' ? 'sessions of 3 transactions' : 'transactions in each of 3 sessions';
  const rows = [[head, 'histories', 'CPU s', 'histories/s', 'peak MB', 'complete']];
  const time: (readonly [number, number])[] = [];
  const memory: (readonly [number, number])[] = [];
  for (let size = 1; size <= 5; size += 1) {
    const [sessions, transactions] = what === 'sessions' ? [size, 3] : [3, size];
    const all: Measured[] = [];
    for (const program of programsOf(sessions, transactions))
      all.push(await measure(program, { base: 'causal', level: 'causal' }, secondsMax));
    const total = mean(all, (one) => one.seconds);
    const histories = mean(all, (one) => one.histories);
    time.push([size, Math.max(total, 1e-4)]);
    memory.push([size, mean(all, (one) => one.peakMb)]);
    rows.push([
      String(size),
      histories.toFixed(0),
      total.toFixed(3),
      (histories / total).toFixed(0),
      mean(all, (one) => one.peakMb).toFixed(0),
      `${all.filter(({ complete }) => complete).length} of ${all.length}`,
    ]);
  }
  const plot = (y: string, points: (readonly [number, number])[]): LinePlot => ({
    title: `Averages at causal, ${head}`,
    x: what,
    y,
    series: [{ name: 'causal', points }],
  });
  return {
    name: what,
    title: `Ten programs of Wikipedia and TPC-C, averages at causal, ${what} (limit ${secondsMax} s a program)`,
    rows,
    plots: [
      { name: 'time', plot: plot('CPU seconds', time) },
      { name: 'memory', plot: plot('peak MB', memory) },
    ],
  };
}

function programsOf(sessions: number, transactions: number): Program[] {
  const applicationsOf = [
    [wikipedia, wikipediaGrowing],
    [tpcc, tpccGrowing],
  ] as const;
  return applicationsOf.flatMap(([application, programs]) =>
    programs.map((program) => {
      const calls = program.slice(0, sessions).map((session) => session.slice(0, transactions).join('; '));
      return application(calls.join(' | '));
    }),
  );
}
