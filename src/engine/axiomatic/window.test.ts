import { describe, expect, test } from 'vitest';
import { type Chooser, forEveryChoice, seeded } from '../../base/index.ts';
import { formatHistory, type History } from '../../history/index.ts';
import { check, type ConstrainingLevel, constrainingLevels, isStrongerOrEqual } from '../../isolation/index.ts';
import { drawing, enumerating, MockDatabase, type StrategyName } from '../../mockdb/index.ts';
import { SqlError } from '../../sql/model/sql-error.ts';
import {
  cell,
  everyRow,
  type Row,
  type StorageTransaction,
  type TableShape,
  unrecorded,
  type Waiting,
} from '../../sql/model/storage.ts';
import type { SqlValue } from '../../sql/model/value.ts';
import { type AxiomaticStorage, axiomaticStorage } from './storage.ts';
import { all, idIs, now, request, table } from '../engine.test-support.ts';

const options = { isolation: 'serializable', isReadOnly: false } as const;

function storeWith(
  rows: number,
  options_: Parameters<typeof axiomaticStorage>[0],
  shape: TableShape = table,
): AxiomaticStorage {
  const store = axiomaticStorage(options_);
  store.createTable(shape);
  const load = store.begin(0, options);
  for (let id = 0; id < rows; id += 1) now(load.statement().insert(shape.id, [id, null, 0], 'share'));
  now(load.commit());
  store.start();
  return store;
}

function update(t: StorageTransaction, id: number, column: number, value: SqlValue): void {
  const view = t.statement();
  const rows: Row[] = [];
  const matches = (row: Row): boolean => cell(row, 0) === id;
  now(view.lock(table.id, idIs(id), unrecorded(matches), request('no key update'), (row) => rows.push(row) > 0));
  const values: SqlValue[] = [];
  values[column] = value;
  for (const row of rows) now(view.update(row, values, [column]));
}

/** Drops a statement that would wait: the random programs go on without it. */
function unlessItWaits(steps: Waiting<unknown>, undo: () => void): void {
  if (steps.next().done === true) return;
  steps.return(undefined);
  undo();
}

/** Sessions that read, update, insert and delete at random; `open` is how many may be open at a time. */
function runAtRandom(store: AxiomaticStorage, chooser: Chooser, steps: number): void {
  const open: (StorageTransaction | undefined)[] = [undefined, undefined, undefined];
  let value = 0;
  for (let step = 0; step < steps; step += 1) {
    const session = chooser.choose(open.length);
    const t = (open[session] ??= store.begin(session, options));
    const id = chooser.choose(3);
    value += 1;
    try {
      const choice = chooser.choose(10);
      if (choice < 3)
        for (const row of t.statement().scan(table.id, idIs(id), everyRow))
          for (const column of [2, 1]) cell(row, column);
      else if (choice < 6) update(t, id, 2, value);
      else if (choice === 6) {
        const view = t.statement();
        unlessItWaits(view.insert(table.id, [id, null, value], 'share'), () => view.undo());
      } else if (choice === 7) {
        const view = t.statement();
        const [row] = [...view.scan(table.id, all, everyRow)];
        if (row !== undefined) now(view.delete(row));
      } else {
        open[session] = undefined;
        if (chooser.choose(6) === 0) t.rollback();
        else now(t.commit());
      }
    } catch (error) {
      if (!(error instanceof SqlError) || error.code !== '40001') throw error;
      open[session] = undefined;
    }
  }
  for (const t of open) t?.rollback();
}

const strategies: readonly StrategyName[] = ['uniform', 'older', 'every-write'];

describe.each(constrainingLevels)('with a window of a few transactions, at %s', (level) => {
  test.each(['cell', 'row'] as const)('every history is at its level; %s granularity', (granularity) => {
    let heldMost = 0;
    for (let seed = 0; seed < 30; seed += 1) {
      const chooser = seeded(seed);
      const strategy = strategies[seed % strategies.length] as StrategyName;
      const store = storeWith(2, {
        level,
        granularity,
        decisions: drawing({ chooser, strategy }),
        windowMax: 2 + (seed % 5),
      });
      runAtRandom(store, chooser, 160);
      const history = store.history();
      expect(history.transactions.length).toBeGreaterThan(10);
      const verdict = check(history, level, { abortedReads: 'constrained' });
      expect(verdict.kind, `seed ${seed}\n${formatHistory(history)}`).toBe('satisfied');
      heldMost = Math.max(heldMost, store.held);
    }
    expect(heldMost).toBeLessThan(45);
  });
});

test('with a window of a few transactions, levels mixed', () => {
  for (let seed = 0; seed < 60; seed += 1) {
    const chooser = seeded(seed);
    const strategy = strategies[seed % strategies.length] as StrategyName;
    const decisions = drawing({ chooser, strategy });
    const store = storeWith(2, { level: 'causal', decisions, windowMax: 2 + (seed % 5) });
    for (let part = 0; part < 40; part += 1) {
      store.setLevel(constrainingLevels[chooser.choose(constrainingLevels.length)] as ConstrainingLevel);
      runAtRandom(store, chooser, 8);
    }
    store.setLevel('causal');
    const history = store.history();
    const levelOf = (t: number) => (history.transactions[t]?.level ?? 'causal') as ConstrainingLevel;
    const verdict = check(history, levelOf, { abortedReads: 'constrained' });
    expect(verdict.kind, `seed ${seed}\n${formatHistory(history)}`).toBe('satisfied');
  }
});

test.each(['read-committed', 'causal', 'serializable'] as const)(
  'what is held stays bounded over 2,000 transactions at %s',
  (level) => {
    const chooser = seeded(5);
    const store = storeWith(3, { level, decisions: drawing({ chooser }), windowMax: 20 });
    let most = 0;
    for (let i = 0; i < 20; i += 1) {
      runAtRandom(store, chooser, 300);
      most = Math.max(most, store.held);
    }
    expect(most).toBeLessThan(20 * 8 + 10);
  },
);

test('weak behaviour remains: at causal a session that comes late reads old versions, within the window', () => {
  const store = storeWith(1, {
    level: 'causal',
    decisions: drawing({ chooser: seeded(1), strategy: 'older' }),
    windowMax: 10,
  });
  for (let i = 1; i <= 100; i += 1) {
    const t = store.begin(0, options);
    update(t, 0, 2, i);
    now(t.commit());
  }
  const seen = Array.from({ length: 50 }, (_, i) => {
    const [row] = [
      ...store
        .begin(10 + i, options)
        .statement()
        .scan(table.id, all, everyRow),
    ] as [Row];
    return cell(row, 2) as number;
  });
  expect(new Set(seen).size).toBeGreaterThan(3);
  expect(Math.min(...seen)).toBeGreaterThan(85);
});

test('a transaction that stays open is given up when too much waits for it', () => {
  const store = storeWith(1, {
    level: 'serializable',
    decisions: drawing({ chooser: seeded(1), strategy: 'latest' }),
    windowMax: 10,
  });
  const idle = store.begin(1, options);
  for (const row of idle.statement().scan(table.id, all, everyRow)) cell(row, 2);
  for (let i = 1; i <= 300; i += 1) {
    const t = store.begin(0, options);
    update(t, 0, 2, i);
    now(t.commit());
  }
  expect(store.held).toBeLessThan(100);
  expect(() => idle.statement()).toThrow('open for too long');
  expect(check(store.history(), 'serializable').kind).toBe('satisfied');
});

/** Two sessions of one or two transactions that read rows x and y, or read and then write them. */
type Step = readonly ['read' | 'write', 'x' | 'y'] | 'commit' | 'abort';
const programs: Record<string, readonly (readonly Step[])[]> = {
  'lost update': [
    [['write', 'x'], 'commit'],
    [['write', 'x'], 'commit', ['read', 'x'], 'commit'],
  ],
  'write skew': [
    [['read', 'x'], ['write', 'y'], 'commit'],
    [['read', 'y'], ['write', 'x'], 'commit'],
  ],
  'long fork': [
    [['write', 'x'], 'commit'],
    [['write', 'y'], 'commit'],
    [['read', 'x'], ['read', 'y'], 'commit'],
    [['read', 'y'], ['read', 'x'], 'commit'],
  ],
  'reads that repeat, an abort': [
    [['write', 'x'], ['write', 'y'], 'abort', ['write', 'x'], 'commit'],
    [['read', 'x'], ['read', 'x'], ['read', 'y'], ['read', 'x'], 'commit'],
  ],
};

/** One step of each session in turn. */
function* turns(sessions: readonly (readonly Step[])[]): Generator<[number, Step]> {
  for (let i = 0; i < Math.max(...sessions.map(({ length }) => length)); i += 1)
    for (const [session, steps] of sessions.entries()) if (steps[i] !== undefined) yield [session, steps[i] as Step];
}

interface KeyValue {
  readonly read: (key: string) => void;
  readonly write: (key: string, value: number) => void;
  readonly commit: () => void;
  readonly abort: () => void;
}

function play(sessions: readonly (readonly Step[])[], begin: (session: number) => KeyValue): void {
  const open: (KeyValue | undefined)[] = [];
  let value = 0;
  for (const [session, step] of turns(sessions)) {
    const t = (open[session] ??= begin(session));
    value += 1;
    if (step === 'commit' || step === 'abort') {
      t[step]();
      open[session] = undefined;
    } else t[step[0]](step[1], value);
  }
}

const rows: TableShape = {
  ...table,
  columns: ['id', 'v'],
  indexes: [(table.indexes as [(typeof table.indexes)[0]])[0]],
};
const keys = ['x', 'y'];

function asStorage(level: ConstrainingLevel, chooser: Chooser, windowMax: number) {
  const decisions = enumerating(chooser);
  const store = axiomaticStorage({ level, granularity: 'row', decisions, windowMax });
  store.createTable(rows);
  const load = store.begin(0, options);
  for (const id of keys) now(load.statement().insert(rows.id, [id, 0], 'share'));
  now(load.commit());
  store.start();
  const path = (key: string) => ({ kind: 'index', index: 10, prefix: [key], isDescending: false }) as const;
  const begin = (session: number): KeyValue => {
    const t = store.begin(session, options);
    return {
      read: (key) => expect([...t.statement().scan(rows.id, path(key), everyRow)]).toHaveLength(1),
      write: (key, value) => {
        const view = t.statement();
        const found: Row[] = [];
        now(view.lock(rows.id, path(key), everyRow, request('update'), (row) => found.push(row) > 0));
        for (const row of found) now(view.update(row, [key, value], [1]));
      },
      commit: () => {
        try {
          now(t.commit());
        } catch (error) {
          expect(error).toMatchObject({ code: '40001' });
        }
      },
      abort: () => t.rollback(),
    };
  };
  return { begin, history: () => store.history(), decisions };
}

function asKeyValueStore(level: ConstrainingLevel, chooser: Chooser) {
  const decisions = enumerating(chooser);
  const database = new MockDatabase({ level, initial: new Map(keys.map((key) => [key, 0])) });
  database.reset(decisions);
  const begin = (session: number): KeyValue => {
    const t = database.begin(session);
    return {
      read: (key) => t.read(key),
      write: (key, value) => {
        t.read(key);
        t.write(key, value);
      },
      commit: () => t.commit(),
      abort: () => t.abort(),
    };
  };
  return { begin, history: () => database.history(), decisions };
}

/** Both by position: keys `t/x` become `x`, rows become their `v`; which write a read saw is told by its value. */
function textOf(history: History): string {
  const transactions = history.transactions.map(({ session, status, operations }) => {
    const text = operations.map(({ kind, key, value }) => {
      const v = typeof value === 'object' && value !== null && 'v' in value ? value['v'] : value;
      return `${kind} ${key.replace('t/', '')} ${JSON.stringify(v)}`;
    });
    return `${session} ${status} ${text.join(', ')}`;
  });
  return transactions.join('\n');
}

describe.each(constrainingLevels)('with all transactions in the window, at %s', (level) => {
  test.each(Object.entries(programs))(
    '%s has the behaviours of the key-value store, in the same order',
    (_name, sessions) => {
      const behaviours = (open: (chooser: Chooser) => ReturnType<typeof asKeyValueStore>): string[] => {
        const found: string[] = [];
        forEveryChoice((chooser) => {
          const { begin, history, decisions } = open(chooser);
          play(sessions, begin);
          found.push(`${decisions.path.join(' ')}\n${textOf(history())}`);
        });
        return found;
      };
      const expected = behaviours((chooser) => asKeyValueStore(level, chooser));
      expect(behaviours((chooser) => asStorage(level, chooser, Infinity))).toEqual(expected);
      expect(new Set(expected).size).toBe(expected.length);
      // A window only takes behaviours away. (At the strong levels it refuses commits, and what comes after is another program.)
      const histories = (texts: string[]): Set<string> => new Set(texts.map((text) => text.slice(text.indexOf('\n'))));
      const windowed = histories(behaviours((chooser) => asStorage(level, chooser, 1)));
      if (isStrongerOrEqual(level, 'prefix')) return;
      expect([...windowed].filter((text) => !histories(expected).has(text))).toEqual([]);
    },
  );
});
