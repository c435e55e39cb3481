// Two-phase commit whose coordinator crashes and comes back. It logs its decision before it tells anyone; what it knew of votes is
// lost. `--log 0` forgets the log, and then a manager may be told to commit and another to abort.
// Run: moirai protocol examples/protocols/crashing-coordinator.ts --log 0
import { message, namedSet, oneOf, plus, processes, protocol, setOf, step } from 'moirai/protocol';

export default protocol({
  name: 'two-phase commit with a crashing coordinator',
  parameters: { managers: 2, crashes: 1, log: 1 },
  define: ({ managers, crashes, log }) => {
    const C = namedSet('c', ['c']);
    const RM = namedSet('rm', managers);
    const prepared = message('Prepared', RM);
    const commit = message('Commit', RM);
    const abort = message('Abort', RM);

    const coordinator = processes(C, {
      start: 'collect',
      variables: { prepared: setOf(RM), decision: oneOf('none', 'commit', 'abort'), told: setOf(RM) },
      crashes: { durable: log ? ['decision'] : [], recoverAt: 'recover', crashesMax: crashes },
      steps: {
        collect: [
          {
            name: 'receive Prepared',
            from: RM,
            await: (self, rm) => prepared.sent(rm) && ((self.prepared >>> rm) & 1) === 0,
            do: (self, rm) => {
              self.prepared = plus(self.prepared, rm);
            },
          },
          {
            name: 'decide to commit',
            await: (self) => self.prepared === RM.all,
            do: (self) => {
              self.decision = 'commit';
              self.at = 'tell';
            },
          },
          {
            name: 'decide to abort',
            do: (self) => {
              self.decision = 'abort';
              self.at = 'tell';
            },
          },
        ],
        tell: [
          {
            name: 'tell',
            from: RM,
            choose: (self) => RM.all & ~self.told,
            do: (self, rm) => {
              (self.decision === 'commit' ? commit : abort).send(rm);
              self.told = plus(self.told, rm);
            },
          },
          {
            name: 'all are told',
            await: (self) => self.told === RM.all,
            do: (self) => {
              self.at = 'Done';
            },
          },
        ],
        recover: {
          name: 'read the log',
          do: (self) => {
            if (self.decision === 'none') self.decision = 'abort';
            self.at = 'tell';
          },
        },
      },
    });

    const told = [
      step({
        name: 'receive Commit',
        await: ({ id }) => commit.sent(id),
        do: (self) => {
          self.at = 'committed';
        },
      }),
      step({
        name: 'receive Abort',
        await: ({ id }) => abort.sent(id),
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
        ],
        prepared: told, // It has promised: only the coordinator can release it.
        committed: [],
        aborted: [],
      },
    });

    return {
      processes: [coordinator, rm],
      messages: [prepared, commit, abort],
      symmetry: [RM],
      invariants: {
        consistent: () => !(rm.all.some(({ at }) => at === 'committed') && rm.all.some(({ at }) => at === 'aborted')),
      },
      sometimes: {
        'all commit': () => rm.all.every(({ at }) => at === 'committed'),
        'all are blocked': () =>
          coordinator.all.every(({ at }) => at === 'Crashed') && rm.all.every(({ at }) => at === 'prepared'),
      },
      eventually: { 'every manager decides': () => rm.all.every(({ at }) => at === 'committed' || at === 'aborted') },
    };
  },
});
