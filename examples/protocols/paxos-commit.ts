// Paxos commit, after Gray and Lamport, TODS 2006: each resource manager's decision to prepare or to abort is an instance of Paxos
// consensus, so no single coordinator can block the others. Run: moirai protocol examples/protocols/paxos-commit.ts
import { has, mapOf, memberOf, membersOf, message, namedSet, processes, protocol, sizeOf, step } from 'moirai/protocol';

export default protocol({
  name: 'Paxos commit',
  parameters: { managers: 2, acceptors: 3, ballots: 2 },
  define: ({ managers, acceptors, ballots }) => {
    const L = namedSet('leader', ['leader']);
    const RM = namedSet('rm', managers);
    const A = namedSet('a', acceptors);
    const Ballot = namedSet(
      'ballot',
      Array.from({ length: ballots }, (_, ballot) => String(ballot)),
    );
    const Value = namedSet('value', ['prepared', 'aborted']);
    const [PREPARED, ABORTED] = [0, 1];
    // What an acceptor has accepted: nothing, or a value at a ballot.
    const accepted = Ballot.members.flatMap((ballot) => Value.names.map((value) => `${value} at ${ballot}`));
    const Vote = namedSet('vote', ['none', ...accepted]);
    const voteFor = (ballot: number, value: number) => 1 + ballot * Value.size + value;

    const phase1a = message('Phase1a', RM, Ballot);
    const phase1b = message('Phase1b', RM, Ballot, A, Vote); // of a ballot: the acceptor's last vote
    const phase2a = message('Phase2a', RM, Ballot, Value);
    const phase2b = message('Phase2b', RM, Ballot, Value, A);
    const commit = message('Commit');
    const abort = message('Abort');

    const majorities = Array.from({ length: A.all + 1 }, (_, members) => members).filter(
      (members) => sizeOf(members) === Math.floor(A.size / 2) + 1,
    );

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
              phase2a.send(self.id, 0, PREPARED);
              self.at = 'prepared';
            },
          },
          {
            name: 'choose to abort',
            do: (self) => {
              phase2a.send(self.id, 0, ABORTED);
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

    /** The last vote among those that a majority reports for a ballot, or null where one of them has not reported. */
    const lastVote = (instance: number, ballot: number, majority: number): number | null => {
      let last = 0;
      for (const acceptor of membersOf(majority)) {
        const reported = phase1b.sentBy(instance, ballot, acceptor);
        if (reported === 0) return null;
        last = Math.max(last, 31 - Math.clz32(reported));
      }
      return last;
    };
    const decided = (instance: number, value: number) =>
      Ballot.members.some((ballot) => {
        const acceptedBy = phase2b.sentBy(instance, ballot, value);
        return majorities.some((majority) => (acceptedBy & majority) === majority);
      });
    const later = Ballot.members.slice(1);
    const leader = processes(L, {
      start: 'lead',
      steps: {
        lead: [
          ...later.map((ballot) => ({
            name: `start ballot ${ballot}`,
            from: RM,
            do: (_: unknown, instance: number) => phase1a.send(instance, ballot),
          })),
          ...later.flatMap((ballot) =>
            majorities.map((majority) => ({
              name: `propose at ballot ${ballot}`,
              from: RM,
              await: (_: unknown, instance: number) =>
                phase2a.sentBy(instance, ballot) === 0 && lastVote(instance, ballot, majority) !== null,
              do: (_: unknown, instance: number) => {
                const last = lastVote(instance, ballot, majority) ?? 0;
                phase2a.send(instance, ballot, last === 0 ? ABORTED : (last - 1) % Value.size);
              },
            })),
          ),
          {
            name: 'commit',
            await: () => RM.members.every((instance) => decided(instance, PREPARED)),
            do: () => commit.send(),
          },
          {
            name: 'abort',
            from: RM,
            await: (_, instance) => decided(instance, ABORTED),
            do: () => abort.send(),
          },
        ],
      },
    });

    const acceptor = processes(A, {
      start: 'accept',
      variables: { promised: mapOf(RM, memberOf(Ballot)), vote: mapOf(RM, memberOf(Vote)) },
      steps: {
        accept: Ballot.members.flatMap((ballot) => [
          {
            name: `promise ballot ${ballot}`,
            from: RM,
            await: (self: Acceptor, instance: number) =>
              phase1a.sent(instance, ballot) && self.promised[instance]! < ballot,
            do: (self: Acceptor, instance: number) => {
              phase1b.send(instance, ballot, self.id, self.vote[instance]);
              self.promised = self.promised.with(instance, ballot);
            },
          },
          ...Value.members.map((value) => ({
            name: `accept ${Value.names[value]} at ballot ${ballot}`,
            from: RM,
            await: (self: Acceptor, instance: number) =>
              phase2a.sent(instance, ballot, value) && self.promised[instance]! <= ballot,
            do: (self: Acceptor, instance: number) => {
              phase2b.send(instance, ballot, value, self.id);
              self.promised = self.promised.with(instance, ballot);
              self.vote = self.vote.with(instance, voteFor(ballot, value));
            },
          })),
        ]),
      },
    });

    return {
      processes: [rm, acceptor, leader],
      messages: [phase1a, phase1b, phase2a, phase2b, commit, abort],
      symmetry: [RM, A],
      invariants: {
        consistent: () => !(rm.all.some(({ at }) => at === 'committed') && rm.all.some(({ at }) => at === 'aborted')),
        'one value is chosen': () =>
          RM.members.every((instance) => !(decided(instance, PREPARED) && decided(instance, ABORTED))),
      },
      sometimes: {
        'all commit': () => rm.all.every(({ at }) => at === 'committed'),
        'a later ballot commits': () =>
          commit.sent() && RM.members.some((instance) => has(phase1a.sentBy(instance), 1)),
      },
    };
  },
});

interface Acceptor {
  readonly id: number;
  promised: readonly number[];
  vote: readonly number[];
}
