import { expect, test } from 'vitest';
import * as moirai from '../src/api/index.ts';
import { historyFormatNames, readHistory, writeHistory } from '../src/api/history.ts';
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
