import { beforeAll, describe, expect, test } from 'vitest';
import type { Application, UnitStep } from './application.ts';
import { application, argument as arg, column, statement, transaction } from './builder.ts';
import { RobustSet } from './robust-set.ts';
import type { IsolationName } from '../sql/index.ts';
import { readSchema } from './schema.ts';
import { type AnalyzedTransaction, transactionsOf } from './transactions.ts';

/** The robust subsets as research on transaction templates gives them, recalled; here they start from SQL. Rows are named by key throughout. */

const one = (name: string, ...steps: readonly ReturnType<typeof statement>[]): readonly UnitStep[] => [
  transaction(name, null, steps),
];
const account = (name: string, result: string): ReturnType<typeof statement> =>
  statement('SELECT custid FROM accounts WHERE name = $1', [arg(name)], result);
const of = (result: string): ReturnType<typeof column> => column(result, 'custid');

const bankSchema = `
  CREATE TABLE accounts (custid int PRIMARY KEY, name text NOT NULL UNIQUE);
  CREATE TABLE savings (custid int PRIMARY KEY REFERENCES accounts, bal int NOT NULL);
  CREATE TABLE checking (custid int PRIMARY KEY REFERENCES accounts, bal int NOT NULL);`;
const readSavings = 'SELECT bal FROM savings WHERE custid = $1';
const readChecking = 'SELECT bal FROM checking WHERE custid = $1';
const setSavings = 'UPDATE savings SET bal = $2 WHERE custid = $1';
const setChecking = 'UPDATE checking SET bal = $2 WHERE custid = $1';

const smallBank = application({
  schema: bankSchema,
  units: {
    Bal: one('Bal', account('n', 'a'), statement(readSavings, [of('a')]), statement(readChecking, [of('a')])),
    DC: one(
      'DC',
      account('n', 'a'),
      statement('UPDATE checking SET bal = bal + $2 WHERE custid = $1', [of('a'), arg('v')]),
    ),
    TS: one(
      'TS',
      account('n', 'a'),
      statement('UPDATE savings SET bal = bal + $2 WHERE custid = $1', [of('a'), arg('v')]),
    ),
    Am: one(
      'Am',
      account('n1', 'a1'),
      account('n2', 'a2'),
      statement('UPDATE savings SET bal = bal - bal WHERE custid = $1 RETURNING bal', [of('a1')], 's'),
      statement('UPDATE checking SET bal = bal - bal WHERE custid = $1 RETURNING bal', [of('a1')], 'c'),
      statement('UPDATE checking SET bal = bal + $2 WHERE custid = $1', [of('a2'), column('s', 'bal')]),
    ),
    WC: one(
      'WC',
      account('n', 'a'),
      statement(readSavings, [of('a')], 's'),
      statement(readChecking, [of('a')], 'c'),
      statement('UPDATE checking SET bal = bal - $2 WHERE custid = $1', [of('a'), arg('v')]),
    ),
  },
});

const smallBankInTwo = application({
  schema: bankSchema,
  units: {
    Bal: one('Bal', account('n', 'a'), statement(readSavings, [of('a')]), statement(readChecking, [of('a')])),
    DC: one(
      'DC',
      account('n', 'a'),
      statement(readChecking, [of('a')], 'c'),
      statement(setChecking, [of('a'), column('c', 'bal')]),
    ),
    TS: one(
      'TS',
      account('n', 'a'),
      statement(readSavings, [of('a')], 's'),
      statement(setSavings, [of('a'), column('s', 'bal')]),
    ),
    Am: one(
      'Am',
      account('n1', 'a1'),
      account('n2', 'a2'),
      statement(readSavings, [of('a1')], 's'),
      statement(setSavings, [of('a1'), 0]),
      statement(readChecking, [of('a1')], 'c'),
      statement(setChecking, [of('a1'), 0]),
      statement(readChecking, [of('a2')], 'd'),
      statement(setChecking, [of('a2'), column('d', 'bal')]),
    ),
    WC: one(
      'WC',
      account('n', 'a'),
      statement(readSavings, [of('a')], 's'),
      statement(readChecking, [of('a')], 'c'),
      statement(setChecking, [of('a'), column('c', 'bal')]),
    ),
  },
});

const district = [arg('w'), arg('d')];
const tpcC = application({
  schema: `
    CREATE TABLE warehouse (w int PRIMARY KEY, name text, tax int, ytd int);
    CREATE TABLE district (w int, d int, name text, tax int, ytd int, next_o int, PRIMARY KEY (w, d));
    CREATE TABLE customer (w int, d int, c int, info text, balance int, data text, deliveries int, PRIMARY KEY (w, d, c));
    CREATE TABLE orders (w int, d int, o int, c int, carrier int, PRIMARY KEY (w, d, o));
    CREATE TABLE new_order (w int, d int, o int, PRIMARY KEY (w, d, o));
    CREATE TABLE order_line (w int, d int, o int, n int, i int, amount int, delivered text, PRIMARY KEY (w, d, o, n));
    CREATE TABLE item (i int PRIMARY KEY, price int);
    CREATE TABLE stock (w int, i int, quantity int, ytd int, info text, PRIMARY KEY (w, i));
    CREATE TABLE history (h serial PRIMARY KEY, info text);`,
  units: {
    NO: one(
      'NO',
      statement('SELECT tax FROM warehouse WHERE w = $1', [arg('w')]),
      statement('UPDATE district SET next_o = next_o + 1 WHERE w = $1 AND d = $2 RETURNING next_o, tax', district, 'd'),
      statement('SELECT info FROM customer WHERE w = $1 AND d = $2 AND c = $3', [...district, arg('c')]),
      statement('INSERT INTO orders (w, d, o, c) VALUES ($1, $2, $3, $4)', [
        ...district,
        column('d', 'next_o'),
        arg('c'),
      ]),
      statement('INSERT INTO new_order VALUES ($1, $2, $3)', [...district, column('d', 'next_o')]),
      ...['1', '2'].flatMap((n) => [
        statement('SELECT price FROM item WHERE i = $1', [arg(`i${n}`)]),
        statement('UPDATE stock SET quantity = quantity - $3, ytd = ytd + $3 WHERE w = $1 AND i = $2 RETURNING info', [
          arg(`s${n}`),
          arg(`i${n}`),
          arg(`q${n}`),
        ]),
        statement(`INSERT INTO order_line (w, d, o, n, i, amount) VALUES ($1, $2, $3, ${n}, $4, $5)`, [
          ...district,
          column('d', 'next_o'),
          arg(`i${n}`),
          arg(`q${n}`),
        ]),
      ]),
    ),
    Pay: one(
      'Pay',
      statement('UPDATE warehouse SET ytd = ytd + $2 WHERE w = $1 RETURNING name', [arg('w'), arg('v')]),
      statement('UPDATE district SET ytd = ytd + $3 WHERE w = $1 AND d = $2 RETURNING name', [...district, arg('v')]),
      statement(
        'UPDATE customer SET balance = balance - $4, data = data || $5 WHERE w = $1 AND d = $2 AND c = $3 RETURNING info',
        [...district, arg('c'), arg('v'), arg('note')],
      ),
      statement('INSERT INTO history (info) VALUES ($1)', [arg('note')]),
    ),
    OS: one(
      'OS',
      statement('SELECT info, balance FROM customer WHERE w = $1 AND d = $2 AND c = $3', [...district, arg('c')]),
      statement('SELECT c, carrier FROM orders WHERE w = $1 AND d = $2 AND o = $3', [...district, arg('o')]),
      ...['1', '2'].map((n) =>
        statement(`SELECT i, amount, delivered FROM order_line WHERE w = $1 AND d = $2 AND o = $3 AND n = ${n}`, [
          ...district,
          arg('o'),
        ]),
      ),
    ),
    Del: one(
      'Del',
      statement('SELECT o FROM new_order WHERE w = $1 AND d = $2 AND o = $3', [...district, arg('o')], 'n'),
      statement('DELETE FROM new_order WHERE w = $1 AND d = $2 AND o = $3', [...district, arg('o')]),
      statement('SELECT c FROM orders WHERE w = $1 AND d = $2 AND o = $3', [...district, arg('o')], 'o'),
      statement('UPDATE orders SET carrier = $4 WHERE w = $1 AND d = $2 AND o = $3', [
        ...district,
        arg('o'),
        arg('carrier'),
      ]),
      ...['1', '2'].map((n) =>
        statement(`UPDATE order_line SET delivered = $4 WHERE w = $1 AND d = $2 AND o = $3 AND n = ${n}`, [
          ...district,
          arg('o'),
          arg('now'),
        ]),
      ),
      statement(
        'UPDATE customer SET balance = balance + $4, deliveries = deliveries + 1 WHERE w = $1 AND d = $2 AND c = $3',
        [...district, column('o', 'c'), arg('v')],
      ),
    ),
    SL: one(
      'SL',
      statement('SELECT next_o FROM district WHERE w = $1 AND d = $2', district),
      ...['1', '2'].flatMap((n) => [
        statement(
          'SELECT i FROM order_line WHERE w = $1 AND d = $2 AND o = $3 AND n = $4',
          [...district, arg(`o${n}`), arg(`n${n}`)],
          `l${n}`,
        ),
        statement('SELECT quantity FROM stock WHERE w = $1 AND i = $2', [arg('w'), column(`l${n}`, 'i')]),
      ]),
    ),
  },
});

/** The parameters in the order in which `?` takes them. */
function inMysql(app: Application): Application {
  const translated = JSON.stringify(app.units, (_, step: unknown) => {
    if (typeof step !== 'object' || step === null || !('sql' in step) || !('parameters' in step)) return step;
    const [sql, parameters] = [String(step.sql), step.parameters as readonly unknown[]];
    const order = [...sql.matchAll(/\$(\d)/g)].map(([, number]) => parameters[Number(number) - 1]);
    return { ...step, sql: sql.replaceAll(/\$\d/g, '?'), parameters: order };
  });
  const schema = app.schema.replaceAll('text', 'varchar(64)');
  return { ...app, dialect: 'mysql', schema, units: JSON.parse(translated) as Application['units'] };
}

const smallBankInMysql = inMysql(smallBank);

const analyzed = new Map<Application, readonly AnalyzedTransaction[]>();
beforeAll(async () => {
  for (const app of [smallBank, smallBankInTwo, tpcC, smallBankInMysql]) {
    const transactions = transactionsOf(app, await readSchema(app));
    analyzed.set(app, transactions);
  }
});

test('every statement is understood', () => {
  expect([...analyzed.values()].flat().flatMap(({ notUnderstood }) => notUnderstood)).toEqual([]);
});

/** The largest subsets that are robust where all transactions have one level. */
function robustSubsets(app: Application, level: IsolationName): readonly string[] {
  const all = analyzed.get(app) ?? [];
  const subsets = Array.from({ length: 2 ** all.length - 1 }, (_, bits) =>
    all.filter((_one, at) => ((bits + 1) >> at) % 2 === 1),
  );
  const robust = subsets.filter((subset) => new RobustSet(subset, app.dialect).isRobust(subset.map(() => level)));
  const isLargest = (subset: readonly AnalyzedTransaction[]): boolean =>
    !robust.some((other) => other.length > subset.length && subset.every((each) => other.includes(each)));
  return robust
    .filter(isLargest)
    .map((subset) => subset.map(({ name }) => name).join(' '))
    .toSorted();
}

describe('SmallBank', () => {
  test('at read committed, updates in one statement', () => {
    expect(robustSubsets(smallBank, 'read committed')).toEqual(['Bal DC', 'Bal TS', 'DC TS Am'].toSorted());
  });
  test('at read committed, a SELECT before each UPDATE', () => {
    expect(robustSubsets(smallBankInTwo, 'read committed')).toEqual(['Bal']);
  });
  test('at snapshot isolation', () => {
    expect(robustSubsets(smallBank, 'repeatable read')).toEqual(
      ['Bal DC TS Am', 'Bal DC WC', 'DC TS Am WC'].toSorted(),
    );
  });
  test('the weakest levels', () => {
    expect(new RobustSet(analyzed.get(smallBank) ?? [], 'postgres').weakest()).toEqual([
      'serializable',
      'read committed',
      'serializable',
      'serializable',
      'serializable',
    ]);
  });
});

describe("SmallBank on InnoDB's levels", () => {
  test('read committed is the same as on PostgreSQL', () => {
    expect(robustSubsets(smallBankInMysql, 'read committed')).toEqual(robustSubsets(smallBank, 'read committed'));
  });
  test('repeatable read: a reader has one snapshot, a write after a read is of an old one', () => {
    expect(robustSubsets(smallBankInMysql, 'repeatable read')).toEqual(['Bal DC TS Am']);
  });
  test('the weakest levels, each for itself', () => {
    expect(new RobustSet(analyzed.get(smallBankInMysql) ?? [], 'mysql').weakest()).toEqual([
      'repeatable read',
      'read committed',
      'read committed',
      'read committed',
      'serializable',
    ]);
  });
  test('serializable', () => {
    const all = analyzed.get(smallBankInMysql) ?? [];
    expect(new RobustSet(all, 'mysql').isRobust(all.map(() => 'serializable'))).toBe(true);
  });
});

describe('TPC-C by key', () => {
  test('at read committed', () => {
    expect(robustSubsets(tpcC, 'read committed')).toEqual(['NO Pay', 'Pay OS SL'].toSorted());
  });

  /**
   * Published templates are robust as a whole: they take every row for there. A Delivery that does not find an order line, beside a New-Order that
   * inserts it, is only ruled out by the key that an order shares with its lines.
   */
  test('at snapshot isolation, rows that are missing included', () => {
    const isRobust = (...names: readonly string[]): boolean => {
      const subset = (analyzed.get(tpcC) ?? []).filter(({ name }) => names.includes(name));
      return new RobustSet(subset, 'postgres').isRobust(subset.map(() => 'repeatable read'));
    };
    expect(isRobust('NO', 'Pay', 'OS', 'SL')).toBe(true);
    expect(isRobust('Pay', 'OS', 'Del', 'SL')).toBe(true);
    expect(isRobust('NO', 'Del')).toBe(false);
  });
});
