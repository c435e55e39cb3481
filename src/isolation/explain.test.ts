import { describe, expect, test } from 'vitest';
import { type History, parseHistory, parseHistoryLines } from '../history/index.ts';
import { anomalies, type Anomaly, type AnomalyName, exampleOf } from './anomaly.ts';
import { check } from './check.ts';
import { explain, explainNoViolation, summarize } from './explain.ts';
import type { Violated } from './verdict.ts';

/** What is said of the catalogue's examples. */
const explanations: Record<AnomalyName, string[]> = {
  'thin-air-read': ['1/0 reads x = 2, which no transaction wrote'],
  internal: ['1/0 reads x = 1 after it wrote x = 2 itself'],
  G1a: ['1/0 reads x = 1, which 0/0 wrote; 0/0 aborted'],
  G1b: ['1/0 reads x = 1, which 0/0 overwrites before it commits'],
  'real-time-violation': ['1/0 began after 0/0 had ended', '1/0 reads x = null, which 0/0 overwrites'],
  G0: ['1/0 overwrites the y = 1 of 0/0', '0/0 overwrites the x = 2 of 1/0'],
  G1c: ['1/0 reads x = 1, which 0/0 wrote', '0/0 reads y = 1, which 1/0 wrote'],
  phantom: ['1/0 reads x = 1, which 0/0 wrote', '1/0 finds no x where x > 0, which 0/0 writes'],
  'non-repeatable-read': ['1/0 reads x = 1, which 0/0 wrote', '1/0 reads x = null, which 0/0 overwrites'],
  'read-skew': ['1/0 reads y = 1, which 0/0 wrote', '1/0 reads x = null, which 0/0 overwrites'],
  'fractured-read': ['1/0 reads y = 1, which 0/0 wrote', '1/0 reads x = null, which 0/0 overwrites'],
  'lost-update': ['0/0 reads x = null, which 1/0 overwrites', '1/0 reads x = null, which 0/0 overwrites'],
  'causality-violation': [
    '1/0 reads x = 1, which 0/0 wrote',
    '1/1 follows 1/0 in session 1',
    '1/1 reads x = null, which 0/0 overwrites',
  ],
  'write-skew': ['0/0 reads y = null, which 1/0 overwrites', '1/0 reads x = null, which 0/0 overwrites'],
  'long-fork': [
    '2/0 reads x = 1, which 0/0 wrote',
    '2/0 reads y = null, which 1/0 overwrites',
    '3/0 reads y = 1, which 1/0 wrote',
    '3/0 reads x = null, which 0/0 overwrites',
  ],
  'G-single': ['0/0 reads y = null, which 1/0 overwrites', '0/0 overwrites the x = 2 of 1/0'],
  G2: [
    '0/0 finds no y where y > 0, which 1/0 writes',
    '1/0 finds no z where z > 0, which 2/0 writes',
    '2/0 finds no x where x > 0, which 0/0 writes',
  ],
  'G2-item': [
    '0/0 reads y = null, which 1/0 overwrites',
    '1/0 reads z = null, which 2/0 overwrites',
    '2/0 reads x = null, which 0/0 overwrites',
  ],
};

test.each(Object.entries(anomalies) as [AnomalyName, Anomaly][])('explains %s', (name, anomaly) => {
  const history = exampleOf(anomaly);
  const verdict = violation(history);
  expect(explain(history, verdict)).toEqual(explanations[name]);
  expect(summarize(verdict)).toBe(`${anomaly.title}: ${anomaly.meaning}`);
});

describe('explains', () => {
  test('by the IDs and the session names of the history, with values as JSON', () => {
    const history = parseHistoryLines(`{"moirai":"history","version":1,"initial":{"cart":["i"]}}
{"session":"adder","id":"add","operations":[["w","cart",["i","j"]]]}
{"session":"adder","id":"look","operations":[["r","cart",["i"]]]}`);
    expect(explain(history, violation(history))).toEqual([
      'look follows add in session adder',
      'look reads cart = ["i"], which add overwrites',
    ]);
  });

  test('a read from a recorded writer that did not write the value', () => {
    const history = parseHistory('w x 1 \n w x 2 \n r x 1 <- 1/0');
    expect(explain(history, violation(history))).toEqual(['2/0 reads x = 1 from 1/0, which did not write it']);
  });

  test('of a value that several transactions wrote, that each choice is ruled out, with an example', () => {
    const history = parseHistory('w x 1 | w x 2 \n w x 1 | w x 3 \n r x 2 | r x 3 | r x 1');
    const verdict = check(history, 'causal') as Violated;
    expect(verdict.choices).toHaveLength(2);
    expect(explain(history, verdict)).toEqual([
      'several transactions wrote the same value; each choice of writers is ruled out (2 cases)',
      'for example, if 2/2 reads the x = 1 of 1/0:',
      '2/1 reads x = 3, which 1/1 wrote',
      '2/2 follows 2/1 in session 2',
      '2/2 reads x = 1, which 1/1 overwrites',
    ]);
  });

  test('a read of a value that the transaction writes only later', () => {
    const history = parseHistory('r x 1, w x 1');
    expect(explain(history, violation(history))).toEqual(['0/0 reads x = 1 before it writes it']);
  });

  test('a read of an own write that was overwritten, by what was written last before it', () => {
    const history = parseHistory('w x 1, w x 2, r x 1, w x 3');
    expect(explain(history, violation(history))).toEqual(['0/0 reads x = 1 after it wrote x = 2 itself']);
  });

  test('an order that a proof assumed', () => {
    const verdict = { kind: 'violated', anomaly: 'G2-item', cycle: [{ from: 0, to: 1, relation: 'co' }] } as const;
    const [line] = explain(parseHistory('w x 1 \n w y 1'), verdict);
    expect(line).toBe('1/0 comes after 0/0; were it before, there would be another cycle');
  });
});

test.each([
  [{ kind: 'satisfied', commitOrder: [] }, 'satisfied'],
  [{ kind: 'unknown', reason: 'step-limit' }, 'unknown: the search reached its limit of steps'],
  [
    { kind: 'unknown', reason: 'missing-times' },
    'unknown: strict-serializable needs the start and end of every transaction',
  ],
] as const)('summarizes %j', (verdict, text) => expect(summarize(verdict)).toBe(text));

function violation(history: History): Violated {
  const verdict = check(history, 'strict-serializable');
  if (verdict.kind !== 'violated') throw new Error('it is not violated');
  return verdict;
}

test('a history without a violation is called serializable only when it is known to be', () => {
  expect(explainNoViolation(parseHistory('w x 1\nr x 1'))).toMatch(/^this run is serializable/);
  // Either order of the writers of y and of z is refuted by a search, which may take no step here.
  const contended = parseHistory(
    'w p 1, w y 1\nw q 1, w y 2\nw r 1, w z 1\nw s 1, w z 2\nr p 1, r q 1, r forA _\nr r 1, r s 1, r forB _\n' +
      'r y 1, w forB 1\nr y 2, w forB 2\nr z 1, w forA 1\nr z 2, w forA 2',
  );
  expect(check(contended, 'serializable').kind).toBe('violated');
  expect(explainNoViolation(contended, { stepsMax: 0 })).toMatch(/is not known/);
});
