import { describe, expect, test } from 'vitest';
import { conclude, exitCodeOf } from './conclude.ts';
import { type Evidence, noEvidence, type SessionEvidence } from './evidence.ts';
import { gapText } from './text.ts';
import { noAnswers } from './answer-evidence.ts';

const busy: SessionEvidence = {
  name: 'a',
  runs: 10,
  operations: 20,
  failedRuns: 0,
  failure: null,
  lostRuns: 0,
  loss: null,
  rolledBackRuns: 0,
  rolledBack: null,
  overlapped: true,
  answers: noAnswers,
};
const whole: Evidence = { ...noEvidence, looked: [{ count: 10, nothing: 'no run was made' }], sessions: [busy] };
const texts = (evidence: Evidence): string[] => {
  const conclusion = conclude(evidence);
  return conclusion.kind === 'unknown' ? conclusion.gaps.map(gapText) : [conclusion.kind];
};

test('whole evidence without a violation is satisfied, with what it assumes', () => {
  const conclusion = conclude({ ...whole, assumed: ['accounts is read by its primary key'] });
  expect(conclusion).toEqual({ kind: 'satisfied', assumed: ['accounts is read by its primary key'] });
  expect(exitCodeOf(conclusion)).toBe(0);
});

test('a violation is one whatever else was cut', () => {
  const conclusion = conclude({ ...whole, violations: 1, cut: ['stopped by --max-time'] });
  expect(conclusion.kind).toBe('violated');
  expect(exitCodeOf(conclusion)).toBe(1);
});

test('a program that never used the store is at fault, also where its sessions failed', () => {
  const silent = { ...busy, operations: 0, failedRuns: 10, failure: 'ECONNREFUSED' };
  const conclusion = conclude({ ...whole, violations: 10, sessions: [silent, { ...silent, name: 'b' }] });
  expect(conclusion).toMatchObject({ kind: 'at-fault', code: 'program/store-unused' });
  expect(exitCodeOf(conclusion)).toBe(3);
});

describe('each gap alone makes the verdict unknown', () => {
  const other: SessionEvidence = { ...busy, name: 'b' };
  const statement = { session: 'a', statement: 'select f()', reason: 'f is not supported', place: null, count: 2 };
  const gaps: [string, Partial<Evidence>, string][] = [
    ['nothing looked at', { looked: [{ count: 0, nothing: 'no state observed a transaction' }] }, 'no state observed'],
    ['a silent session', { sessions: [busy, { ...other, operations: 0 }] }, 'session "b" sent no statement'],
    [
      'a session that failed in every run',
      { sessions: [busy, { ...other, failedRuns: 10, failure: '42601 syntax error' }] },
      'session "b" failed in every run: 42601',
    ],
    [
      'one without a COMMIT',
      { sessions: [busy, { ...other, lostRuns: 10, loss: 'left-open' }] },
      'is a COMMIT missing?',
    ],
    [
      'one that fails or rolls back',
      { sessions: [busy, { ...other, failedRuns: 4, failure: '40001', lostRuns: 6, loss: 'rolled-back' }] },
      'session "b" rolled back all that it wrote in every run: it committed nothing',
    ],
    ['one that never overlapped', { sessions: [busy, { ...other, overlapped: false }] }, 'session "b" never'],
    [
      'none overlapped',
      { sessions: [busy, other].map((each) => ({ ...each, overlapped: false })) },
      'sessions "a", "b" never overlapped',
    ],
    ['an unsupported statement', { unsupported: [statement] }, 'session "a" sent what moirai cannot do (2 times)'],
    ['a cut', { cut: ['stopped by --max-time'] }, 'stopped by --max-time'],
  ];
  test.each(gaps)('%s', (_name, change, text) => {
    const evidence = { ...whole, ...change };
    expect(texts(evidence)).toEqual([expect.stringContaining(text)]);
    expect(exitCodeOf(conclude(evidence))).toBe(2);
  });
});

test('of a key-value program the words fit', () => {
  const silent = { ...busy, name: 'b', operations: 0 };
  expect(texts({ ...whole, store: 'keys', sessions: [busy, silent] })).toEqual(['session "b" sent no operation']);
  expect(conclude({ ...whole, store: 'keys', sessions: [silent] })).toMatchObject({
    kind: 'at-fault',
    message: expect.stringContaining('no session read or wrote anything') as unknown,
  });
});

test('a session that failed or rolled back in some runs, or is alone in its program, is no gap', () => {
  expect(texts({ ...whole, sessions: [{ ...busy, failedRuns: 9 }] })).toEqual(['satisfied']);
  expect(texts({ ...whole, sessions: [{ ...busy, lostRuns: 9, loss: 'rolled-back' }] })).toEqual(['satisfied']);
  expect(texts({ ...whole, sessions: [{ ...busy, overlapped: false }] })).toEqual(['satisfied']);
});
