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
  'LISTEN and NOTIFY': ['async-notify'],
  'GiST indexes': ['predicate-gist'],
  'indexes made and dropped concurrently': ['drop-index-concurrently-1'],
  'prepared transactions': ['prepared-transactions', 'prepared-transactions-cic'],
  'schemas that sessions drop': ['alter-table-4'],
};

/** What is replaced where a specification needs a word that its subject does not. */
export const adaptations: readonly { readonly specs: RegExp; readonly from: RegExp; readonly to: string }[] = [
  // A deadlock is noticed sooner.
  { specs: /./, from: /deadlock_timeout\s*=\s*'100ms'/gi, to: `deadlock_timeout = '2ms'` },
  // A set-returning function stands in FROM.
  {
    specs: /^(?:alter-table-[12]|serializable-parallel.*|eval-plan-qual)$/,
    from: /SELECT generate_series\((\d+,\s*\d+)\)([^;]*);/gi,
    to: 'SELECT g$2 FROM generate_series($1) AS g;',
  },
  // The planner chooses by itself.
  {
    specs: /^(?:predicate-gin|predicate-hash|serializable-parallel.*)$/,
    from: /SET \w*(?:enable|parallel)\w*\s*=\s*\w+;|ALTER TABLE \w+ SET \(parallel_workers = \d+\);/gi,
    to: '',
  },
  // A function is written out where it is called; those of eval-plan-qual and MERGE are called in permutations that are left out.
  {
    specs: /^(?:read-write-unique-3|eval-plan-qual|merge-.*)$/,
    from: /CREATE (?:OR REPLACE )?FUNCTION[^$]*\$\$[^$]*(?:\$\d[^$]*)*\$\$;|DROP FUNCTION \w+(?:\([^)]*\))?;?/gi,
    to: '',
  },
  {
    specs: /^read-write-unique-3$/,
    from: /SELECT insert_unique\((\d), ('\d')\)/g,
    to: 'INSERT INTO test SELECT $1, $2 WHERE NOT EXISTS (SELECT key FROM test WHERE key = $1)',
  },
  // Plans are not compared.
  { specs: /^merge-join$/, from: /EXPLAIN [^}]*/g, to: 'SELECT 1; ' },
  { specs: /^merge-.*$/, from: /CREATE TRIGGER [^;]*;/g, to: '' },
  // Tables are not partitioned, and have no children.
  {
    specs: /^(?:fk-snapshot|insert-conflict-do-update-4|eval-plan-qual|merge-.*)$/,
    from: /CREATE TABLE \w+ PARTITION OF [^;]*;|\s*PARTITION BY \w+ \(\w+\)|ALTER TABLE \w+ ATTACH PARTITION [^;]*;/gi,
    to: '',
  },
  {
    specs: /^eval-plan-qual$/,
    from: /CREATE TABLE c\d \(\) INHERITS \(p\);|INSERT INTO c\d [^;]*;/g,
    to: '',
  },
];

/** Permutations with a step of such a text are left out. */
export const stepsOutOfScope: Readonly<Record<string, RegExp>> = {
  // Functions, row numbers, inheritance, partitions, writes to system catalogues.
  'eval-plan-qual': /noisy_oper|update_checking|ctid|tableoid|parttbl|(?:FROM|UPDATE) p\b|UPDATE pg_class/i,
  // Partitions and triggers.
  ...Object.fromEntries(
    ['merge-delete', 'merge-match-recheck', 'merge-update'].map((name) => [
      name,
      /\b(?:target_pa|pa_target|target_tg)\b/,
    ]),
  ),
};
