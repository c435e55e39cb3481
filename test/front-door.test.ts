import { describe, expect, test } from 'vitest';
import * as moirai from '../src/api/index.ts';
import { analyze, application } from '../src/api/analyze.ts';
import { historyFormatNames, readHistory, writeHistory } from '../src/api/history.ts';
import { serve } from '../src/api/serve.ts';
import { exploreSql, openSqlDatabase, parseProfile, testSqlProgram } from '../src/api/sql.ts';
import { verify, verifyMerged } from '../src/api/verify.ts';
import { commitTest } from '../src/api/states.ts';

// What is exported is promised: a change here is one that users notice.
test('the front door is narrow', () => {
  expect(Object.keys(moirai).toSorted()).toEqual([
    'InputError',
    'SerializationFailure',
    'certify',
    'check',
    'explain',
    'explore',
    'forEveryChoice',
    'forEveryChoiceAsync',
    'formatExploration',
    'formatFailure',
    'formatHistory',
    'formatHistoryLines',
    'formatInputError',
    'formatResult',
    'formatSessions',
    'isolationLevels',
    'mockDatabase',
    'parseHistory',
    'parseHistoryLines',
    'program',
    'seeded',
    'sqlProgram',
    'strongestLevel',
    'summarize',
    'testProgram',
  ]);
});

test('a history comes back from every format that can be written and carries it', async () => {
  const history = moirai.parseHistory('w x 1, w y 1 | r x 1\nr y 1');
  const written = historyFormatNames.flatMap((format) => {
    try {
      return [{ format, bytes: writeHistory(history, format) }];
    } catch (error) {
      expect(error, `of ${format}`).toBeInstanceOf(moirai.InputError);
      return [];
    }
  });
  expect(written.map(({ format }) => format)).toEqual(expect.arrayContaining(['binary', 'jsonl', 'notation']));
  for (const { format, bytes } of written)
    expect(moirai.formatHistory(await readHistory(bytes, { format })), `of ${format}`).toBe(
      moirai.formatHistory(history),
    );
  const text = moirai.formatHistoryLines(history);
  expect(moirai.formatHistoryLines(await readHistory(text))).toBe(text);
  await expect(readHistory(text, { format: 'none' })).rejects.toMatchObject({ code: 'history/format' });
  const appends = '{"session":"a","operations":[["append","x",1]]}\n';
  await expect(readHistory(appends, { name: 'a.jsonl' })).rejects.toMatchObject({ code: 'history/append' });
});

const lines = [
  '{"session":"a","transaction":"t0","op":"write","writes":[["x",0]],"start":-3,"end":-2}',
  '{"session":"a","transaction":"t0","op":"commit","start":-1,"end":0}',
  '{"session":"a","transaction":"t1","op":"write","writes":[["x",1]],"start":1,"end":2}',
  '{"session":"a","transaction":"t1","op":"abort","start":7,"end":8}',
];
const others = [
  '{"session":"b","transaction":"t2","op":"read","reads":[["x",1]],"start":3,"end":4}',
  '{"session":"b","transaction":"t2","op":"commit","start":5,"end":6}',
];
const readCommitted = { engine: 'postgres', isolation: 'read committed' };

test('a trace is verified as a text, as lines, in pieces and as several traces', async () => {
  const all = [...lines, ...others];
  async function* pieces(): AsyncGenerator<Uint8Array | string> {
    const text = `${all.join('\n')}\n`;
    yield text.slice(0, 50);
    yield new TextEncoder().encode(text.slice(50));
  }
  const results = [
    await verify(`${all.join('\n')}\n`, readCommitted),
    await verify(all, readCommitted),
    await verify(pieces(), readCommitted),
    await verifyMerged([lines, others], readCommitted),
  ];
  for (const { conclusion, violations } of results)
    expect([conclusion.kind, violations.map(({ transactions }) => transactions[0])]).toEqual(['violated', ['t2']]);
  expect((await verify(lines, readCommitted)).conclusion.kind).toBe('satisfied');
  await expect(verify([], readCommitted)).rejects.toMatchObject({ code: 'trace/empty' });
  await expect(verify(lines, { engine: 'none' })).rejects.toMatchObject({ code: 'option/engine' });
  await expect(verify(lines, { ...readCommitted, mechanisms: 'me' })).rejects.toMatchObject({ code: 'option/usage' });
});

test('a commit test without time is unknown', () => {
  const history = moirai.parseHistory('r x _, w x 1\nr x _, w x 2');
  expect(commitTest(history, 'serializable').kind).toBe('violated');
  expect(commitTest(history, 'serializable', { timeoutMs: 0 })).toEqual({ kind: 'unknown', reason: 'time-limit' });
});

test('explore checks a program that plain JavaScript has not made by `program`', async () => {
  const plain = { sessions: { a: () => Promise.resolve(1) } } as never;
  await expect(moirai.explore(plain)).resolves.toMatchObject({ complete: true });
  await expect(moirai.explore({ session: {} } as never)).rejects.toMatchObject({ code: 'program/shape' });
});

describe('plain JavaScript gets one clear error', () => {
  const history = moirai.parseHistory('w x 1');
  const profile = parseProfile({ engine: 'postgres' });
  const counter = { sessions: { a: () => Promise.resolve(1) } };
  const rows = { dialect: 'postgres', schema: [], sessions: counter.sessions };
  const cases: readonly [string, string, (options: never) => unknown, object?][] = [
    [
      'unknown option "timeoutms" of check: did you mean "timeoutMs"?',
      'unknown',
      (o) => moirai.check(history, 'causal', o),
      { timeoutms: 1 },
    ],
    [
      'unknown option "run" of testProgram: did you mean "runs"?',
      'unknown',
      (o) => moirai.testProgram(counter, o),
      { run: 1 },
    ],
    ['the option "runs" of testProgram must be a number', 'type', (o) => moirai.testProgram(counter, o), { runs: '9' }],
    [
      'the option "level" of explore must be a string',
      'type',
      (o) => moirai.explore(counter as never, o),
      { level: 1 },
    ],
    [
      'the option "initial" of mockDatabase must be a Map',
      'type',
      (o) => moirai.mockDatabase(o),
      { chooser: moirai.seeded(1), initial: {}, level: 'causal' },
    ],
    [
      'the option "chooser" of mockDatabase is missing: a chooser, such as seeded(1)',
      'missing',
      (o) => moirai.mockDatabase(o),
      { level: 'causal' },
    ],
    [
      'the option "profile" of openSqlDatabase is missing: what parseProfile({ engine: \'postgres\' }) returns',
      'missing',
      (o) => openSqlDatabase(o),
      {},
    ],
    [
      'the option "profile" of serve must be what parseProfile({ engine: \'postgres\' }) returns',
      'type',
      (o) => serve(o),
      { profile: { engine: 'postgres' } },
    ],
    [
      'the option "schema" of openSqlDatabase must be a string, or a list of strings',
      'type',
      (o) => openSqlDatabase(o),
      { profile, schema: 7 },
    ],
    [
      'the options of exploreSql must be an object, such as { profile: ... }',
      'type',
      (o) => exploreSql(rows as never, o),
    ],
    [
      'unknown option "engin" of testSqlProgram: did you mean "engine"?',
      'unknown',
      (o) => testSqlProgram(rows as never, o),
      { engin: 'mysql' },
    ],
    [
      '"snapshot" is none of the levels read uncommitted, read committed, repeatable read, serializable',
      'isolation',
      (o) => analyze(application({ schema: '', units: {} }), o),
      { isolation: 'snapshot' },
    ],
  ];
  test.each(cases)('%s', async (message, code, call, options) => {
    const asked = (async () => call(options as never))();
    await expect(asked).rejects.toMatchObject({ name: 'InputError', code: `option/${code}`, message });
  });

  test('a SQL program that `sqlProgram` has not made is checked', async () => {
    const wrong = { dialect: 'oracle', schema: [], sessions: counter.sessions };
    await expect(exploreSql(wrong as never, { profile })).rejects.toMatchObject({ code: 'program/shape' });
    await expect(testSqlProgram(null as never)).rejects.toMatchObject({ code: 'program/shape' });
  });
});
