// Gray and Lamport's two-phase commit: resource managers announce that they are prepared, a transaction manager decides.
// Run: moirai protocol examples/protocols/two-phase-commit.ts --managers 3
import { message, namedSet, plus, processes, protocol, setOf, step } from 'moirai/protocol';

export default protocol({
  name: 'two-phase commit',
  parameters: { managers: 3 },
  define: ({ managers }) => {
    const TM = namedSet('tm', ['tm']);
    const RM = namedSet('rm', managers);
    const prepared = message('Prepared', RM);
    const commit = message('Commit');
    const abort = message('Abort');

    const tm = processes(TM, {
      start: 'init',
      variables: { prepared: setOf(RM) },
      steps: {
        init: [
          {
            name: 'receive Prepared',
            from: RM,
            await: (_tm, rm) => prepared.sent(rm),
            do: (self, rm) => {
              self.prepared = plus(self.prepared, rm);
            },
          },
          {
            name: 'commit',
            await: (self) => self.prepared === RM.all,
            do: (self) => {
              commit.send();
              self.at = 'committed';
            },
          },
          {
            name: 'abort',
            do: (self) => {
              abort.send();
              self.at = 'aborted';
            },
          },
        ],
        committed: [],
        aborted: [],
      },
    });

    // A manager may be told in any state, and twice; the protocol must see to it that this does no harm.
    const told = [
      step({
        name: 'receive Commit',
        await: () => commit.sent(),
        do: (self) => {
          self.at = 'committed';
        },
      }),
      step({
        name: 'receive Abort',
        await: () => abort.sent(),
        do: (self) => {
          self.at = 'aborted';
        },
      }),
    ];
    const rm = processes(RM, {
      start: 'working',
      steps: {
        working: [
          {
            name: 'prepare',
            do: (self) => {
              prepared.send(self.id);
              self.at = 'prepared';
            },
          },
          {
            name: 'choose to abort',
            do: (self) => {
              self.at = 'aborted';
            },
          },
          ...told,
        ],
        prepared: told,
        committed: told,
        aborted: told,
      },
    });
    return {
      processes: [tm, rm],
      messages: [prepared, commit, abort],
      symmetry: [RM],
      invariants: {
        consistent: () => !(rm.all.some(({ at }) => at === 'committed') && rm.all.some(({ at }) => at === 'aborted')),
      },
      sometimes: {
        'all commit': () => rm.all.every(({ at }) => at === 'committed'),
        'all abort': () => rm.all.every(({ at }) => at === 'aborted'),
      },
    };
  },
});
