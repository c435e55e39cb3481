import { describe, expect, test } from 'vitest';
import crashingCoordinator from '../../examples/protocols/crashing-coordinator.ts';
import lastWriterWins from '../../examples/protocols/last-writer-wins.ts';
import optimisticCommit from '../../examples/protocols/optimistic-commit.ts';
import snapshotStore from '../../examples/protocols/snapshot-store.ts';
import twoPhaseLocking from '../../examples/protocols/two-phase-locking.ts';
import { checkProtocol, flag, namedSet, processes, protocol, type Protocol } from './index.ts';

describe('what must happen happens', () => {
  test.each<[Protocol]>([
    [twoPhaseLocking],
    [crashingCoordinator],
    [snapshotStore],
    [optimisticCommit],
    [lastWriterWins],
  ])('%o', (shipped) => {
    const parameters = shipped === twoPhaseLocking ? { transactions: 2, resources: 1 } : {};
    const found = checkProtocol(shipped, { parameters, symmetry: false });
    expect(found).toMatchObject({ verdict: 'satisfied' });
  });
});

/** One process turns a lamp on and off forever, another waits to ring; only the second makes the bell ring. */
function lampAndBell({ fair, whileOn }: { readonly fair: boolean; readonly whileOn: boolean }): Protocol {
  return protocol({
    name: 'lamp and bell',
    parameters: {},
    define: () => {
      const lamp = processes(namedSet('lamp', 1), {
        start: 'turn',
        variables: { on: flag() },
        steps: {
          turn: {
            do: (self) => {
              self.on = !self.on;
            },
          },
        },
      });
      const bell = processes(namedSet('bell', 1), {
        start: 'wait',
        fair,
        steps: {
          wait: {
            await: () => !whileOn || lamp.all.every(({ on }) => on),
            do: (self) => {
              self.at = 'rung';
            },
          },
          rung: [],
        },
      });
      return { processes: [lamp, bell], eventually: { 'it rings': () => bell.all.every(({ at }) => at === 'rung') } };
    },
  });
}

describe('weak fairness', () => {
  test('a fair process that can always go on does so', () => {
    expect(checkProtocol(lampAndBell({ fair: true, whileOn: false })).verdict).toBe('satisfied');
  });

  test('one that is not fair may stop', () => {
    const { violation } = checkProtocol(lampAndBell({ fair: false, whileOn: false }));
    expect(violation).toEqual({ kind: 'eventually', name: 'it rings' });
  });

  test('a fair process that can go on only now and then may miss every chance', () => {
    expect(checkProtocol(lampAndBell({ fair: true, whileOn: true })).verdict).toBe('violated');
  });
});

test('with symmetry it is not checked: the verdict is unknown, and says what to do', () => {
  const { conclusion } = checkProtocol(crashingCoordinator);
  const gap =
    'eventually "every manager decides" was not checked: a cycle of states up to symmetry need not be a cycle; ' +
    '--no-symmetry checks it, --no-eventually leaves it out';
  expect(conclusion).toMatchObject({ kind: 'unknown', gaps: [{ kind: 'cut', clause: gap }] });
  expect(checkProtocol(crashingCoordinator, { eventually: false }).verdict).toBe('satisfied');
});
