// Two-phase commit with two-phase locking, as in Soethout, van der Storm and Vinju, SEFM 2020 Workshops, Listings 3 and 4.
// A transaction increments every resource. `--bug 1` plants the paper's bug: a resource listens to decisions about transactions
// that it never voted for; with `--bug 2` it forgets to store what is written.
// Run: moirai protocol examples/protocols/two-phase-locking.ts --transactions 3 --resources 2 --bug 1 --level serializable
import {
  listOf,
  memberOf,
  message,
  minus,
  namedSet,
  observe,
  plus,
  processes,
  protocol,
  range,
  record,
  setOf,
} from 'moirai/protocol';

export default protocol({
  name: 'two-phase commit with two-phase locking',
  parameters: { transactions: 2, resources: 2, bug: 0 },
  define: ({ transactions, resources, bug }) => {
    const T = namedSet('t', transactions);
    const R = namedSet('r', resources);
    const voteRequest = message('VoteRequest', T);
    const voteCommit = message('VoteCommit', T, R);
    const voteAbort = message('VoteAbort', T, R);
    const globalCommit = message('GlobalCommit', T);
    const globalAbort = message('GlobalAbort', T);

    const tm = processes(T, {
      start: 'INIT',
      // What the client reads: at each resource the value before, which it then writes plus one.
      variables: { increments: listOf(record({ resource: memberOf(R), before: range(0, transactions) }), resources) },
      steps: {
        INIT: {
          local: true,
          do: (self) => {
            voteRequest.send(self.id);
            self.at = 'WAIT';
          },
        },
        WAIT: [
          {
            name: 'all vote to commit',
            await: (self) => voteCommit.sentBy(self.id) === R.all,
            do: (self) => {
              globalCommit.send(self.id);
              self.at = 'COMMIT';
            },
          },
          {
            name: 'a vote to abort',
            from: R,
            choose: (self) => voteAbort.sentBy(self.id),
            do: (self) => {
              globalAbort.send(self.id);
              self.at = 'ABORT';
            },
          },
          {
            name: 'timeout', // Transactions may lock each other's resources.
            do: (self) => {
              globalAbort.send(self.id);
              self.at = 'ABORT';
            },
          },
        ],
        COMMIT: {
          do: (self) => {
            self.at = 'Done';
          },
        },
        ABORT: {
          do: (self) => {
            self.at = 'Done';
          },
        },
      },
    });

    const tr = processes(R, {
      start: 'TR_INIT',
      variables: {
        maxTxs: range(-1, 5, 5),
        voted: setOf(T),
        committed: setOf(T),
        aborted: setOf(T),
        state: range(0, transactions),
      },
      steps: {
        TR_INIT: [
          {
            name: 'no more transactions',
            await: (self) => self.maxTxs < 0,
            do: (self) => {
              self.at = 'Done';
            },
          },
          {
            name: 'skip',
            await: (self) => self.maxTxs >= 0,
            do: (self) => {
              self.at = 'STEP';
            },
          },
          {
            name: 'vote to commit',
            from: T,
            choose: (self) => minus(T.all, self.voted),
            await: (self, t) => self.maxTxs >= 0 && voteRequest.sent(t),
            do: (self, t) => {
              voteCommit.send(t, self.id);
              self.voted = plus(self.voted, t);
              self.at = 'READY';
            },
          },
          {
            name: 'vote to abort',
            from: T,
            choose: (self) => minus(T.all, self.voted),
            await: (self, t) => self.maxTxs >= 0 && voteRequest.sent(t),
            do: (self, t) => {
              voteAbort.send(t, self.id);
              self.voted = plus(self.voted, t);
              self.aborted = plus(self.aborted, t);
              self.at = 'STEP';
            },
          },
        ],
        READY: [
          {
            name: 'commit',
            from: T,
            choose: (self) => minus(bug === 1 ? T.all : self.voted, self.committed),
            await: (_tr, t) => globalCommit.sent(t),
            do: (self, t) => {
              const transaction = tm.all[t]!;
              transaction.increments = [...transaction.increments, { resource: self.id, before: self.state }];
              self.committed = plus(self.committed, t);
              if (bug !== 2) self.state += 1;
              self.at = 'STEP';
            },
          },
          {
            name: 'abort',
            from: T,
            choose: (self) => minus(bug === 1 ? T.all : self.voted, self.aborted),
            await: (_tr, t) => globalAbort.sent(t),
            do: (self, t) => {
              self.aborted = plus(self.aborted, t);
              self.at = 'STEP';
            },
          },
        ],
        STEP: {
          local: true,
          do: (self) => {
            self.maxTxs -= 1;
            self.at = 'TR_INIT';
          },
        },
      },
    });

    return {
      processes: [tm, tr],
      messages: [voteRequest, voteCommit, voteAbort, globalCommit, globalAbort],
      symmetry: [T, R],
      invariants: {
        atomicity: () => {
          let [aborted, committed] = [0, 0];
          for (const resource of tr.all) {
            aborted |= resource.aborted;
            committed |= resource.committed;
          }
          const torn = aborted & committed;
          return torn === 0 || tm.all.every(({ id, at }) => at !== 'Done' || ((torn >> id) & 1) === 0);
        },
      },
      sometimes: {
        'every transaction commits everywhere': () => tr.all.every(({ committed }) => committed === T.all),
      },
      eventually: { 'all transactions finish': () => tm.all.every(({ at }) => at === 'Done') },
      observe: observe({
        of: tm,
        from: ['increments'],
        operations: ({ increments }) =>
          increments.length === 0
            ? null
            : increments.flatMap(({ resource, before }) => [
                { kind: 'read', key: R.names[resource]!, value: before },
                { kind: 'write', key: R.names[resource]!, value: before + 1 },
              ]),
        initial: Object.fromEntries(R.names.map((name) => [name, 0])),
      }),
    };
  },
});
