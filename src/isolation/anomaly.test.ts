import { describe, expect, test } from 'vitest';
import { type Chooser, seeded } from '../base/index.ts';
import { type History, parseHistory } from '../history/index.ts';
import { anomalies, type Anomaly, type AnomalyName, exampleOf, nameCycle } from './anomaly.ts';
import { check } from './check.ts';
import type { Edge } from './dependency-cycle.ts';
import { type IsolationLevel, isolationLevels } from './level.ts';
import { referenceCheck } from './reference.ts';
import { smallHistory } from './small-history.test-support.ts';

const catalogue = Object.entries(anomalies) as [AnomalyName, Anomaly][];

describe('the example of', () => {
  test.each(catalogue)('%s shows it, and is forbidden first by the level that the catalogue names', (name, anomaly) => {
    const history = exampleOf(anomaly);
    const { forbiddenBy } = anomaly;
    expect(check(history, forbiddenBy)).toMatchObject({ kind: 'violated', anomaly: name });
    expect(referenceCheck(history, forbiddenBy).kind).toBe('violated');
    const weaker = isolationLevels[isolationLevels.indexOf(forbiddenBy) - 1] as IsolationLevel;
    expect(check(history, weaker).kind).toBe('satisfied');
    expect(referenceCheck(history, weaker).kind).toBe('satisfied');
  });

  test.each(catalogue)('%s keeps its name at every stronger level', (name, anomaly) => {
    const stronger = isolationLevels.slice(isolationLevels.indexOf(anomaly.forbiddenBy));
    const names = stronger.map((level) => nameAt(exampleOf(anomaly), level));
    expect(new Set(names)).toEqual(new Set([name]));
  });

  test.each(catalogue)('%s keeps its name when keys, values and sessions are renamed and moved', (name, anomaly) => {
    for (let seed = 0; seed < 40; seed += 1) {
      expect(nameAt(disguised(exampleOf(anomaly), seeded(seed)), 'strict-serializable')).toBe(name);
    }
  });
});

test('a cycle with two anti-dependencies one after another is no long fork, wherever it is cut', () => {
  const cycle: readonly Edge[] = [
    { from: 0, to: 1, relation: 'rw', key: 'x', operation: 0 },
    { from: 1, to: 2, relation: 'wr', key: 'y', operation: 0 },
    { from: 2, to: 0, relation: 'rw', key: 'z', operation: 0 },
  ];
  const names = cycle.map((_, at) => nameCycle([...cycle.slice(at), ...cycle.slice(0, at)]));
  expect(names).toEqual(['G2-item', 'G2-item', 'G2-item']);
});

test('the name of a random history does not depend on names or on the order of sessions', () => {
  const named = new Map<string, number>();
  for (let seed = 0; seed < 1_000; seed += 1) {
    const chooser = seeded(seed, 1);
    const history = smallHistory(chooser, { transactionsMin: 3, transactionsMax: 5, operationsMax: 3, keysMax: 3 });
    const name = nameAt(history, 'serializable');
    const other = nameAt(disguised(history, chooser), 'serializable');
    expect(other).toBe(name);
    named.set(name, (named.get(name) ?? 0) + 1);
  }
  expect(named.size).toBeGreaterThan(8);
});

describe('comes close and is not it:', () => {
  test.each<[AnomalyName, string, string]>([
    ['lost-update', 'the second writer saw the first', 'r x _, w x 1 \n r x 1, w x 2'],
    ['write-skew', 'one of them read after the other', 'r x _, r y _, w x 1 \n r x 1, r y _, w y 1'],
    ['long-fork', 'both observers agree', 'w x 1 \n w y 1 \n r x 1, r y _ \n r x 1, r y 1'],
    ['read-skew', 'both values are old', 'w x 1, w y 1 \n r x _, r y _'],
    ['causality-violation', 'the cause is not missed', 'w x 1 \n r x 1, w y 1 \n r y 1 | r x 1'],
    ['G1c', 'information flows one way', 'r y _, w x 1 \n r x 1, w y 1'],
    ['G0', 'one overwrites both', 'w x 1, w y 1 \n w x 2, w y 2 \n r x 1, r y 2, r x 2'],
  ])('no %s: %s', (name, _why, text) => {
    const verdict = check(parseHistory(text), 'serializable');
    expect(verdict.kind === 'violated' ? verdict.anomaly : 'none').not.toBe(name);
  });

  test.each<[AnomalyName, AnomalyName, string]>([
    ['G-single', 'write-skew', 'w x 1, r y _ \n w x 2, w y 2 | r x 1'],
    ['G2-item', 'write-skew', 'r y _, w x 1 \n r z _, w y 1 \n r x _, w z 1'],
    ['G-single', 'lost-update', 'w x 1, w y 1 | r x 2 \n w x 2, r y _'],
    ['lost-update', 'causality-violation', 'w x 1 | r x 2 \n r x _, w x 2'],
    ['fractured-read', 'read-skew', 'w x 1, w y 1 \n r y 1, r x _'],
  ])('%s, not %s', (name, _other, text) => expect(nameAt(parseHistory(text), 'serializable')).toBe(name));
});

test('a cycle of no known shape is the most general anomaly', () => {
  const edges = [
    { from: 0, to: 1, relation: 'co' },
    { from: 1, to: 0, relation: 'so' },
  ] as const;
  expect(nameCycle(edges)).toBe('G2-item');
});

function nameAt(history: History, level: IsolationLevel): AnomalyName | 'none' {
  const verdict = check(history, level);
  return verdict.kind === 'violated' ? verdict.anomaly : 'none';
}

/** The same history under other names, its sessions in another order and interleaved in another way. */
function disguised(history: History, chooser: Chooser): History {
  const newSessions = shuffled([...history.sessions.keys()], chooser);
  const queues = history.sessions.map((_, session) =>
    [...history.transactions.keys()].filter((t) => history.transactions[t]?.session === session),
  );
  const order = Array.from(history.transactions, () => {
    const open = queues.filter((queue) => queue.length > 0);
    return (open[chooser.choose(open.length)] as number[]).shift() as number;
  });
  const [keyShift, valueShift] = [chooser.choose(3), chooser.choose(40)];
  return {
    ...history,
    sessions: newSessions.map((session) => `session ${session}`),
    transactions: order.map((t) => {
      const { operations, session, ...rest } = history.transactions[t] as History['transactions'][number];
      const renamed = operations.map((operation) => ({
        ...operation,
        key: `key ${(operation.key.charCodeAt(0) + keyShift) % 3}`,
        value: operation.value === null ? null : `value ${(Number(operation.value) * 7 + valueShift) % 41}`,
      }));
      return { ...rest, id: `renamed ${t}`, session: newSessions.indexOf(session), operations: renamed };
    }),
  };
}

function shuffled(items: readonly number[], chooser: Chooser): number[] {
  const left = [...items];
  return items.map(() => left.splice(chooser.choose(left.length), 1)[0] as number);
}
