import { describe, expect, test } from 'vitest';
import { conclude } from '../evidence/index.ts';
import { analysisJson } from './analysis-json.ts';
import { analysisSarif } from './analysis-sarif.ts';
import { formatAnalysis } from './analysis-text.ts';
import { analyze, type Analysis } from './analyze.ts';
import type { Step, UnitStep } from './application.ts';
import { abort, application, argument, branch, column, expression, statement, transaction } from './builder.ts';

describe('a unit of several transactions', () => {
  const coupon = (...around: readonly Step[]): Readonly<Record<string, readonly UnitStep[]>> => ({
    coupon: around.length > 0 ? [transaction('use', null, around)] : [...useCoupon],
  });
  const useCoupon = [
    statement('SELECT balance, used FROM accounts WHERE id = $1', [argument('id')], 'found'),
    branch(expression('<', column('found', 'used'), column('found', 'balance')), [
      statement('UPDATE accounts SET used = used + 1 WHERE id = $1', [argument('id')]),
    ]),
  ];
  const tables = 'CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL, used int NOT NULL)';
  const ofTables = (units: Readonly<Record<string, readonly UnitStep[]>>): Promise<Analysis> =>
    analyze(application({ schema: tables, units }), { isolation: 'read committed' });

  test('that writes because of what it read before: confirmed on the last use that is left, and mended by a transaction around it', async () => {
    const analysis = await ofTables(coupon());
    const { anomalies, unitAnomalies, evidence } = analysis;
    expect(anomalies).toEqual([]);
    expect(unitAnomalies).toMatchObject([
      {
        name: 'not atomic',
        transactions: ['coupon'],
        status: { kind: 'confirmed', anomaly: 'internal', schedules: 6, violations: 4 },
        fix: { changes: [{ kind: 'around', transaction: 'coupon' }, { kind: 'lock' }], isProven: true },
      },
    ]);
    expect(conclude(evidence).kind).toBe('violated');
    const text = formatAnalysis(analysis, { style: (_, shown) => shown, files: [null], invocation: 'moirai' });
    expect(text).toContain(
      'across the statements of a unit: nothing makes them one transaction\n\n1. not atomic: coupon',
    );
    expect(text).toContain('with one transaction around coupon and FOR UPDATE at ');
    expect(analysisJson(analysis, ['1.ts'])).toMatchObject({
      anomalies: [],
      unitAnomalies: [{ units: ['coupon'], status: 'confirmed', program: '1.ts', fix: { holds: true, proven: true } }],
    });
    const sarif = analysisSarif(analysis, { version: '1', files: ['1.ts'] });
    expect(sarif).toMatchObject({ runs: [{ results: [{ ruleId: 'not-atomic', level: 'error' }] }] });
  });

  test('in one transaction it is no unit of several', async () => {
    const { anomalies, unitAnomalies } = await ofTables(coupon(...useCoupon));
    expect([anomalies.length, unitAnomalies.length]).toEqual([1, 0]);
  });

  const remove = statement('DELETE FROM accounts WHERE id = $1', [argument('id')]);
  const add: Step = statement('UPDATE accounts SET balance = balance + 1 WHERE id = $1', [argument('id')]);
  const look: Step = statement('SELECT balance FROM accounts WHERE id = $1', [argument('id')], 'found');
  test.each<[string, Readonly<Record<string, readonly UnitStep[]>>]>([
    ['a page that reads twice', { page: [look, look], add: [add] }],
    ['a write that depends on no read', { both: [look, add] }],
    [
      'a row that is gone when it is written',
      { change: [look, branch(expression('is null', column('found', 'balance')), [], [add])], remove: [remove] },
    ],
  ])('%s: no finding', async (_, units) => {
    const { unitAnomalies, evidence } = await ofTables(units);
    expect(unitAnomalies.map(({ transactions }) => transactions)).toEqual([]);
    expect(conclude(evidence).kind).toBe('satisfied');
  });

  test('a transaction around the unit that needs it, and around no other', async () => {
    const { unitAnomalies, evidence } = await ofTables({
      empty: [
        statement('SELECT used FROM accounts WHERE id = $1', [argument('id')], 'found'),
        branch(expression('=', column('found', 'used'), 0), [
          statement('UPDATE accounts SET balance = 0 WHERE id = $1', [argument('id')]),
        ]),
      ],
      deposit: [
        look,
        statement('UPDATE accounts SET used = used + 1, balance = balance + 1 WHERE id = $1', [argument('id')]),
      ],
    });
    expect(unitAnomalies).toMatchObject([
      { transactions: ['empty', 'deposit'], status: { kind: 'confirmed' }, fix: { isProven: true } },
    ]);
    const changes = unitAnomalies[0]?.fix?.changes ?? [];
    expect(changes.map((change) => [change.kind, change.transaction])).toEqual([
      ['around', 'empty'],
      ['lock', 'empty'],
    ]);
    const seen = 'no write of deposit depends on what an earlier transaction of it read: no such value was seen';
    expect(evidence.assumed).toContain(seen);
  });

  test('a row that another unit inserts was not there when it was checked: no finding', async () => {
    const { unitAnomalies } = await ofTables({
      ...coupon(),
      open: [statement('INSERT INTO accounts VALUES ($1, $2, 0)', [argument('id'), argument('balance')])],
    });
    expect(unitAnomalies.map(({ transactions }) => transactions)).toEqual([['coupon']]);
  });

  describe('a row that was found and that another unit then writes as a whole', () => {
    const row = [argument('id'), argument('balance')];
    const insert = 'INSERT INTO accounts VALUES ($1, $2, 0)';
    test.each<[string, UnitStep]>([
      ['deleted and inserted again', transaction('set', null, [remove, statement(insert, row)])],
      ['upserted', statement(`${insert} ON CONFLICT (id) DO UPDATE SET balance = $2, used = 0`, row)],
    ])('%s: confirmed, and mended by a transaction around the first', async (_, set) => {
      const copy = statement('UPDATE accounts SET used = $2 WHERE id = $1', [
        argument('id'),
        column('found', 'balance'),
      ]);
      const change = [look, branch<UnitStep>(expression('is null', column('found', 'balance')), [], [copy])];
      const app = application({ schema: tables, units: { change, set: [set] } });
      const { unitAnomalies } = await analyze(app, { isolation: 'repeatable read', schedulesMax: 20 });
      expect(unitAnomalies).toMatchObject([
        {
          transactions: ['change', 'set'],
          status: { kind: 'confirmed' },
          fix: { changes: [{ kind: 'around' }], isProven: true },
        },
      ]);
    });
  });

  test('a transaction around a unit that deletes and inserts a row again is not enough for one that waits for the row', async () => {
    const insert = statement('INSERT INTO accounts VALUES ($1, $2, 0)', [argument('id'), column('found', 'balance')]);
    const app = application({ schema: tables, units: { replace: [look, remove, insert], add: [add] } });
    const { unitAnomalies } = await analyze(app, { isolation: 'read committed', schedulesMax: 1 });
    const levels = unitAnomalies.flatMap(({ fix }) =>
      (fix?.changes ?? []).flatMap((change) => (change.kind === 'level' ? [[change.transaction, change.level]] : [])),
    );
    expect(levels).toContainEqual(['add', 'repeatable read']);
  });

  test('units for which no time was left are named', async () => {
    const app = application({ schema: tables, units: coupon() });
    const { unitAnomalies, evidence } = await analyze(app, { isolation: 'read committed', timeMaxMs: 0 });
    expect(unitAnomalies).toEqual([]);
    expect(evidence.cut).toContain('not searched for anomalies across their transactions: coupon');
  });

  test('what another one writes between the check and the write is lost with the row', async () => {
    const { unitAnomalies } = await ofTables({
      close: [look, branch(expression('=', column('found', 'balance'), 0), [remove])],
      add: [
        transaction('add', null, [
          look,
          branch<Step>(expression('is null', column('found', 'balance')), [abort()], [add]),
        ]),
      ],
    });
    expect(unitAnomalies).toMatchObject([{ transactions: ['close', 'add'], status: { kind: 'confirmed' } }]);
  });
});
