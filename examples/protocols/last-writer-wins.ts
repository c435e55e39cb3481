// A replicated store in which the last writer wins: a transaction runs at one replica, its writes travel to the others one by one, and
// of two writes of a key a replica keeps the one with the later timestamp. `--whole 1` sends all writes of a transaction together.
// Run: moirai protocol examples/protocols/last-writer-wins.ts --level read-atomic
import { mapOf, memberOf, message, namedSet, observe, processes, protocol, setOf } from 'moirai/protocol';

export default protocol({
  name: 'last-writer-wins replicated store',
  parameters: { transactions: 3, replicas: 2, whole: 0 },
  define: ({ transactions, replicas, whole }) => {
    const T = namedSet('t', transactions);
    const R = namedSet('r', replicas);
    const K = namedSet('k', 2);
    // The timestamp of a write is its transaction's number.
    const Version = namedSet('version', ['initial', ...T.names]);
    const write = message('Write', T, K);

    const replica = processes(R, {
      start: 'replicate',
      mayRestAt: ['replicate'],
      variables: { latest: mapOf(K, memberOf(Version)) },
      steps: {
        replicate: whole
          ? {
              name: 'receive the writes of',
              from: T,
              await: ({ latest }, t) => K.members.every((key) => write.sent(t, key)) && latest.some((by) => by < t + 1),
              do: (self, t) => {
                self.latest = self.latest.map((by) => Math.max(by, t + 1));
              },
            }
          : K.members.map((key) => ({
              name: `receive ${K.names[key]} of`,
              from: T,
              await: ({ latest }: { readonly latest: readonly number[] }, t: number) =>
                write.sent(t, key) && latest[key]! < t + 1,
              do: (self: { latest: readonly number[] }, t: number) => {
                self.latest = self.latest.with(key, t + 1);
              },
            })),
      },
    });

    const transaction = processes(T, {
      start: 'run',
      variables: { values: mapOf(K, memberOf(Version)), home: setOf(R) },
      steps: {
        run: {
          name: 'read and write all keys at',
          from: R,
          do: (self, r) => {
            const { latest } = replica.all[r]!;
            self.values = latest;
            replica.all[r]!.latest = latest.map((by) => Math.max(by, self.id + 1));
            for (const key of K.members) write.send(self.id, key);
            self.home = 1 << r;
            self.at = 'committed';
          },
        },
        committed: [],
      },
    });

    return {
      processes: [transaction, replica],
      messages: [write],
      symmetry: [R],
      sometimes: {
        'replicas agree in the end': () =>
          transaction.all.every(({ at }) => at === 'committed') &&
          replica.all.every(({ latest }) => latest.every((by) => by === transactions)),
      },
      eventually: {
        'replicas agree': () =>
          transaction.all.every(({ at }) => at === 'committed') &&
          replica.all.every(({ latest }) => latest.every((by) => by === transactions)),
      },
      observe: observe({
        of: transaction,
        from: ['at', 'values'],
        operations: ({ id, at, values }) =>
          at !== 'committed'
            ? null
            : [
                ...K.members.map((key) => ({ kind: 'read' as const, key: K.names[key]!, value: values[key]! })),
                ...K.members.map((key) => ({ kind: 'write' as const, key: K.names[key]!, value: id + 1 })),
              ],
        initial: Object.fromEntries(K.names.map((name) => [name, 0])),
      }),
    };
  },
});
