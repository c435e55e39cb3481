/** What conditions did not find, as a recorded history says it: through SQL, in both dialects. */
import { describe, expect, test } from 'vitest';
import { type History, INITIAL, type Operation } from '../history/index.ts';
import { check, type IsolationLevel, weakestViolation } from '../isolation/index.ts';
import type { SqlDatabase } from './index.ts';
import { connected, openDatabase, type TestSession } from './sql-session.test-support.ts';

type Script = readonly (readonly [session: 'a' | 'b' | 'c', sql: string])[];

const dialects = [
  ['postgres', 'read committed'],
  ['mysql', 'repeatable read'],
] as const;

async function recorded(
  { dialect, isolation }: { dialect: 'postgres' | 'mysql'; isolation: string },
  schema: readonly string[],
  script: Script,
): Promise<SqlDatabase> {
  const served = await openDatabase({ engine: dialect, isolation }, { settle: null });
  const sessions = new Map<string, TestSession>();
  const setUp = connected(served);
  for (const sql of schema) await setUp.run(sql);
  for (const name of ['a', 'b', 'c']) {
    sessions.set(name, connected(served, {}, name));
  }
  served.start();
  for (const [name, sql] of script) await sessions.get(name)?.run(sql);
  return served;
}

/** What conditions did not find: `a/0: jobs/2 = null where state = 'new' <- initial`. */
function missed({ transactions }: History): string[] {
  const writer = ({ from = INITIAL }: Extract<Operation, { kind: 'read' }>): string =>
    from === INITIAL ? 'initial' : (transactions[from]?.id ?? '');
  return transactions.flatMap(({ id, operations }) =>
    operations.flatMap((each) =>
      each.kind === 'read' && each.condition !== undefined
        ? [`${id}: ${each.key} = ${JSON.stringify(each.value)} where ${each.condition} <- ${writer(each)}`]
        : [],
    ),
  );
}

const jobs = ['create table jobs (id int primary key, state varchar(9), worker int)'];
const twoJobs = [...jobs, "insert into jobs values (1, 'new', 0), (2, 'done', 0)"];

function satisfied(served: SqlDatabase, level: IsolationLevel): boolean {
  return check(served.history(), level).kind === 'satisfied';
}

describe.each(dialects)('%s: a condition does not find', (dialect, isolation) => {
  const run = (schema: readonly string[], script: Script) => recorded({ dialect, isolation }, schema, script);

  test('a row that another transaction inserts', async () => {
    const served = await run(jobs, [
      ['a', 'begin'],
      ['b', 'begin'],
      ['a', "select * from jobs where state = 'new'"],
      ['b', "select count(*) from jobs where state = 'new'"],
      ['a', "insert into jobs values (1, 'new', 1)"],
      ['b', "insert into jobs values (2, 'new', 2)"],
      ['a', 'commit'],
      ['b', 'commit'],
    ]);
    expect(missed(served.history())).toEqual([
      "a/0: jobs/2 = null where state = 'new' <- initial",
      "b/0: jobs/1 = null where state = 'new' <- initial",
    ]);
    expect(satisfied(served, 'snapshot-isolation')).toBe(true);
    expect(weakestViolation(served.history())).toMatchObject({
      level: 'serializable',
      verdict: { anomaly: 'write-skew' },
    });
  });

  test('a row that another transaction changes so that it matches', async () => {
    const served = await run(twoJobs, [
      ['a', 'begin'],
      ['a', "select * from jobs where state = 'lost'"],
      ['b', "update jobs set state = 'lost' where id = 2"],
      ['a', "insert into jobs values (3, 'new', 0)"],
      ['a', 'commit'],
    ]);
    expect(missed(served.history())).toEqual([
      `a/0: jobs/2 = {"id":2,"state":"done","worker":0} where state = 'lost' <- initial`,
    ]);
  });

  test('no row that could not have changed its answer', async () => {
    const served = await run(twoJobs, [
      ['a', 'begin'],
      ['a', "select * from jobs where state = 'new'"],
      ['b', 'update jobs set worker = 7 where id = 2'],
      ['b', "insert into jobs values (3, 'done', 0)"],
      ['a', 'commit'],
    ]);
    expect(missed(served.history())).toEqual([]);
    expect(
      served
        .history()
        .transactions.find(({ id }) => id === 'a/0')
        ?.operations.map(({ key }) => key),
    ).toEqual(['jobs/1']);
  });

  test('a row before which a version was written that does not match either: the answer is a register of its own', async () => {
    const served = await run(twoJobs, [
      ['a', 'begin'],
      ['a', "select * from jobs where state = 'lost'"],
      ['b', 'update jobs set worker = 7 where id = 2'],
      ['c', "update jobs set state = 'lost' where id = 2"],
      ['a', "insert into jobs values (3, 'new', 0)"],
      ['a', 'commit'],
    ]);
    const key = "jobs/2 where state = 'lost'";
    const history = served.history();
    expect(missed(history)).toEqual([`a/0: ${key} = false where state = 'lost' <- initial`]);
    const writers = history.transactions.filter(({ operations }) =>
      operations.some((each) => each.kind === 'write' && each.key === key),
    );
    expect(writers.map(({ id }) => id)).toEqual(['c/0']);
  });

  test('a row that is gone: it reads the deletion', async () => {
    const served = await run(twoJobs, [
      ['b', 'delete from jobs where id = 1'],
      ['a', "select * from jobs where state = 'new'"],
    ]);
    expect(missed(served.history())).toEqual(["a/0: jobs/1 = null where state = 'new' <- b/0"]);
  });

  test('no row but that of its key, where a subquery looks up one', async () => {
    const served = await run(twoJobs, [
      ['b', 'delete from jobs where id = 2'],
      ['a', 'update jobs set worker = (select worker from jobs as other where id = 1) + 1 where id = 1'],
      ['a', 'insert into jobs select 3, state, 0 from jobs as other where id = 1'],
      ['a', 'delete from jobs where state = (select state from jobs as other where id = 7) and id = 3'],
    ]);
    expect(missed(served.history())).toEqual([]);
  });

  test('nothing of a write that was rolled back, to a savepoint or with its transaction', async () => {
    const served = await run(jobs, [
      ['a', 'begin'],
      ['a', "select * from jobs where state = 'new'"],
      ['b', 'begin'],
      ['b', 'savepoint s'],
      ['b', "insert into jobs values (1, 'new', 0)"],
      ['b', 'rollback to savepoint s'],
      ['b', "insert into jobs values (2, 'done', 0)"],
      ['b', 'commit'],
      ['c', 'begin'],
      ['c', "insert into jobs values (3, 'new', 0)"],
      ['c', 'rollback'],
      ['a', "insert into jobs values (4, 'old', 0)"],
      ['a', 'commit'],
    ]);
    expect(missed(served.history())).toEqual([]);
  });

  test('where LIMIT stopped the search, nothing is said of the rows after it', async () => {
    const served = await run(twoJobs, [
      ['a', 'begin'],
      ['a', 'select * from jobs where worker = 0 limit 1'],
      ['b', "insert into jobs values (3, 'new', 0)"],
      ['a', 'commit'],
    ]);
    expect(missed(served.history())).toEqual([]);
  });

  test('a row that another transaction moves to the key, and the place of a row that moved away', async () => {
    const served = await run(twoJobs, [
      ['a', 'begin'],
      ['a', 'select * from jobs where id = 3'],
      ['b', 'update jobs set id = 3 where id = 2'],
      ['c', 'select * from jobs where id = 2'],
      ['a', "insert into jobs values (4, 'new', 0)"],
      ['a', 'commit'],
    ]);
    expect(missed(served.history()).toSorted()).toEqual([
      'a/0: jobs/3 = null where id = 3 <- initial',
      'c/0: jobs/2 = null where id = 2 <- b/0',
    ]);
  });

  test('nothing while its own write held that it undid later', async () => {
    const served = await run(twoJobs, [
      ['a', 'begin'],
      ['a', 'select * from jobs where id = 2'],
      ['b', "update jobs set state = 'lost' where id = 1"],
      ['a', 'savepoint s'],
      ['a', "update jobs set state = 'busy' where id = 1"],
      ['a', "select * from jobs where state = 'lost'"],
      ['a', 'rollback to savepoint s'],
      ['a', 'commit'],
    ]);
    expect(missed(served.history())).toEqual([]);
  });

  test('nothing of a row that IN found at another of its values', async () => {
    const served = await openDatabase({ engine: dialect, isolation: 'repeatable read' }, { settle: null });
    const [a, b] = [connected(served), connected(served)];
    for (const sql of twoJobs) await a.run(sql);
    served.start();
    await a.run('begin');
    await a.run('select * from jobs where id = 2');
    await b.run('delete from jobs');
    await a.run('select * from jobs where id in (1, 2, 8)');
    await a.run('commit');
    expect(missed(served.history())).toEqual([]);
    expect(satisfied(served, 'snapshot-isolation')).toBe(true);
  });

  test('its own rows are no news', async () => {
    const served = await run(jobs, [
      ['a', 'begin'],
      ['a', "insert into jobs values (1, 'new', 0)"],
      ['a', "select * from jobs where state = 'done'"],
      ['a', "update jobs set state = 'done'"],
      ['a', 'commit'],
    ]);
    expect(missed(served.history())).toEqual([]);
  });
});

describe('postgres', () => {
  test('what EXISTS, a join and an INSERT ... SELECT ask for', async () => {
    const served = await recorded(
      { dialect: 'postgres', isolation: 'read committed' },
      [...jobs, 'create table workers (id int primary key, name varchar(9))'],
      [
        ['a', 'begin'],
        ['a', "insert into jobs select 9, 'new', 0 where not exists (select * from jobs where worker > 0)"],
        ['a', 'select * from workers w join jobs j on j.worker = w.id'],
        ['b', "insert into workers values (5, 'eve')"],
        ['b', "insert into jobs values (1, 'new', 5)"],
        ['a', 'commit'],
      ],
    );
    expect(missed(served.history())).toEqual([
      'a/0: jobs/1 = null where worker > 0 <- initial',
      'a/0: workers/5 = null where  <- initial',
    ]);
  });

  test('a condition that depends on another table is not decided', async () => {
    const served = await recorded(
      { dialect: 'postgres', isolation: 'read committed' },
      [...jobs, 'create table workers (id int primary key, name text)'],
      [
        ['a', 'begin'],
        ['a', 'select * from jobs j where exists (select * from workers where id = j.worker)'],
        ['b', "insert into jobs values (1, 'new', 5)"],
        ['a', 'commit'],
      ],
    );
    expect(missed(served.history())).toEqual([]);
    expect(served.undecidedConditions()).toEqual(['exists (select ...)']);
  });

  test('a statement that waited goes by the version it waited for', async () => {
    const served = await openDatabase({ engine: 'postgres', isolation: 'read committed' }, { settle: null });
    const [a, b] = [connected(served), connected(served)];
    await a.run(jobs[0] ?? '');
    await a.run("insert into jobs values (1, 'new', 0)");
    served.start();
    await a.run('begin');
    await a.run("update jobs set state = 'busy' where state = 'new'");
    const taken = b.run("update jobs set state = 'busy', worker = 2 where state = 'new'");
    const locked = connected(served).run("select * from jobs where state = 'new' for update");
    await a.run('commit');
    await Promise.all([taken, locked]);
    // Neither read the version that it found first, and both read the one of `a`.
    const reads = served
      .history()
      .transactions.slice(1)
      .flatMap(({ operations }) => operations);
    expect(reads).toHaveLength(2);
    expect(reads.every((each) => each.kind === 'read' && each.from === 0)).toBe(true);
    expect(check(served.history(), 'serializable').kind).toBe('satisfied');
  });

  const readsOf = (served: SqlDatabase, session: string) =>
    served
      .history()
      .transactions.filter(({ id }) => id.startsWith(session))
      .flatMap(({ operations }) => operations.flatMap((each) => (each.kind === 'read' ? [[each.key, each.from]] : [])));

  test('nothing of an uncommitted change to a row that SKIP LOCKED skips', async () => {
    const level = { dialect: 'postgres', isolation: 'read committed' } as const;
    const skip = ['b', 'select id from jobs order by id limit 1 for update skip locked'] as const;
    const remove = ['a', 'delete from jobs where id = 1'] as const;
    const around = (...middle: Script): Script => [
      ['a', 'begin'],
      ['a', 'select * from jobs where id = 1 for update'],
      ...middle,
      ['a', 'commit'],
    ];
    const [before, after] = [
      await recorded(level, twoJobs, around(skip, remove)),
      await recorded(level, twoJobs, around(remove, skip)),
    ];
    for (const served of [before, after]) expect(readsOf(served, 'b').map(([key]) => key)).not.toContain('jobs/1');
    expect(readsOf(after, 'b')).toEqual(readsOf(before, 'b'));
    expect(satisfied(after, 'serializable')).toBe(true);
  });

  test('a statement that waited at its first row reads a row that was changed meanwhile once, whether or not that was before it began', async () => {
    const changedBefore = async (isChangedBefore: boolean) => {
      const served = await openDatabase({ engine: 'postgres', isolation: 'read committed' }, { settle: null });
      const [a, b] = [connected(served, {}, 'a'), connected(served, {}, 'b')];
      for (const sql of [...jobs, "insert into jobs values (1, 'new', 0), (2, 'new', 0)"]) await a.run(sql);
      served.start();
      await a.run('begin');
      await a.run('select * from jobs where id = 1 for update');
      if (isChangedBefore) await a.run("update jobs set state = 'done' where id = 2");
      const locked = b.run("select id from jobs where state = 'new' order by id for share");
      if (!isChangedBefore) await a.run("update jobs set state = 'done' where id = 2");
      await a.run('commit');
      await locked;
      return readsOf(served, 'b');
    };
    const reads = await changedBefore(true);
    expect(reads).toEqual(await changedBefore(false));
    expect(reads.filter(([key]) => key === 'jobs/2')).toHaveLength(1);
  });
});

describe('mysql: a statement that waits', () => {
  const opened = async () => {
    const served = await openDatabase({ engine: 'mysql', isolation: 'repeatable read' }, { settle: null });
    const [a, b, c] = [connected(served, {}, 'a'), connected(served, {}, 'b'), connected(served, {}, 'c')];
    for (const sql of twoJobs) await a.run(sql);
    served.start();
    return { served, a, b, c };
  };

  test('finds a row that a statement before it, with the same condition, did not find', async () => {
    const { served, a, b } = await opened();
    await a.run('begin');
    await b.run('begin');
    await b.run("insert into jobs values (3, 'new', 0)");
    await a.run('select * from jobs where id = 3');
    const updated = a.run('update jobs set worker = 1 where id = 3');
    await b.run('commit');
    expect(await updated).toMatchObject({ rowCount: 1 });
    await a.run('commit');
    expect(missed(served.history())).toEqual(['a/0: jobs/3 = null where id = 3 <- initial']);
    expect(satisfied(served, 'serializable')).toBe(false);
  });

  test('has missed nothing of a row that IN found at another of its values after the wait', async () => {
    const { served, a, b, c } = await opened();
    await c.run('begin');
    await c.run('select * from jobs where id = 1 for update');
    await a.run('begin');
    const locked = a.run("select id from jobs where id in (1, 2) and state = 'new' for update");
    await b.run("update jobs set state = 'new' where id = 2");
    await c.run('commit');
    expect(await locked).toMatchObject({ rows: [[1], [2]] });
    await a.run('commit');
    expect(missed(served.history())).toEqual([]);
    expect(satisfied(served, 'serializable')).toBe(true);
  });
});
