// A key-value store with snapshot isolation, after KVsnap of the TLA+ examples: a transaction picks the keys that it reads and those
// that it writes, works on its snapshot, and commits if nobody has committed a write to a key of its own meanwhile.
// Run: moirai protocol examples/protocols/key-value-snapshot.ts --level snapshot-isolation
import {
  has,
  mapOf,
  memberOrNone,
  membersOf,
  namedSet,
  observe,
  processes,
  protocol,
  setOf,
  shared,
} from 'moirai/protocol';

export default protocol({
  name: 'key-value store with snapshots',
  parameters: { transactions: 3, keys: 2 },
  define: ({ transactions, keys }) => {
    const T = namedSet('t', transactions);
    const K = namedSet('k', keys);
    const subsets = Array.from({ length: K.all }, (_, i) => i + 1); // but the empty one
    const keysText = (members: number) =>
      `{${membersOf(members)
        .map((key) => K.names[key])
        .join(' ')}}`;
    const choices = subsets.flatMap((reads) => subsets.map((writes) => ({ reads, writes })));
    const Choice = namedSet(
      'choice',
      choices.map(({ reads, writes }) => `reads ${keysText(reads)} writes ${keysText(writes)}`),
    );

    // A value is the transaction that wrote it.
    const values = mapOf(K, memberOrNone(T));
    const store = shared('store', { values, open: setOf(T) });
    const transaction = processes(T, {
      start: 'START',
      variables: {
        reads: setOf(K),
        writes: setOf(K),
        snapshot: values,
        seen: values,
        missed: setOf(K), // what others have committed since the snapshot
      },
      steps: {
        START: {
          name: 'take a snapshot',
          from: Choice,
          do: (self, choice) => {
            store.now.open |= 1 << self.id;
            self.snapshot = store.now.values;
            self.reads = choices[choice]!.reads;
            self.writes = choices[choice]!.writes;
            self.at = 'READ';
          },
        },
        READ: {
          do: (self) => {
            self.seen = self.snapshot.map((value, key) => (has(self.reads, key) ? value : null));
            self.at = 'UPDATE';
          },
        },
        UPDATE: {
          do: (self) => {
            self.snapshot = self.snapshot.map((value, key) => (has(self.writes, key) ? self.id : value));
            self.at = 'COMMIT';
          },
        },
        COMMIT: {
          do: (self) => {
            if ((self.missed & self.writes) === 0) {
              store.now.open &= ~(1 << self.id);
              for (const other of self.all) if (has(store.now.open, other.id)) other.missed |= self.writes;
              store.now.values = store.now.values.map((value, key) =>
                has(self.writes, key) ? self.snapshot[key]! : value,
              );
              self.at = 'committed';
            } else self.at = 'aborted';
          },
        },
        committed: [],
        aborted: [],
      },
    });

    return {
      processes: [transaction],
      shared: [store],
      symmetry: [T],
      sometimes: { 'all commit': () => transaction.all.every(({ at }) => at === 'committed') },
      eventually: { 'all end': () => transaction.all.every(({ at }) => at === 'committed' || at === 'aborted') },
      observe: observe({
        of: transaction,
        from: ['at', 'reads', 'writes', 'seen'],
        // As in the original, what a transaction has read counts before it commits, and when it never does.
        operations: ({ id, at, reads, writes, seen }) =>
          at === 'START' || at === 'READ'
            ? null
            : [
                ...membersOf(reads).map((key) => ({
                  kind: 'read' as const,
                  key: K.names[key]!,
                  value: seen[key] === null ? 0 : seen[key]! + 1,
                })),
                ...membersOf(at === 'committed' ? writes : 0).map((key) => ({
                  kind: 'write' as const,
                  key: K.names[key]!,
                  value: id + 1,
                })),
              ],
        initial: Object.fromEntries(K.names.map((name) => [name, 0])),
      }),
    };
  },
});
