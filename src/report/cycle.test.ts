import { expect, test } from 'vitest';
import { type History, parseHistory } from '../history/index.ts';
import { check, type Violated } from '../isolation/index.ts';
import { formatCycle, transactionsOf } from './cycle.ts';
import { formatTable } from './table.ts';

test('a cycle is a ring of sentences', () => {
  const history = parseHistory('r x _, w x 1\nr x _, w x 2');
  expect(formatCycle(history, violated(history))).toEqual([
    '.-> 0/0 reads x = null, which 1/0 overwrites (rw)',
    "'-- 1/0 reads x = null, which 0/0 overwrites (rw)",
  ]);
  expect(transactionsOf(violated(history))).toEqual([0, 1]);
});

test('a ring of many edges, each wrapped', () => {
  const history = parseHistory('w x 1\nw y 1\nr x 1, r y _\nr x _, r y 1');
  const lines = formatCycle(history, violated(history), 30);
  expect(lines[0]).toMatch(/^\.-> /);
  expect(lines.slice(1, -2).every((line) => line.startsWith('|   '))).toBe(true);
  expect(lines.findLast((line) => /^\S/.test(line))).toMatch(/^'-- /);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(30);
});

test('a read that is evidence by itself is one sentence', () => {
  const history = parseHistory('w x 1 !\nr x 1');
  expect(formatCycle(history, violated(history))).toEqual(['1/0 reads x = 1, which 0/0 wrote; 0/0 aborted']);
  expect(transactionsOf(violated(history))).toEqual([0, 1]);
});

test('a table aligns numbers to the right and ends no line with spaces', () => {
  const rows = [
    ['level', 'runs', ''],
    ['causal', '1,000', 'x'],
    ['prefix', '-', ''],
  ];
  expect(formatTable(rows)).toEqual(['level    runs', 'causal  1,000  x', 'prefix      -']);
  expect(formatTable([])).toEqual([]);
});

function violated(history: History): Violated {
  const verdict = check(history, 'serializable');
  if (verdict.kind !== 'violated') throw new Error(verdict.kind);
  return verdict;
}
