/**
 * Bugs that Leopard found (its Bug-List.pdf and DBHammer/buglist), as traces: what clients saw, a statement after the other. Numbers are of
 * that list. Where the list shows SQL, a row is its primary key and a value what the statement set or returned.
 */
export interface KnownBug {
  readonly name: string;
  readonly engine: string;
  readonly isolation: string;
  readonly mechanism: string;
  readonly trace: string;
}

export const leopardBugs: readonly KnownBug[] = [
  {
    name: 'TiDB 1: an update that changes nothing does not lock its row',
    engine: 'tidb',
    isolation: 'repeatable read',
    mechanism: 'mutual-exclusion',
    trace: `
      a t1 begin
      a t1 w t/1={"b":5}
      b t2 begin
      b t2 w t/1={"b":6}
      b t2 commit
      a t1 commit`,
  },
  {
    name: 'TiDB 2: a read returns a version that was overwritten before it began (the example of VI.F)',
    engine: 'tidb',
    isolation: 'optimistic',
    mechanism: 'consistent-read',
    trace: `
      a 904 w t/3873={"b":-0.386}
      a 904 commit
      a 907 w t/3873={"b":0.484}
      a 907 commit
      b 914 r t/3873={"b":-0.386}
      b 914 commit`,
  },
  {
    name: 'TiDB 3: FOR UPDATE through a view ignores the lock of another',
    engine: 'tidb',
    isolation: 'repeatable read',
    mechanism: 'mutual-exclusion',
    trace: `
      a t1 begin
      a t1 r-update t/1={"b":1}
      b t2 begin
      b t2 r-update t/1={"b":1}
      b t2 commit
      a t1 commit`,
  },
  {
    name: 'TiDB 6, MySQL 19 (108015): after its own update that changes nothing, a transaction reads an older version',
    engine: 'mysql',
    isolation: 'repeatable read',
    mechanism: 'consistent-read',
    trace: `
      a t1 r t/1={"b":1}
      b t2 w t/1={"b":2}
      b t2 commit
      a t1 w t/1={"b":2}
      a t1 r t/1={"b":1}
      a t1 commit`,
  },
  {
    name: 'TiDB 7: a transaction cannot read its own update',
    engine: 'tidb',
    isolation: 'repeatable read',
    mechanism: 'consistent-read',
    trace: `
      a t1 begin
      a t1 r t/1={"b":1}
      a t1 w t/1={"b":2}
      a t1 r t/1={"b":1}
      a t1 commit`,
  },
  {
    name: 'TiDB 39: one statement reads two snapshots',
    engine: 'tidb',
    isolation: 'read committed',
    mechanism: 'consistent-read',
    trace: `
      a t1 w t/1={"b":1} t/2={"b":1}
      a t1 commit
      a t2 w t/1={"b":2} t/2={"b":2} @40-45
      a t2 commit @50-90
      b t3 r t/1={"b":2} t/2={"b":1} @60-70
      b t3 commit @92-93`,
  },
  {
    name: 'MySQL 41: a read committed read of what a failed transaction wrote',
    engine: 'mysql',
    isolation: 'read committed',
    mechanism: 'consistent-read',
    trace: `
      a t1 w t/1={"b":1}
      a t1 commit
      a t2 w t/1={"b":2}
      b t3 r t/1={"b":2}
      a t2 abort
      b t3 commit`,
  },
  {
    name: 'PostgreSQL 43: write skew under serializable',
    engine: 'postgres',
    isolation: 'serializable',
    mechanism: 'serialization-certifier',
    trace: `
      i t0 w t/1=1 t/2=1
      i t0 commit
      a t1 r t/1=1 t/2=1
      b t2 r t/1=1 t/2=1
      a t1 w t/1=0
      b t2 w t/2=0
      a t1 commit
      b t2 commit`,
  },
  {
    name: 'PostgreSQL 44 (17017): a snapshot sees two versions of one row',
    engine: 'postgres',
    isolation: 'repeatable read',
    mechanism: 'consistent-read',
    trace: `
      i t0 w t/1=1
      i t0 commit
      a t1 r t/1=1
      b t2 w t/1=2
      b t2 commit
      a t1 r t/1=1 t/1=2
      a t1 commit`,
  },
  {
    name: 'openGauss 23: the snapshot of a new transaction is older than it',
    engine: 'opengauss',
    isolation: 'repeatable read',
    mechanism: 'consistent-read',
    trace: `
      a t1 w t/1=1
      a t1 commit
      b t2 r t/1=1
      b t2 commit
      a t3 w t/1=2
      a t3 commit
      b t4 r t/1=1
      b t4 commit`,
  },
  {
    name: 'openGauss 45: both of two concurrent updaters commit',
    engine: 'opengauss',
    isolation: 'repeatable read',
    mechanism: 'first-updater-wins',
    trace: `
      a t1 r t/1=0
      b t2 r t/1=0
      a t1 w t/1=1
      a t1 commit
      b t2 w t/1=2
      b t2 commit`,
  },
  {
    name: 'OceanBase 47: START TRANSACTION WITH CONSISTENT SNAPSHOT sees what commits later (a read without rows takes the snapshot)',
    engine: 'oceanbase',
    isolation: 'repeatable read',
    mechanism: 'consistent-read',
    trace: `
      i t0 w t/1=1
      i t0 commit
      a t1 r
      b t2 w t/1=2
      b t2 commit
      a t1 r t/1=2
      a t1 commit`,
  },
];
