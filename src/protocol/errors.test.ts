import { describe, expect, test } from 'vitest';
import {
  checkProtocol,
  flag,
  listOf,
  mapOf,
  message,
  namedSet,
  processes,
  protocol,
  ProtocolFault,
  range,
  record,
  shared,
  type Protocol,
} from './index.ts';

const P = namedSet('p', 2);

/** Two processes of one step each; the step is what the test is about. */
function oneStep(body: (self: { count: number; list: readonly number[]; open: boolean }) => void): Protocol {
  return protocol({
    name: 'one step',
    parameters: {},
    define: () => ({
      processes: [
        processes(P, {
          start: 'go',
          variables: { count: range(0, 3), list: listOf(range(0, 3), 2), open: flag() },
          steps: {
            go: {
              name: 'work',
              do: (self) => {
                body(self);
                self.at = 'Done';
              },
            },
          },
        }),
      ],
    }),
  });
}

let outside = 0;

describe('a step that is wrong is told in one line with its process', () => {
  test.each<[string, string, string, Parameters<typeof oneStep>[0]]>([
    [
      'throws',
      'protocol/throws',
      'throws Error: boom',
      () => {
        throw new Error('boom');
      },
    ],
    [
      'leaves the range of a variable',
      'protocol/value',
      '4 is not an integer from 0 to 3',
      (self) => {
        self.count = 4;
      },
    ],
    [
      'stores what is not plain data',
      'protocol/value',
      'a Date is not true or false',
      (self) => {
        self.open = new Date() as unknown as boolean;
      },
    ],
    [
      'changes a value in place',
      'protocol/mutates',
      'it changes a value in place',
      (self) => {
        (self.list as number[]).push(1);
      },
    ],
    [
      'remembers something outside the state',
      'protocol/repeat',
      'it does something else when it is repeated',
      (self) => {
        self.count = outside;
        outside = (outside + 1) % 4;
      },
    ],
    [
      'makes a list too long',
      'protocol/value',
      'at most 2 values',
      (self) => {
        self.list = [...self.list, 1, 2, 3];
      },
    ],
  ])('%s', (_name, code, what, body) => {
    const where = 'one step: p1 at go, step work';
    expect(() => checkProtocol(oneStep(body))).toThrow(expect.objectContaining({ code }));
    expect(() => checkProtocol(oneStep(body))).toThrow(where);
    expect(() => checkProtocol(oneStep(body))).toThrow(what);
  });

  test('a condition that changes the state', () => {
    const changing = protocol({
      name: 'changing condition',
      parameters: {},
      define: () => ({
        processes: [
          processes(P, {
            start: 'go',
            variables: { count: range(0, 3) },
            steps: {
              go: {
                await: (self) => {
                  self.count = 1;
                  return true;
                },
                do: (self) => {
                  self.at = 'Done';
                },
              },
            },
          }),
        ],
      }),
    });
    expect(() => checkProtocol(changing)).toThrow('p1 at go, step go: its condition changes the state');
  });
});

describe('a declaration that is wrong', () => {
  test('a parameter that the protocol does not have', () => {
    expect(() =>
      checkProtocol(
        oneStep(() => {}),
        { parameters: { size: 1 } },
      ),
    ).toThrow('has no parameter size');
  });

  test('a start label without steps', () => {
    expect(() => processes(P, { start: 'begin', steps: { go: { do: () => {} } } })).toThrow('labels: go');
  });

  test('a message that is not declared to the model', () => {
    const hello = message('Hello', P);
    expect(() => checkProtocol(oneStep(() => hello.send(1)))).toThrow('there is no message Hello(1');
  });

  test('a set without members', () => {
    expect(() => namedSet('p', 0)).toThrow('set p has 0 members');
  });
});

describe('members that are called interchangeable and are not', () => {
  const telling = (isTold: 'by a step' | 'by an invariant' | 'not'): Protocol =>
    protocol({
      name: 'telling',
      parameters: {},
      define: () => {
        const last = shared('last', { id: range(0, 1) });
        const p = processes(P, {
          start: 'go',
          steps: {
            go: {
              do: (self) => {
                if (isTold === 'by a step') last.now.id = self.id;
                self.at = 'Done';
              },
            },
          },
        });
        const first = () => isTold !== 'by an invariant' || p.all[0]?.at === 'go' || p.all[1]?.at === 'Done';
        return { processes: [p], shared: [last], symmetry: [P], sometimes: { 'the second is not first': first } };
      },
    });

  test.each(['by a step', 'by an invariant'] as const)('%s', (isTold) => {
    const what =
      'telling: a step, a condition or what clients observe tells members of p apart, so they must not be in symmetry';
    expect(() => checkProtocol(telling(isTold))).toThrow(what);
    expect(checkProtocol(telling(isTold), { symmetry: false }).verdict).toBe('satisfied');
  });

  test('not', () => {
    expect(checkProtocol(telling('not')).verdict).toBe('satisfied');
  });
});

describe('a search that ends early', () => {
  const counting = protocol({
    name: 'counting',
    parameters: {},
    define: () => ({
      processes: [
        processes(namedSet('p', 1), {
          start: 'go',
          variables: { count: range(0, 1_000_000) },
          steps: {
            go: {
              await: (self) => self.count < 1_000_000,
              do: (self) => {
                self.count += 1;
              },
            },
          },
        }),
      ],
    }),
  });

  test.each([
    ['states-limit', { statesMax: 5_000 }],
    ['time-limit', { timeoutMs: 0 }],
    ['memory-limit', { memoryBytesMax: 1_000 }],
  ] as const)('%s: the verdict is unknown', (reason, limit) => {
    expect(checkProtocol(counting, limit)).toMatchObject({
      verdict: 'unknown',
      reason,
      complete: false,
      violation: null,
    });
  });

  test('a deadlock is a violation with its trace, unless it is allowed', () => {
    const waiting = protocol({
      name: 'waiting',
      parameters: {},
      define: () => {
        const hello = message('Hello', P);
        return {
          messages: [hello],
          processes: [
            processes(P, {
              start: 'greet',
              steps: {
                greet: {
                  do: (self) => {
                    self.at = 'wait';
                  },
                },
                wait: {
                  await: ({ id }) => hello.sent(1 - id),
                  do: (self) => {
                    self.at = 'Done';
                  },
                },
              },
            }),
          ],
        };
      },
    });
    const found = checkProtocol(waiting);
    expect(found).toMatchObject({ verdict: 'violated', violation: { kind: 'deadlock' } });
    expect(found.trace?.steps.map(({ process, to }) => `${process} ${to}`)).toEqual(['p1 wait', 'p2 wait']);
    const asked = { ...waiting, define: () => ({ ...waiting.define({}), invariants: { 'all is well': () => true } }) };
    expect(checkProtocol(asked, { deadlock: false }).verdict).toBe('satisfied');
    expect(checkProtocol(waiting, { deadlock: false }).conclusion).toEqual({
      kind: 'unknown',
      gaps: [{ kind: 'nothing-looked-at', clause: expect.stringContaining('nothing was asked') }],
    });
  });

  test('what must sometimes hold and never does', () => {
    const never = {
      ...counting,
      define: () => ({ ...counting.define({}), sometimes: { 'it is full moon': () => false } }),
    };
    const small = checkProtocol(never, { statesMax: 100 });
    expect(small.verdict).toBe('unknown');
    const all = checkProtocol({
      ...oneStep(() => {}),
      define: () => ({ ...oneStep(() => {}).define({}), sometimes: { 'it is full moon': () => false } }),
    });
    expect(all).toMatchObject({ verdict: 'violated', violation: { kind: 'sometimes', name: 'it is full moon' } });
  });
});

test('a step at fault has the steps that lead to it', () => {
  const counter = protocol({
    name: 'counter',
    parameters: {},
    define: () => ({
      processes: [
        processes(namedSet('c', 1), {
          start: 'go',
          variables: { n: range(0, 2) },
          steps: { go: { do: (self) => void (self.n += 1) } },
        }),
      ],
    }),
  });
  const fault = ((): unknown => {
    try {
      return checkProtocol(counter);
    } catch (error) {
      return error;
    }
  })();
  expect(fault).toBeInstanceOf(ProtocolFault);
  const { trace } = fault as ProtocolFault;
  expect(fault).toMatchObject({
    code: 'protocol/value',
    message: 'counter: c1 at go, step go: 3 is not an integer from 0 to 2',
  });
  expect(trace.steps.map(({ changes }) => changes)).toEqual([
    [{ variable: 'c1.n', before: '0', after: '1' }],
    [{ variable: 'c1.n', before: '1', after: '2' }],
  ]);
});

describe('a kind that is none is refused by the name of its variable', () => {
  const kinds: [string, object, string][] = [
    [
      'of a process',
      { f: flag },
      'variable f of p is a function, which is no kind of value: write flag(...) to make one',
    ],
    ['nothing', { f: undefined }, 'variable f of p is undefined, which is no kind of value'],
    ['a value', { f: false }, 'variable f of p is false, which is no kind of value'],
  ];
  test.each(kinds)('%s', (_name, variables, expected) => {
    const steps = { go: [] };
    const found = protocol({
      name: 'kinds',
      parameters: {},
      define: () => ({ processes: [processes(P, { start: 'go', variables: variables as never, steps })] }),
    });
    expect(() => checkProtocol(found)).toThrow(expect.objectContaining({ code: 'protocol/kind', message: expected }));
  });

  test('of shared variables, and inside of other kinds', () => {
    const found = (makes: () => object): Protocol =>
      protocol({
        name: 'kinds',
        parameters: {},
        define: () => ({ processes: [], shared: [shared('store', makes() as never)] }),
      });
    const none = flag as never;
    expect(() => checkProtocol(found(() => ({ f: none })))).toThrow('variable f of store is a function');
    expect(() => checkProtocol(found(() => ({ f: mapOf(P, none) })))).toThrow('what mapOf maps to is a function');
    expect(() => checkProtocol(found(() => ({ f: listOf(none, 2) })))).toThrow('what listOf holds is a function');
    expect(() => checkProtocol(found(() => ({ f: record({ g: none }) })))).toThrow('part g of a record is a function');
  });
});

test('a define that throws, and one that returns nothing', () => {
  const found = (define: () => unknown): Protocol => ({ name: 'mine', parameters: {}, define: define as never });
  const throwing = found(() => (undefined as never as Protocol).name);
  expect(() => checkProtocol(throwing)).toThrow(
    expect.objectContaining({
      code: 'protocol/throws',
      message: expect.stringContaining('mine: define throws TypeError'),
    }),
  );
  expect(() => checkProtocol(found(() => undefined))).toThrow(
    expect.objectContaining({ code: 'protocol/shape', message: 'mine: define should return { processes: [...] }' }),
  );
});
