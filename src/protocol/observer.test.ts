import { describe, expect, test } from 'vitest';
import { gapText } from '../evidence/index.ts';
import type { Operation } from '../history/index.ts';
import {
  checkProtocol,
  message,
  namedSet,
  observe,
  processes,
  type Processes,
  protocol,
  type Protocol,
  range,
  shared,
} from './index.ts';

const C = namedSet('c', 2);
const read = (value: number): Operation => ({ kind: 'read', key: 'x', value });
const write = (value: number): Operation => ({ kind: 'write', key: 'x', value });

/** Two clients that both read x = 0 and write 1: not serializable. What they observe is what each test is about. */
function lostUpdate(operations: (self: never) => unknown, from: readonly string[] = ['at', 'before']): Protocol {
  return protocol({
    name: 'lost update',
    parameters: {},
    define: () => {
      const client = processes(C, {
        start: 'RUN',
        variables: { before: range(0, 1), other: range(0, 1) },
        steps: {
          RUN: {
            do: (self) => {
              self.at = 'DONE';
            },
          },
          DONE: [],
        },
      }) as unknown as Processes;
      return { processes: [client], observe: { of: client, from, initial: { x: 0 }, operations: operations as never } };
    },
  });
}

interface Client {
  readonly id: number;
  readonly at: string;
  readonly before: number;
  readonly other: number;
  readonly all: readonly Client[];
}

const right = ({ at, before }: Client): readonly Operation[] | null =>
  at === 'DONE' ? [read(before), write(before + 1)] : null;

const serializable = { levels: ['serializable'] } as const;

test('both variables are named: the lost update is found', () => {
  const { verdict, trace } = checkProtocol(lostUpdate(right), serializable);
  expect([verdict, trace?.steps.length]).toEqual(['violated', 2]);
});

describe('an access to what from does not name is refused by name', () => {
  test.each<[string, (self: Client) => unknown, string, (readonly string[])?]>([
    ['the label', right, 'reads at of c, which from does not name; from names before', ['before']],
    ['a variable', (self) => [read(self.other)], 'reads other of c, which from does not name; from names at, before'],
    [
      'a variable of another member',
      ({ all }) => [read(all[1]!.other)],
      'reads other of c, which from does not name; from names at, before',
    ],
    [
      'an assignment',
      (self) => {
        (self as { before: number }).before = 1;
        return null;
      },
      'assigns before of c, and may only read',
    ],
  ])('%s', (_name, operations, expected, from) => {
    expect(() => checkProtocol(lostUpdate(operations, from), serializable)).toThrow(
      expect.objectContaining({ code: 'protocol/observe', message: expect.stringContaining(expected) }),
    );
  });

  const elsewhere = (operations: (parts: Parts) => () => readonly Operation[] | null): Protocol =>
    protocol({
      name: 'elsewhere',
      parameters: {},
      define: () => {
        const store = shared('store', { x: range(0, 3) });
        const hello = message('Hello', C);
        const server = processes(namedSet('s', 1), { start: 'up', variables: { n: range(0, 1) }, steps: { up: [] } });
        const client = processes(C, { start: 'up', steps: { up: [] } });
        return {
          processes: [client, server],
          messages: [hello],
          shared: [store],
          observe: observe({ of: client, from: ['at'], initial: {}, operations: operations({ store, hello, server }) }),
        };
      },
    });
  interface Parts {
    readonly store: { readonly now: { readonly x: number } };
    readonly hello: { readonly sent: (c: number) => boolean; readonly sentBy: () => number };
    readonly server: { readonly all: readonly { readonly n: number }[] };
  }

  test.each<[string, (parts: Parts) => () => readonly Operation[] | null, string]>([
    [
      'a shared variable',
      ({ store }) =>
        () => [read(store.now.x)],
      'reads x of store',
    ],
    [
      'a message',
      ({ hello }) =>
        () => [read(Number(hello.sent(0)))],
      'reads or sends the message Hello',
    ],
    [
      'all senders of a message',
      ({ hello }) =>
        () => [read(hello.sentBy())],
      'reads or sends the message Hello',
    ],
    [
      'another set of processes',
      ({ server }) =>
        () => [read(server.all[0]!.n)],
      'reads n of s',
    ],
  ])('%s', (_name, operations, expected) => {
    expect(() => checkProtocol(elsewhere(operations), serializable)).toThrow(expected);
  });
});

test('the type has only what from names', () => {
  const client = processes(C, { start: 'up', variables: { n: range(0, 1), m: range(0, 1) }, steps: { up: [] } });
  observe({ of: client, from: ['n'], initial: {}, operations: ({ id, n }) => [read(id + n)] });
  // @ts-expect-error m is not named
  observe({ of: client, from: ['n'], initial: {}, operations: ({ m }) => [read(m)] });
  // @ts-expect-error no variable is called so
  observe({ of: client, from: ['k'], initial: {}, operations: () => null });
  expect(client.set).toBe(C);
});

describe('what operations should not return', () => {
  test.each<[string, (self: Client) => unknown, string]>([
    [
      'nothing, because a return is missing',
      ({ at, before }) => {
        if (at === 'DONE') void [read(before)];
      },
      'returned undefined; is a return missing?',
    ],
    ['a promise', async () => null, 'it should return null or an array of { kind, key, value }, and returned {}'],
    ['an operation without a value', () => [{ kind: 'read', key: 'x' }], 'and returned [{"kind":"read","key":"x"}]'],
  ])('%s', (_name, operations, expected) => {
    expect(() => checkProtocol(lostUpdate(operations), serializable)).toThrow(
      expect.objectContaining({ code: 'protocol/observe', message: expect.stringContaining(expected) }),
    );
  });
});

test('a level of transactions that no state observed is unknown', () => {
  const { verdict, conclusion, observedMost } = checkProtocol(
    lostUpdate(() => null),
    serializable,
  );
  const gaps = conclusion.kind === 'unknown' ? conclusion.gaps.map(gapText) : [];
  expect([verdict, observedMost, gaps]).toEqual(['unknown', 0, ['0 transactions were ever observed']]);
  expect(checkProtocol(lostUpdate(() => null)).verdict).toBe('satisfied');
});

test('verdicts are kept by member where a transaction depends on its member', () => {
  // Only c2 reads a value that nobody wrote, and c1 alone is seen first.
  const operations = ({ id, at }: Client): readonly Operation[] | null => (at === 'DONE' ? [read(id)] : null);
  const { verdict, trace } = checkProtocol(lostUpdate(operations, ['at']), serializable);
  expect([verdict, trace?.steps.length]).toEqual(['violated', 1]);
  expect(trace?.steps[0]?.process).toBe('c2');
});

test('members that observe tells apart are not interchangeable', () => {
  const symmetric = (operations: (self: Client) => unknown): Protocol => {
    const found = lostUpdate(operations, ['at']);
    return { ...found, define: (given) => ({ ...found.define(given), symmetry: [C] }) };
  };
  // One of the two reads a value that nobody wrote. Whichever is searched in the place of both: the violation is seen, or the difference.
  const outcomes = [0, 1].map((odd) => {
    const operations = ({ id, at }: Client): unknown => (at === 'DONE' ? [read(Number(id === odd))] : null);
    try {
      return checkProtocol(symmetric(operations), serializable).verdict;
    } catch (error) {
      return (error as Error).message;
    }
  });
  expect(outcomes.toSorted()).toEqual([
    'lost update: a step, a condition or what clients observe tells members of c apart, so they must not be in symmetry',
    'violated',
  ]);
  // A value that only names its writer is another name after a renaming.
  const renamed = symmetric(({ id, at }) => (at === 'DONE' ? [write(id + 1)] : null));
  expect(checkProtocol(renamed, serializable).verdict).toBe('satisfied');
});

describe('a condition that is no answer is refused', () => {
  const withParts = (parts: object): Protocol => {
    const found = lostUpdate(right);
    return { ...found, define: (given) => ({ ...found.define(given), ...parts }) };
  };
  const conditions: [string, () => unknown, string][] = [
    ['undefined', () => undefined, '"it holds" should be true or false, and is undefined; is a return missing?'],
    ['a promise', async () => false, '"it holds" should be true or false, and is a promise, which is always true'],
  ];
  test.each(conditions)('%s, of an invariant and of what should be possible', (_name, holds, expected) => {
    for (const parts of [{ invariants: { 'it holds': holds } }, { sometimes: { 'it holds': holds } }])
      expect(() => checkProtocol(withParts(parts))).toThrow(
        expect.objectContaining({ code: 'protocol/condition', message: expect.stringContaining(expected) }),
      );
  });

  test('of a step', () => {
    const found = protocol({
      name: 'waits',
      parameters: {},
      define: () => ({
        processes: [processes(C, { start: 'go', steps: { go: { await: (() => {}) as never, do: () => {} } } })],
      }),
    });
    expect(() => checkProtocol(found)).toThrow('waits: c1 at go, step go: its condition should be true or false');
  });
});
