// Optimistic commit with locks in the data, after Percolator (Peng and Dabek, OSDI 2010): a transaction reads at its start timestamp,
// locks what it writes, takes a commit timestamp and then replaces its locks by versions, the primary key first. A reader that meets
// an older lock waits. `--wait 0` reads past locks, and then sees half of a transaction.
// Run: moirai protocol examples/protocols/optimistic-commit.ts --wait 0 --writes 2 --level read-atomic
import {
  listOf,
  mapOf,
  memberOf,
  memberOrNone,
  namedSet,
  observe,
  processes,
  protocol,
  range,
  record,
  setOf,
  shared,
} from 'moirai/protocol';

export default protocol({
  name: 'percolator-style optimistic commit',
  parameters: { transactions: 2, writes: 1, wait: 1 },
  define: ({ transactions, writes, wait }) => {
    const T = namedSet('t', transactions);
    const K = namedSet('k', 2);
    const Version = namedSet('version', ['initial', ...T.names]);
    // Each transaction reads both keys and writes the first `writes` of them, counted from its own.
    const keysOf = (t: number) => (writes >= K.size ? K.all : 1 << (t % K.size));
    const primaryOf = (t: number) => t % K.size;
    const timeMax = 2 * transactions;

    const clock = shared('clock', { now: range(0, timeMax) });
    const data = shared('data', {
      locks: mapOf(K, memberOrNone(T)),
      versions: mapOf(K, listOf(record({ committed: range(0, timeMax), by: memberOf(T) }), transactions)),
    });
    const tick = () => (clock.now.now += 1);
    const readAt = (key: number, time: number) => {
      const seen = data.now.versions[key]!.filter(({ committed }) => committed <= time);
      const last = seen.toSorted((a, b) => b.committed - a.committed)[0];
      return last === undefined ? 0 : last.by + 1;
    };
    const isLockedBefore = (key: number, { started, all }: Started) => {
      const by = data.now.locks[key] ?? null;
      return by !== null && all[by]!.started < started;
    };
    const unlock = (t: number) => {
      data.now.locks = data.now.locks.map((by) => (by === t ? null : by));
    };

    const transaction = processes(T, {
      start: 'begin',
      variables: {
        started: range(0, timeMax),
        committed: range(0, timeMax),
        read: setOf(K),
        values: mapOf(K, memberOf(Version)),
        done: setOf(K), // the keys that are locked, and then those that are committed
      },
      steps: {
        begin: {
          name: 'take a start timestamp',
          do: (self) => {
            self.started = tick();
            self.at = 'read';
          },
        },
        read: [
          {
            name: 'read',
            from: K,
            choose: (self) => K.all & ~self.read,
            await: (self, key) => !wait || !isLockedBefore(key, self),
            do: (self, key) => {
              self.values = self.values.with(key, readAt(key, self.started));
              self.read |= 1 << key;
              if (self.read === K.all) self.at = 'lock';
            },
          },
        ],
        lock: [
          {
            name: 'lock',
            from: K,
            choose: (self) => keysOf(self.id) & ~self.done,
            do: (self, key) => {
              const isNewer = data.now.versions[key]!.some(({ committed }) => committed > self.started);
              if (isNewer || data.now.locks[key] !== null) {
                unlock(self.id);
                self.at = 'aborted';
                return;
              }
              data.now.locks = data.now.locks.with(key, self.id);
              self.done |= 1 << key;
              if (self.done === keysOf(self.id)) self.at = 'time';
            },
          },
        ],
        time: {
          name: 'take a commit timestamp',
          do: (self) => {
            self.committed = tick();
            self.done = 0;
            self.at = 'commit';
          },
        },
        commit: {
          name: 'commit',
          from: K,
          choose: (self) => (self.done === 0 ? 1 << primaryOf(self.id) : keysOf(self.id) & ~self.done),
          do: (self, key) => {
            const version = { committed: self.committed, by: self.id };
            data.now.versions = data.now.versions.with(key, [...data.now.versions[key]!, version]);
            data.now.locks = data.now.locks.with(key, null);
            self.done |= 1 << key;
            if (self.done === keysOf(self.id)) self.at = 'committed';
          },
        },
        committed: [],
        aborted: [],
      },
    });

    return {
      processes: [transaction],
      shared: [clock, data],
      invariants: {
        'no lock is left behind': () =>
          transaction.all.some(({ at }) => at !== 'committed' && at !== 'aborted') ||
          data.now.locks.every((by) => by === null),
      },
      sometimes: { 'all commit': () => transaction.all.every(({ at }) => at === 'committed') },
      eventually: { 'all end': () => transaction.all.every(({ at }) => at === 'committed' || at === 'aborted') },
      observe: observe({
        of: transaction,
        from: ['at', 'values', 'done'],
        // It has committed when its primary key has.
        operations: ({ id, at, values, done }) =>
          at === 'committed' || (at === 'commit' && done !== 0)
            ? [
                ...K.members.map((key) => ({ kind: 'read' as const, key: K.names[key]!, value: values[key]! })),
                ...K.members
                  .filter((key) => ((keysOf(id) >>> key) & 1) === 1)
                  .map((key) => ({ kind: 'write' as const, key: K.names[key]!, value: id + 1 })),
              ]
            : null,
        initial: Object.fromEntries(K.names.map((name) => [name, 0])),
      }),
    };
  },
});

interface Started {
  readonly started: number;
  readonly all: readonly { readonly started: number }[];
}
