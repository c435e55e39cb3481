/**
 * The anomalies of Hermitage (Martin Kleppmann, github.com/ept/hermitage) as schedules over rows 1 => 10 and 2 => 20: what has to be seen for
 * each to have happened, and at which levels PostgreSQL and InnoDB let it happen.
 */
import type { Level } from './engine.test-support.ts';
import type { Column, Follower, Operation, Outcome, Schedule, Where } from './schedule.test-support.ts';

export type Step = readonly [session: number, operation: Operation];

/** What each session's statements came to, in order; `isAborted` when an error ended it. `end`: the rows at last. */
export interface Seen {
  readonly outcomes: readonly (readonly Outcome[])[];
  readonly isAborted: readonly boolean[];
  readonly end: Outcome;
}

export interface Scenario {
  readonly name: string;
  readonly steps: readonly Step[];
  readonly hasHappened: (seen: Seen) => boolean;
  /** Levels that let it happen. */
  readonly postgres: readonly Level[];
  readonly innodb: readonly Level[];
}

const point = (column: Column, value: number): Where => ({ kind: 'point', column, value });
const range = (column: Column, from: number, to: number): Where => ({ kind: 'range', column, from, to });
const select = (where: Where): Operation => ({ kind: 'select', where, isEvenOnly: false, lock: null });
const all: Where = { kind: 'all' };
const id = (value: number): Where => point('id', value);
const set = (where: Where, to: number): Operation => ({
  kind: 'update',
  where,
  isEvenOnly: false,
  set: { column: 'v', to },
});
const addTen: Operation = { kind: 'update', where: all, isEvenOnly: false, set: { column: 'v', plus: 10 } };
const remove = (where: Where): Operation => ({ kind: 'delete', where, isEvenOnly: false });
const insert = (key: number, v: number): Operation => ({ kind: 'insert', row: [key, key, v] });
const commit: Operation = { kind: 'commit' };
const rollback: Operation = { kind: 'rollback' };

const committed = ({ isAborted }: Seen, ...sessions: readonly number[]): boolean =>
  sessions.every((session) => isAborted[session] !== true);
const reads = ({ outcomes }: Seen, session: number): string => outcomes[session]?.join('\n') ?? '';

const rc: Level = 'read committed';
const rr: Level = 'repeatable read';
const ru: Level = 'read uncommitted';

export const hermitage: readonly Scenario[] = [
  {
    name: 'G0, dirty write',
    steps: [
      [0, set(id(1), 11)],
      [1, set(id(1), 12)],
      [0, set(id(2), 21)],
      [0, commit],
      [1, set(id(2), 22)],
      [1, commit],
    ],
    hasHappened: ({ end }) => end !== 'rows 1/1/11 2/2/21' && end !== 'rows 1/1/12 2/2/22',
    postgres: [],
    innodb: [],
  },
  {
    name: 'G1a, aborted read',
    steps: [
      [0, set(id(1), 101)],
      [1, select(all)],
      [0, rollback],
      [1, select(all)],
      [1, commit],
    ],
    hasHappened: (seen) => reads(seen, 1).includes('101'),
    postgres: [],
    innodb: [ru],
  },
  {
    name: 'G1b, intermediate read',
    steps: [
      [0, set(id(1), 101)],
      [1, select(all)],
      [0, set(id(1), 11)],
      [0, commit],
      [1, select(all)],
      [1, commit],
    ],
    hasHappened: (seen) => reads(seen, 1).includes('101'),
    postgres: [],
    innodb: [ru],
  },
  {
    name: 'G1c, circular information flow',
    steps: [
      [0, set(id(1), 11)],
      [1, set(id(2), 22)],
      [0, select(id(2))],
      [1, select(id(1))],
      [0, commit],
      [1, commit],
    ],
    hasHappened: (seen) =>
      committed(seen, 0, 1) && reads(seen, 0).includes('2/2/22') && reads(seen, 1).includes('1/1/11'),
    postgres: [],
    innodb: [ru],
  },
  {
    name: 'OTV, observed transaction vanishes',
    steps: [
      [0, set(id(1), 11)],
      [0, set(id(2), 19)],
      [1, set(id(1), 12)],
      [0, commit],
      [2, select(all)],
      [1, set(id(2), 18)],
      [2, select(all)],
      [1, commit],
      [2, select(all)],
      [2, commit],
    ],
    hasHappened: (seen) => reads(seen, 2).includes('1/1/12 2/2/19'),
    postgres: [],
    innodb: [ru],
  },
  {
    name: 'PMP, predicate-many-preceders',
    steps: [
      [0, select(point('v', 30))],
      [1, insert(3, 30)],
      [1, commit],
      [0, select(range('v', 25, 35))],
      [0, commit],
    ],
    hasHappened: (seen) => committed(seen, 0) && seen.outcomes[0]?.[0] === 'rows ' && reads(seen, 0).includes('3/3/30'),
    postgres: [rc],
    innodb: [ru, rc],
  },
  {
    name: 'PMP with a write predicate',
    steps: [
      [1, select(point('v', 20))],
      [0, addTen],
      [1, remove(point('v', 20))],
      [0, commit],
      [1, select(point('v', 20))],
      [1, commit],
    ],
    hasHappened: (seen) => committed(seen, 1) && (seen.outcomes[1]?.[2] ?? 'rows ') !== 'rows ',
    postgres: [rc],
    innodb: [rr],
  },
  {
    name: 'P4, lost update',
    steps: [
      [0, select(id(1))],
      [1, select(id(1))],
      [0, set(id(1), 11)],
      [1, set(id(1), 12)],
      [0, commit],
      [1, commit],
    ],
    hasHappened: (seen) => committed(seen, 0, 1),
    postgres: [rc],
    innodb: [ru, rc, rr],
  },
  {
    name: 'G-single, read skew',
    steps: [
      [0, select(id(1))],
      [1, select(id(1))],
      [1, select(id(2))],
      [1, set(id(1), 12)],
      [1, set(id(2), 18)],
      [1, commit],
      [0, select(id(2))],
      [0, commit],
    ],
    hasHappened: (seen) => committed(seen, 0, 1) && reads(seen, 0) === 'rows 1/1/10\nrows 2/2/18\nok',
    postgres: [rc],
    innodb: [ru, rc],
  },
  {
    name: 'G-single with a predicate',
    steps: [
      [0, select(range('v', 10, 20))],
      [1, set(point('v', 10), 12)],
      [1, commit],
      [0, select(point('v', 12))],
      [0, commit],
    ],
    hasHappened: (seen) => committed(seen, 0, 1) && seen.outcomes[0]?.[1] === 'rows 1/1/12',
    postgres: [rc],
    innodb: [ru, rc],
  },
  {
    name: 'G-single with a write predicate',
    steps: [
      [0, select(id(1))],
      [1, select(all)],
      [1, set(id(1), 12)],
      [1, set(id(2), 18)],
      [1, commit],
      [0, remove(point('v', 20))],
      [0, commit],
    ],
    hasHappened: (seen) => committed(seen, 0, 1) && reads(seen, 0) === 'rows 1/1/10\ncount 0\nok',
    postgres: [rc],
    innodb: [ru, rc, rr],
  },
  {
    name: 'G2-item, write skew',
    steps: [
      [0, select(range('id', 1, 2))],
      [1, select(range('id', 1, 2))],
      [0, set(id(1), 11)],
      [1, set(id(2), 21)],
      [0, commit],
      [1, commit],
    ],
    hasHappened: (seen) => committed(seen, 0, 1),
    postgres: [rc, rr],
    innodb: [ru, rc, rr],
  },
  {
    name: 'G2, anti-dependency cycle',
    steps: [
      [0, select(range('v', 30, 45))],
      [1, select(range('v', 30, 45))],
      [0, insert(3, 30)],
      [1, insert(4, 42)],
      [0, commit],
      [1, commit],
    ],
    hasHappened: (seen) => committed(seen, 0, 1),
    postgres: [rc, rr],
    innodb: [ru, rc, rr],
  },
];

export const hermitageRows: Schedule['rows'] = [
  [1, 1, 10],
  [2, 2, 20],
];

/** Runs the steps; a session that waits does its later steps when its wait ends, one that was aborted rolls back and does none. */
export async function runScenario(steps: readonly Step[], level: Level, follower: Follower): Promise<Seen> {
  const outcomes: Outcome[][] = [[], [], []];
  const isAborted = [false, false, false];
  const due: Operation[][] = [[], [], []];
  const waiting = new Set<number>();
  const goOn = async (): Promise<void> => {
    for (let session = due.findIndex((list, i) => list.length > 0 && !waiting.has(i)); session >= 0; ) {
      const operation = due[session]?.shift();
      if (operation !== undefined && (isAborted[session] !== true || operation.kind === 'rollback')) {
        await follower.start(session, operation, level);
        waiting.add(session);
        for (const [other, outcome] of await follower.settle()) {
          waiting.delete(other);
          outcomes[other]?.push(outcome);
          if (outcome.startsWith('error')) isAborted[other] = true;
        }
      }
      session = due.findIndex((list, i) => list.length > 0 && !waiting.has(i));
    }
  };
  for (const [session, operation] of steps) {
    due[session]?.push(operation);
    await goOn();
  }
  for (let session = 0; session < 3; session++) due[session]?.push(rollback);
  await goOn();
  const done = outcomes.map((list) => list.slice(0, -1));
  await follower.start(0, select(all), rc);
  const end = (await follower.settle()).get(0) ?? '';
  await follower.start(0, rollback, rc);
  await follower.settle();
  return { outcomes: done, isAborted, end };
}
