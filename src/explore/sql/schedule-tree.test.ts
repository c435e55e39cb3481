/** Every class of schedules exactly once: small programs over variables and locks, against all schedules. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assert } from '../../base/assert.ts';
import { Footprint } from '../../engine/index.ts';
import { HappensBefore, type Step } from './happens-before.ts';
import { ScheduleTree } from './schedule-tree.ts';

const isHeavy = process.env['MOIRAI_HEAVY'] === '1';

type Operation =
  | { readonly kind: 'read' | 'write' | 'increment'; readonly variable: number }
  /** What it writes, or whether it does, depends on what it reads. */
  | { readonly kind: 'if'; readonly variable: number; readonly ifEven: number; readonly otherwise: number | null }
  /** Of all variables; reads with the last one of the process. */
  | { readonly kind: 'snapshot' | 'look'; readonly variable: number }
  | { readonly kind: 'look if'; readonly variable: number; readonly ifEven: number; readonly otherwise: number | null }
  | { readonly kind: 'share' | 'lock' | 'try' | 'unlock'; readonly variable: number };
type Processes = readonly (readonly Operation[])[];

/** A program that is run step by step, and tells its footprints as an engine does. */
class Machine {
  footprint = new Footprint();
  readonly #processes: Processes;
  readonly #variables = [0, 0, 0];
  readonly #holders: { readonly process: number; readonly mode: 'S' | 'X' }[][] = [[], [], []];
  readonly #at: number[];
  readonly #waits: boolean[];
  readonly #logs: number[][];
  readonly #snapshots: { readonly variables: readonly number[]; readonly footprint: Footprint }[] = [];

  constructor(processes: Processes) {
    this.#processes = processes;
    this.#at = processes.map(() => 0);
    this.#waits = processes.map(() => false);
    this.#logs = processes.map(() => []);
  }

  ready(): number[] {
    return [...this.#processes.keys()].filter((process) => {
      const operation = this.#next(process);
      return operation !== undefined && !(this.#waits[process] && this.#isBlocked(process, operation));
    });
  }

  isWaiting(process: number): boolean {
    return this.#waits[process] === true;
  }

  outcome(): string {
    return JSON.stringify([this.#logs, this.#variables, this.#at]);
  }

  step(process: number): void {
    const operation = this.#next(process) as Operation;
    this.#waits[process] = false;
    const { kind, variable } = operation;
    if (kind === 'share' || kind === 'lock' || kind === 'try' || kind === 'unlock') {
      if (!this.#lock(process, operation)) return;
    } else if (kind === 'if' || kind === 'look if') {
      const value = kind === 'if' ? this.#read(variable) : this.#look(process, variable);
      const target = value % 2 === 0 ? operation.ifEven : operation.otherwise;
      if (target !== null) this.#write(target, process + 1);
    } else if (kind === 'snapshot') {
      this.#takeSnapshot(process);
    } else if (kind === 'look') {
      this.#log(process, this.#look(process, variable));
    } else {
      if (kind !== 'write') this.#log(process, this.#read(variable));
      if (kind !== 'read') this.#write(variable, kind === 'write' ? process + 1 : this.#read(variable) + 1);
    }
    this.#at[process] = (this.#at[process] as number) + 1;
  }

  /** @returns is it done? */
  #lock(process: number, operation: Operation): boolean {
    const { kind, variable } = operation;
    const holders = this.#holders[variable] ?? [];
    const mine = holders.findIndex((holder) => holder.process === process);
    if (kind === 'unlock') {
      if (mine >= 0) this.footprint.touch(`lock ${variable}`, (holders.splice(mine, 1)[0] as { mode: 'S' | 'X' }).mode);
      return true;
    }
    if (mine >= 0) return true;
    const mode = kind === 'share' ? 'S' : 'X';
    const isBlocked = this.#isBlocked(process, operation);
    this.footprint.touch(`lock ${variable}`, isBlocked && kind === 'try' ? 'try X' : mode);
    if (kind === 'try') this.#log(process, isBlocked ? 1 : 0);
    if (isBlocked && kind !== 'try') {
      this.#waits[process] = true;
      return false;
    }
    if (!isBlocked) holders.push({ process, mode });
    return true;
  }

  #isBlocked(process: number, { kind, variable }: Operation): boolean {
    const holders = this.#holders[variable] ?? [];
    return holders.some((holder) => holder.process !== process && (kind !== 'share' || holder.mode === 'X'));
  }

  #next(process: number): Operation | undefined {
    return this.#processes[process]?.[this.#at[process] ?? 0];
  }

  #read(variable: number): number {
    this.footprint.touch(`x${variable}`, 'read');
    return this.#variables[variable] ?? 0;
  }

  #takeSnapshot(process: number): void {
    this.#snapshots[process] = { variables: [...this.#variables], footprint: this.footprint };
  }

  /** What is read with the snapshot, the step that took it has read. */
  #look(process: number, variable: number): number {
    if (this.#snapshots[process] === undefined) this.#takeSnapshot(process);
    const snapshot = this.#snapshots[process];
    snapshot?.footprint.touch(`x${variable}`, 'read');
    return snapshot?.variables[variable] ?? 0;
  }

  #write(variable: number, value: number): void {
    this.footprint.touch(`x${variable}`, 'change');
    this.#variables[variable] = value;
  }

  #log(process: number, value: number): void {
    this.#logs[process]?.push(value);
  }
}

interface Seen {
  readonly runs: number;
  readonly repetitions: number;
  /** Classes of schedules, with how often each was walked. */
  readonly classes: ReadonlyMap<string, number>;
  readonly outcomes: readonly string[];
}

interface WalkOptions {
  readonly reduces: boolean;
  /** Who goes first, before the tree decides anything: positions among the ready. */
  readonly prefix?: readonly number[];
  readonly runsMax?: number;
}

function walk(processes: Processes, { reduces, prefix = [], runsMax = Infinity }: WalkOptions): Seen | null {
  let machine = new Machine(processes);
  const tree = new ScheduleTree({
    processOf: (connection) => `p${connection}`,
    phase: () => 'sessions',
    waiting: () =>
      [...processes.keys()].filter((process) => machine.isWaiting(process)).map((process) => `p${process}`),
    takeFootprint: () => {
      const { footprint } = machine;
      machine.footprint = new Footprint();
      return footprint.taken();
    },
    endRun: () => {},
    reduces,
  });
  const classes = new Map<string, number>();
  const outcomes = new Set<string>();
  let runs = 0;
  let repetitions = 0;
  do {
    if (runs + repetitions >= runsMax) return null;
    machine = new Machine(processes);
    for (const position of prefix) {
      const ready = machine.ready();
      if (ready.length > 0) machine.step(ready[position % ready.length] as number);
    }
    machine.footprint = new Footprint();
    const steps: Step[] = [];
    const names: string[] = [];
    const counts = new Map<string, number>();
    const decisions = tree.decisions();
    for (let ready = machine.ready(); ready.length > 0; ready = machine.ready()) {
      const process = decisions.session(ready);
      machine.step(process);
      const name = `p${process}`;
      const ordinal = counts.get(name) ?? 0;
      steps.push({ process: name, ordinal, footprint: machine.footprint, waits: machine.isWaiting(process) });
      counts.set(name, (counts.get(name) ?? 0) + 1);
      names.push(`${name}.${counts.get(name)}`);
    }
    tree.finish();
    if (tree.isRepetition) repetitions += 1;
    else {
      runs += 1;
      const order = new HappensBefore();
      for (const step of steps) order.add(step);
      outcomes.add(machine.outcome());
      const key = classOf(order, names);
      classes.set(key, (classes.get(key) ?? 0) + 1);
    }
  } while (tree.next());
  expect(tree.hasDiverged).toBe(false);
  return { runs, repetitions, classes, outcomes: [...outcomes].toSorted() };
}

/** Steps by name, with those that happen before each: the same for schedules that differ in the order of independent neighbours. */
function classOf(order: HappensBefore, names: readonly string[]): string {
  const lines = names.map((name, i) => {
    const before = names.filter((_, j) => j < i && order.happensBefore(j, i));
    return `${name}<-${before.toSorted().join()}`;
  });
  return lines.toSorted().join(';');
}

const variable = fc.nat(2);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { arbitrary: fc.record({ kind: fc.constantFrom('read', 'write', 'increment'), variable }), weight: 3 },
  {
    arbitrary: fc.record({
      kind: fc.constant('if' as const),
      variable,
      ifEven: variable,
      otherwise: fc.option(variable, { nil: null }),
    }),
    weight: 2,
  },
  { arbitrary: fc.record({ kind: fc.constantFrom('share', 'lock', 'lock', 'try', 'unlock'), variable }), weight: 3 },
);
const processes: fc.Arbitrary<Processes> = fc.oneof(
  fc.array(fc.array(operation, { minLength: 1, maxLength: 5 }), { minLength: 2, maxLength: 2 }),
  fc.array(fc.array(operation, { minLength: 1, maxLength: 3 }), { minLength: 3, maxLength: 3 }),
  fc.array(fc.array(operation, { minLength: 1, maxLength: 2 }), { minLength: 4, maxLength: 4 }),
);

/** Three that mostly want locks, and wait. */
const lockOperation: fc.Arbitrary<Operation> = fc.oneof(
  {
    arbitrary: fc.record({ kind: fc.constantFrom('share', 'lock', 'lock', 'try', 'unlock'), variable: fc.nat(1) }),
    weight: 5,
  },
  { arbitrary: fc.record({ kind: fc.constantFrom('read', 'write', 'increment'), variable: fc.nat(1) }), weight: 1 },
);
const waitingProcesses: fc.Arbitrary<Processes> = fc.array(fc.array(lockOperation, { minLength: 2, maxLength: 3 }), {
  minLength: 3,
  maxLength: 3,
});

test('each class of schedules is walked exactly once', { timeout: 900_000 }, () => {
  let all = 0;
  let reduced = 0;
  let repetitions = 0;
  fc.assert(
    fc.property(processes, (drawn) => {
      const every = walk(drawn, { reduces: false, runsMax: 3_000 });
      fc.pre(every !== null);
      const some = walk(drawn, { reduces: true });
      assert(some !== null, 'no limit was given');
      expect(some.outcomes).toEqual(every.outcomes);
      expect([...some.classes.keys()].toSorted()).toEqual([...every.classes.keys()].toSorted());
      expect(some.runs).toBe(some.classes.size);
      all += every.runs;
      reduced += some.runs;
      repetitions += some.repetitions;
    }),
    { numRuns: isHeavy ? 20_000 : 1_000 },
  );
  expect(reduced).toBeLessThan(all / 3);
  expect(repetitions).toBeLessThan(reduced);
});

/** Snapshots that read what others write. */
const snapshotOperation: fc.Arbitrary<Operation> = fc.oneof(
  {
    arbitrary: fc.record({ kind: fc.constantFrom('snapshot', 'look', 'look', 'write', 'increment'), variable }),
    weight: 4,
  },
  {
    arbitrary: fc.record({
      kind: fc.constantFrom('if' as const, 'look if' as const),
      variable,
      ifEven: variable,
      otherwise: fc.option(variable, { nil: null }),
    }),
    weight: 2,
  },
  { arbitrary: fc.record({ kind: fc.constantFrom('share', 'lock', 'try', 'unlock'), variable: fc.nat(1) }), weight: 1 },
);
const snapshotProcesses: fc.Arbitrary<Processes> = fc.oneof(
  fc.array(fc.array(snapshotOperation, { minLength: 1, maxLength: 5 }), { minLength: 2, maxLength: 2 }),
  fc.array(fc.array(snapshotOperation, { minLength: 1, maxLength: 3 }), { minLength: 3, maxLength: 3 }),
);

test('nothing is lost where steps turn out to conflict later, by reads with their snapshots', {
  timeout: 900_000,
}, () => {
  let all = 0;
  let reduced = 0;
  let repetitions = 0;
  fc.assert(
    fc.property(snapshotProcesses, (drawn) => {
      const every = walk(drawn, { reduces: false, runsMax: 3_000 });
      fc.pre(every !== null);
      const some = walk(drawn, { reduces: true });
      assert(some !== null, 'no limit was given');
      expect(some.outcomes).toEqual(every.outcomes);
      expect([...some.classes.keys()].toSorted()).toEqual([...every.classes.keys()].toSorted());
      expect(some.runs).toBe(some.classes.size);
      all += every.runs;
      reduced += some.runs;
      repetitions += some.repetitions;
    }),
    { numRuns: isHeavy ? 20_000 : 1_000 },
  );
  expect(reduced).toBeLessThan(all / 3);
  // A step leaves the sleep set where it conflicts in some run, also for the runs in which it does not.
  expect(repetitions).toBeLessThan(reduced / 5);
});

function expectNothingLost(processesOf: Processes, prefix: readonly number[]): void {
  const every = walk(processesOf, { reduces: false, prefix, runsMax: 3_000 });
  fc.pre(every !== null);
  const some = walk(processesOf, { reduces: true, prefix });
  assert(some !== null, 'no limit was given');
  expect(some.outcomes).toEqual(every.outcomes);
  expect([...some.classes.keys()].toSorted()).toEqual([...every.classes.keys()].toSorted());
}

test('what comes after a prefix is a tree of its own, in which somebody may wait from the start', {
  timeout: 900_000,
}, () => {
  fc.assert(fc.property(waitingProcesses, fc.array(fc.nat(3), { minLength: 1, maxLength: 4 }), expectNothingLost), {
    numRuns: isHeavy ? 5_000 : 300,
  });
  // The third waits for the second from the start; when that has unlocked, the first may come before it with a share.
  expectNothingLost(
    [
      [
        { kind: 'share', variable: 1 },
        { kind: 'share', variable: 0 },
      ],
      [
        { kind: 'try', variable: 0 },
        { kind: 'share', variable: 0 },
        { kind: 'unlock', variable: 0 },
      ],
      [
        { kind: 'lock', variable: 0 },
        { kind: 'share', variable: 0 },
      ],
    ],
    [1, 2, 0],
  );
});

test.each([
  [
    'nothing in common',
    [
      ['write', 0],
      ['write', 0],
    ],
    [
      ['write', 1],
      ['write', 1],
    ],
    1,
  ],
  ['one variable', [['write', 0]], [['write', 0]], 2],
  [
    'two variables, in both orders',
    [
      ['write', 0],
      ['write', 1],
    ],
    [
      ['write', 1],
      ['write', 0],
    ],
    3,
  ],
] as const)('%s', (_name, a, b, runs) => {
  const operations = (list: readonly (readonly ['write', number])[]): Operation[] =>
    list.map(([kind, of]) => ({ kind, variable: of }));
  expect(walk([operations(a), operations(b)], { reduces: true })).toMatchObject({ runs, repetitions: 0 });
});

test('a waiter for two locks that are shared continues in every order that the holders leave', () => {
  // q waits for s; meanwhile p takes its share too, or waits for q.
  const program: Processes = [
    [
      { kind: 'share', variable: 0 },
      { kind: 'unlock', variable: 0 },
    ],
    [
      { kind: 'share', variable: 0 },
      { kind: 'unlock', variable: 0 },
    ],
    [
      { kind: 'lock', variable: 0 },
      { kind: 'unlock', variable: 0 },
    ],
  ];
  const every = walk(program, { reduces: false }) as Seen;
  const some = walk(program, { reduces: true }) as Seen;
  expect([...some.classes.keys()].toSorted()).toEqual([...every.classes.keys()].toSorted());
});
