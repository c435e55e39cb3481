// Gray and Lamport, "Consensus on transaction commit", TODS 2006: what every commit protocol must do. Each resource manager
// prepares, then all commit or all abort; nobody says how they know. Run: moirai protocol examples/protocols/transaction-commit.ts
import { namedSet, processes, protocol, step } from 'moirai/protocol';

export default protocol({
  name: 'transaction commit',
  parameters: { managers: 3 },
  define: ({ managers }) => {
    const RM = namedSet('rm', managers);
    const abort = step({
      name: 'abort',
      await: ({ all }) => all.every(({ at }) => at !== 'committed'),
      do: (self) => {
        self.at = 'aborted';
      },
    });
    const rm = processes(RM, {
      start: 'working',
      steps: {
        working: [
          {
            name: 'prepare',
            do: (self) => {
              self.at = 'prepared';
            },
          },
          abort,
        ],
        prepared: [
          {
            name: 'commit',
            await: ({ all }) => all.every(({ at }) => at === 'prepared' || at === 'committed'),
            do: (self) => {
              self.at = 'committed';
            },
          },
          abort,
        ],
        committed: [],
        aborted: [],
      },
    });
    return {
      processes: [rm],
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
