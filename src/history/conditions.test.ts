/** The condition that did not find a row, in the texts that carry it and through the columns of large histories. */
import { expect, test } from 'vitest';
import { compactOf, historyOf, subHistory } from './compact-convert.ts';
import { formatHistoryLines, parseHistoryLines } from './json-lines.ts';
import { scanHistoryLines } from './json-lines-scanner.ts';
import { formatHistory, parseHistory } from './notation.ts';

const notation = [
  'initial {"t/1":{"n":1}}',
  String.raw`r t/2 _ where "n > 3 and owner = \"ann\"", w t/1 {"n":4} | r t/1 {"n":4} <- 0/0`,
  'r t/1 _ where "", w t/2 {"n":5} | r t/2 {"n":5} <- 1/0 where "n > 9"',
].join('\n');
const history = parseHistory(notation);

test('in the notation', () => {
  expect(formatHistory(history)).toBe(notation);
  const conditions = history.transactions.flatMap(({ operations }) =>
    operations.flatMap((each) => (each.kind === 'read' ? [each.condition] : [])),
  );
  expect(conditions).toEqual(['n > 3 and owner = "ann"', undefined, '', 'n > 9']);
});

test('in JSON Lines, small and large', () => {
  const text = formatHistoryLines(history);
  expect(parseHistoryLines(text)).toEqual(history);
  expect(historyOf(scanHistoryLines([new TextEncoder().encode(text)]))).toEqual(history);
});

test('in columns, and in a part of them', () => {
  const compact = compactOf(history);
  expect(historyOf(compact)).toEqual(history);
  expect(historyOf(subHistory(compact, history.transactions.keys()))).toEqual(history);
  const [first] = historyOf(subHistory(compact, [2])).transactions;
  expect(first?.operations[0]).toMatchObject({ key: 't/1', condition: '' });
});

test('in the notation it stands in quotes', () => {
  expect(() => parseHistory('r x _ where n')).toThrow(
    expect.objectContaining({ code: 'history/syntax', place: { line: 1, column: 13 } }),
  );
});
