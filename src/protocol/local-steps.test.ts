import { describe, expect, test } from 'vitest';
import twoPhaseLocking from '../../examples/protocols/two-phase-locking.ts';
import { checkProtocol, namedSet, processes, protocol, range, shared } from './index.ts';

describe('reduction by local steps changes no verdict', () => {
  test.each([
    [1, 2, 0, 3_364, 2_754],
    [2, 1, 0, 1_118, 943],
    [2, 2, 0, 49_884, 40_809],
    [3, 1, 0, 4_883, 3_768],
    [2, 2, 1, 77_964, 64_324],
  ])('%i transactions x %i resources, bug %i', (transactions, resources, bug, all, reduced) => {
    const options = {
      parameters: { transactions, resources, bug },
      levels: ['serializable'] as const,
      eventually: false,
    };
    expect(checkProtocol(twoPhaseLocking, options)).toMatchObject({ verdict: 'satisfied', states: all });
    const found = checkProtocol(twoPhaseLocking, { ...options, reduction: true });
    expect(found).toMatchObject({ verdict: 'satisfied', states: reduced });
  });

  test('the bug is found', () => {
    const parameters = { transactions: 3, resources: 2, bug: 1 };
    const found = checkProtocol(twoPhaseLocking, { parameters, levels: ['serializable'], reduction: true });
    expect(found.violation).toMatchObject({ kind: 'isolation', name: 'serializable' });
    expect(found.trace?.observed?.transactions.length).toBeGreaterThan(1);
  });
});

/** One process counts round and round; another raises the alarm after its one step. */
function spinning(isLocal: boolean) {
  return protocol({
    name: 'spinning',
    parameters: {},
    define: () => {
      const spinner = processes(namedSet('spinner', 1), {
        start: 'spin',
        variables: { count: range(0, 2) },
        steps: {
          spin: {
            local: isLocal,
            do: (self) => {
              self.count = (self.count + 1) % 3;
            },
          },
        },
      });
      const alarm = processes(namedSet('alarm', 1), {
        start: 'wait',
        steps: {
          wait: {
            do: (self) => {
              self.at = 'rung';
            },
          },
          rung: [],
        },
      });
      return { processes: [spinner, alarm], invariants: { quiet: () => alarm.all.every(({ at }) => at !== 'rung') } };
    },
  });
}

test('a cycle of local steps does not put the others off forever', () => {
  expect(checkProtocol(spinning(false)).violation).toEqual({ kind: 'invariant', name: 'quiet' });
  expect(checkProtocol(spinning(true), { reduction: true }).violation).toEqual({ kind: 'invariant', name: 'quiet' });
});

test('a step that is called local and is not', () => {
  const racing = protocol({
    name: 'racing',
    parameters: {},
    define: () => {
      const board = shared('board', { last: range(0, 2) });
      const writer = processes(namedSet('w', 2), {
        start: 'write',
        steps: {
          write: {
            local: true,
            do: (self) => {
              board.now.last = self.id + 1;
              self.at = 'Done';
            },
          },
        },
      });
      return { processes: [writer], shared: [board] };
    },
  });
  const isWrong = () => checkProtocol(racing, { reduction: true });
  expect(isWrong).toThrow("the local step of w1 is not local: it does not commute with w2's write");
});
