// A store with snapshot isolation: a transaction reads from the snapshot of its start, and the first of two writers of a key to commit
// wins. Each transaction reads all keys and writes one: write skew, which serializable forbids. `--check 0` forgets the check at commit,
// and then updates are lost. Run: moirai protocol examples/protocols/snapshot-store.ts --level snapshot-isolation
import { mapOf, memberOf, namedSet, observe, processes, protocol, shared } from 'moirai/protocol';

export default protocol({
  name: 'snapshot-isolation store',
  parameters: { transactions: 3, keys: 2, check: 1 },
  define: ({ transactions, keys, check }) => {
    const T = namedSet('t', transactions);
    const K = namedSet('k', keys);
    // A key's value is who wrote it last, so that values and versions are one.
    const Version = namedSet('version', ['initial', ...T.names]);
    const versionOf = (t: number) => t + 1;
    const written = (t: number) => t % keys;

    const store = shared('store', { latest: mapOf(K, memberOf(Version)) });
    const transaction = processes(T, {
      start: 'begin',
      variables: { snapshot: mapOf(K, memberOf(Version)) },
      steps: {
        begin: {
          name: 'take a snapshot',
          do: (self) => {
            self.snapshot = store.now.latest;
            self.at = 'commit';
          },
        },
        commit: [
          {
            name: 'commit',
            await: ({ id, snapshot }) => !check || store.now.latest[written(id)] === snapshot[written(id)],
            do: (self) => {
              store.now.latest = store.now.latest.with(written(self.id), versionOf(self.id));
              self.at = 'committed';
            },
          },
          {
            name: 'abort',
            await: ({ id, snapshot }) => check === 1 && store.now.latest[written(id)] !== snapshot[written(id)],
            do: (self) => {
              self.at = 'aborted';
            },
          },
        ],
        committed: [],
        aborted: [],
      },
    });

    return {
      processes: [transaction],
      shared: [store],
      invariants: { 'one commits': () => !transaction.all.every(({ at }) => at === 'aborted') },
      sometimes: { 'all commit': () => transaction.all.every(({ at }) => at === 'committed') },
      eventually: { 'all end': () => transaction.all.every(({ at }) => at === 'committed' || at === 'aborted') },
      observe: observe({
        of: transaction,
        from: ['at', 'snapshot'],
        operations: ({ id, at, snapshot }) =>
          at !== 'committed'
            ? null
            : [
                ...K.members.map((key) => ({ kind: 'read' as const, key: K.names[key]!, value: snapshot[key]! })),
                { kind: 'write', key: K.names[written(id)]!, value: versionOf(id) },
              ],
        initial: Object.fromEntries(K.names.map((name) => [name, 0])),
      }),
    };
  },
});
