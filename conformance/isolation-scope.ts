/** Which of PostgreSQL's isolation specifications are run, and what is changed in their texts, on both sides alike. */

/** Left out, by the reason. */
export const outOfScope: Readonly<Record<string, readonly string[]>> = {
  'partitioned tables and inheritance': [
    'detach-partition-concurrently-1',
    'detach-partition-concurrently-2',
    'detach-partition-concurrently-3',
    'detach-partition-concurrently-4',
    'fk-partitioned-1',
    'fk-partitioned-2',
    'inherit-temp',
    'partition-concurrent-attach',
    'partition-drop-index-locking',
    'partition-key-update-1',
    'partition-key-update-2',
    'partition-key-update-3',
    'partition-key-update-4',
    'tuplelock-partition',
    'cluster-conflict-partition',
  ],
  'VACUUM, CLUSTER, REINDEX and statistics': [
    'cluster-conflict',
    'freeze-the-dead',
    'horizons',
    'reindex-concurrently',
    'reindex-concurrently-toast',
    'reindex-schema',
    'stats',
    'vacuum-concurrent-drop',
    'vacuum-conflict',
    'vacuum-no-cleanup-lock',
    'vacuum-skip-locked',
    'plpgsql-toast',
  ],
  'roles and privileges': ['inplace-inval', 'intra-grant-inplace', 'intra-grant-inplace-db', 'truncate-conflict'],
  'triggers and functions as the subject': [
    'alter-table-3',
    'create-trigger',
    'deadlock-parallel',
    'eval-plan-qual-trigger',
    'insert-conflict-specconflict',
    'multiple-cic',
    'ri-trigger',
    'temp-schema-cleanup',
  ],
  'GiST indexes': ['predicate-gist'],
  'indexes made and dropped concurrently': ['drop-index-concurrently-1'],
  'prepared transactions': ['prepared-transactions', 'prepared-transactions-cic'],
  'schemas that sessions drop': ['alter-table-4'],
};

/** What is replaced where a specification needs a word that its subject does not. */
export const adaptations: readonly { readonly specs: RegExp; readonly from: RegExp; readonly to: string }[] = [
  // A deadlock is noticed sooner.
  { specs: /./, from: /deadlock_timeout\s*=\s*'100ms'/gi, to: `deadlock_timeout = '2ms'` },
];
