import { describe, expect, test } from 'vitest';
import { type History, INITIAL, type Operation, type Transaction } from './history.ts';
import { parseHistory } from './notation.ts';
import { relationsOf, type RelationsOptions } from './relations.ts';

describe('an external read', () => {
  test('sees the transaction that wrote its value', () => {
    expect(externalReads('w x 1 \n w x 2 \n r x 2, r x 1')).toEqual(['2/0 x from 1/0', '2/0 x from 0/0']);
  });

  test('of null sees the initial state where nobody wrote null', () => {
    expect(externalReads('w x 1 \n r x null')).toEqual(['1/0 x from initial']);
  });

  test('of an initial value sees the initial state', () => {
    expect(externalReads('initial {"x":{"a":1,"b":2}} \n r x {"b":2,"a":1}')).toEqual(['0/0 x from initial']);
  });

  test('sees the recorded writer where several wrote its value', () => {
    expect(externalReads('w x 1 \n w x 1 \n r x 1 <- 1/0')).toEqual(['2/0 x from 1/0']);
    expect(externalReads('w x null \n r x _, r x null <- 0/0')).toEqual(['1/0 x from initial', '1/0 x from 0/0']);
  });

  test('sees a transaction that wrote its value, overwrote it and wrote it again', () => {
    expect(externalReads('w x 1, w x 2, w x 1 \n r x 1')).toEqual(['1/0 x from 0/0']);
  });
});

describe('a read of the own transaction', () => {
  test('says nothing when it sees the last own write', () => {
    const relations = relationsOf(parseHistory('w x 1, w x 2, r x 2'));
    expect(relations.reads).toEqual([]);
    expect(relations.phenomena).toEqual([]);
  });

  test.each([
    ['an own write that was overwritten', 'w x 1, w x 2, r x 1'],
    ['a write of another after an own one', 'w x 2 \n w x 1, r x 2', '1/0'],
    ['a value that nobody wrote after an own write', 'w x 1, r x 7'],
    ['the initial value after an own write', 'w x 1, r x _'],
    ['the initial value after an own write of that value', 'w x null, r x _'],
    ["another's write of the value that it wrote itself", 'w x 1 \n w x 1, r x 1 <- 0/0', '1/0'],
    ['an own write that comes later', 'r x 1, w x 1'],
    ['an own write that comes later, as recorded', 'r x 1 <- 0/0, w x 1'],
  ])('is internal when it sees %s', (_name, text, by = '0/0') => {
    expect(phenomena(text)).toEqual([`internal: ${by} x from ${by}`]);
  });

  test("is external when another wrote what it writes later, and the other's is recorded or the only one", () => {
    expect(externalReads('w x 1 \n r x 1, w x 1')).toEqual(['1/0 x from 0/0']);
    expect(externalReads('w x 1 \n w x 1 \n r x 1 <- 0/0, w x 1')).toEqual(['2/0 x from 0/0']);
  });
});

describe('a read of what no committed transaction left behind', () => {
  test.each([
    ['G1a', "an aborted transaction's write", 'w x 1 ! \n r x 1', '1/0'],
    ['G1a', 'a write that an aborted transaction overwrote', 'w x 1, w x 2 ! \n r x 1', '1/0'],
    ['G1b', 'a write that its transaction overwrote', 'w x 1, w x 2 \n r x 1', '1/0'],
    ['G1b', 'a write that a transaction of unknown fate overwrote', 'w x 1, w x 2 ? \n r x 1', '1/0'],
  ])('is %s: %s', (kind, _name, text, by) => {
    expect(phenomena(text)).toEqual([`${kind}: ${by} x from 0/0`]);
    expect(externalReads(text)).toEqual([]);
  });
});

describe('a transaction of unknown fate', () => {
  test.each([
    ['is left out while nobody read from it', 'w x 1 ? \n r x _', ['1/0']],
    ['counts once a committed transaction read from it', 'w x 1 ? \n r x 1', ['0/0', '1/0']],
    ['counts when one that counts read from it', 'w x 1 ? \n r x 1, w y 1 ? \n r y 1', ['0/0', '1/0', '2/0']],
    ['is left out when only one that is left out read from it', 'w x 1 ? \n r x 1, w y 1 ? \n r y _', ['2/0']],
    ['is left out when only an aborted one read from it', 'w x 1 ? \n r x 1 !', []],
    ['does not count because it read itself', 'w x 1, r x 1 ?', []],
  ])('%s', (_name, text, members) => expect(membersOf(text)).toEqual(members));

  test('counts, where reads of aborted transactions are constrained, once an aborted one read from it', () => {
    expect(membersOf('w x 1 ? \n r x 1 !', { abortedReads: 'constrained' })).toEqual(['0/0', '1/0']);
  });

  test('is no writer of its keys while it is left out', () => {
    expect(relationsOf(parseHistory('w x 1 ? \n w x 2')).writersOf('x')).toEqual([INITIAL, 1]);
  });
});

describe('an aborted transaction', () => {
  const text = 'w x 1 \n r x 1, w y 1 ! \n w z 1, w z 2 \n r z 1 !';

  test('is no member, and what it read is no evidence', () => {
    expect(membersOf(text)).toEqual(['0/0', '2/0']);
    expect(externalReads(text)).toEqual([]);
    expect(phenomena(text)).toEqual([]);
  });

  test('is a member without writes where its reads are constrained', () => {
    const options = { abortedReads: 'constrained' } as const;
    expect(membersOf(text, options)).toEqual(['0/0', '1/0', '2/0', '3/0']);
    expect(externalReads(text, options)).toEqual(['1/0 x from 0/0']);
    expect(phenomena(text, options)).toEqual(['G1b: 3/0 z from 2/0']);
    const relations = relationsOf(parseHistory(text), options);
    expect(relations.writersOf('y')).toEqual([INITIAL]);
    expect(relations.writes(1, 'y')).toBe(false);
    expect([...relations.keysWrittenBy(1)]).toEqual([]);
  });
});

describe('the relations of a history', () => {
  const relations = relationsOf(parseHistory('w x 1 | r x 2 | w y 1 \n w x 2'));

  test('so orders the transactions of one session, after the initial one', () => {
    const pairs = [INITIAL, 0, 1, 2, 3].flatMap((a) => [INITIAL, 0, 1, 2, 3].map((b) => [a, b] as const));
    const ordered = pairs.filter(([a, b]) => relations.so(a, b)).map(([a, b]) => `${a} ${b}`);
    expect(ordered).toEqual(['-1 0', '-1 1', '-1 2', '-1 3', '0 1', '0 2', '1 2']);
  });

  test('wr leads from the writer to the reader', () => {
    expect(relations.wr(3, 1)).toBe(true);
    expect(relations.wr(1, 3)).toBe(false);
    expect(relations.wr(0, 1)).toBe(false);
  });

  test('the initial transaction writes every key', () => {
    expect(relations.writes(INITIAL, 'unheard of')).toBe(true);
    expect(relations.writersOf('unheard of')).toEqual([INITIAL]);
    expect(relations.writersOf('x')).toEqual([INITIAL, 0, 3]);
  });

  test('real time orders what ended before the other started, and nothing without times', () => {
    const times: Partial<Transaction>[] = [{ start: 1, end: 2 }, { start: 2, end: 3 }, { start: 3 }, { end: 0 }];
    const transactions = times.map((time, t) => ({ ...committed(t, []), ...time }));
    const { realTime } = relationsOf({ sessions: ['a'], transactions, initial: new Map() });
    const pairs = [0, 1, 2, 3].flatMap((a) => [0, 1, 2, 3].map((b) => [a, b] as const));
    expect(pairs.filter(([a, b]) => realTime(a, b))).toEqual([
      [0, 2],
      [3, 0],
      [3, 1],
      [3, 2],
    ]);
    expect(realTime(INITIAL, 3)).toBe(true);
    expect(realTime(0, INITIAL)).toBe(false);
  });
});

describe('a read is out of thin air where', () => {
  test.each([
    ['no transaction wrote the value', 'w x 1 \n r x 7'],
    ['null is not the initial value', 'initial {"x":0} \n w x 1 \n r x null'],
    ['the recorded writer did not write it', 'w x 1 \n w x 2 \n r x 1 <- 1/0'],
    ['the reader is recorded and did not write it', 'w x 1 \n r x 1 <- 1/0'],
    ['the recorded writer did not write it, and the reader only later', 'w x 2 \n r x 1 <- 0/0, w x 1'],
    ['it was not the initial value', 'w x 1 \n r x 1 <- _'],
  ])('%s', (_name, text) => {
    const history = parseHistory(text);
    const by = history.transactions.length - 1;
    const { reads, phenomena: found } = relationsOf(history);
    expect(found).toEqual([{ kind: 'thin-air-read', by, operation: 0, key: 'x', from: by }]);
    expect(reads).toEqual([]);
    expect(relationsOf(history, { thinAirReads: 'ignored' })).toMatchObject({ reads: [], phenomena: [] });
  });

  test('but what an aborted transaction read is no evidence', () => {
    expect(relationsOf(parseHistory('r x 1 !')).phenomena).toEqual([]);
  });
});

describe('a read is ambiguous where', () => {
  test.each([
    ['two transactions wrote the value', 'w x 2 \n w x 2 \n r x 2', [0, 1]],
    ['it was the initial value too', 'w x null \n w x 1 \n r x null', [INITIAL, 0]],
    ['only aborted or overwritten writes are there', 'w x 2, w x 3 \n w x 2 ! \n r x 2', [0, 1]],
  ])('%s', (_name, text, candidates) => {
    const history = parseHistory(text);
    expect(relationsOf(history).ambiguous).toEqual([{ by: 2, operation: 0, key: 'x', candidates }]);
    expect(relationsOf(history, { ambiguousReads: 'ignored' }).ambiguous).toEqual([]);
  });

  test('not where only one of the writes was committed and last', () => {
    expect(externalReads('w x 2 \n w x 2 ! \n w x 2, w x 3 \n r x 2')).toEqual(['3/0 x from 0/0']);
  });

  test('not where two transactions wrote a value that no transaction read', () => {
    expect(relationsOf(parseHistory('w x 2 \n w x 2')).ambiguous).toEqual([]);
  });
});

describe('the cost is linear', () => {
  test('in the writers of one key', () => {
    const transactions = Array.from({ length: 100_000 }, (_, t) =>
      committed(t, [{ kind: 'write', key: 'x', value: t }]),
    );
    expect(relationsOf(historyOf(transactions)).writersOf('x')).toHaveLength(100_001);
  });

  test('in the operations of one transaction', () => {
    const keys = Array.from({ length: 100_000 }, (_, key) => String(key));
    const write = committed(
      0,
      keys.map((key) => ({ kind: 'write', key, value: 1 })),
    );
    const read = committed(
      1,
      keys.map((key) => ({ kind: 'read', key, value: 1 })),
    );
    expect(relationsOf(historyOf([write, read])).readsOf(1)).toHaveLength(100_000);
  });

  test('in the writers of one value, where the writer is recorded', () => {
    const write: Operation = { kind: 'write', key: 'x', value: 1 };
    const transactions = Array.from({ length: 50_000 }, (_, t) => {
      return committed(t, t === 0 ? [write] : [{ kind: 'read', key: 'x', value: 1, from: t - 1 }, write]);
    });
    expect(relationsOf(historyOf(transactions)).reads).toHaveLength(49_999);
  });
});

function membersOf(text: string, options?: RelationsOptions): string[] {
  const history = parseHistory(text);
  return relationsOf(history, options).members.map((t) => idOf(history, t));
}

test('real time: a transaction of unknown fate has no end that others could come after', () => {
  const transactions = [
    { ...committed(0, [{ kind: 'write', key: 'x', value: 1 }]), start: 0, end: 1 },
    { ...committed(1, []), status: 'unknown' as const, session: 1, start: 0, end: 1 },
    { ...committed(2, []), session: 2, start: 5, end: 6 },
  ];
  const { realTime } = relationsOf({ sessions: ['a', 'b', 'c'], transactions, initial: new Map() });
  expect([realTime(0, 2), realTime(1, 2), realTime(0, 1), realTime(INITIAL, 0)]).toEqual([true, false, false, true]);
});

function externalReads(text: string, options?: RelationsOptions): string[] {
  const history = parseHistory(text);
  const { reads } = relationsOf(history, options);
  return reads.map(({ by, key, from }) => `${idOf(history, by)} ${key} from ${idOf(history, from)}`);
}

function phenomena(text: string, options?: RelationsOptions): string[] {
  const history = parseHistory(text);
  return relationsOf(history, options).phenomena.map(({ kind, by, key, from }) => {
    return `${kind}: ${idOf(history, by)} ${key} from ${idOf(history, from)}`;
  });
}

function idOf(history: History, t: number): string {
  return t === INITIAL ? 'initial' : (history.transactions[t]?.id ?? 'missing');
}

function committed(t: number, operations: readonly Operation[]): Transaction {
  return { id: String(t), session: 0, status: 'committed', operations };
}

function historyOf(transactions: readonly Transaction[]): History {
  return { sessions: ['a'], transactions, initial: new Map() };
}
