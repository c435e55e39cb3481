/** What reads of a table are judged against after a statement that may have written any row of it. */
import { expect, test } from 'vitest';
import { mechanismsOf } from './engines.ts';
import { TraceVerification } from './verify-trace.ts';

/**
 * A line for each operation: SESSION, then `r ROW=V`, `w ROW=V`, `opaque TABLES`, `commit`, `abort` or `lost`, a commit without an answer.
 * Each has the slot of its line to itself.
 */
function judged(engine: string, isolation: string, text: string): { violations: number; skipped: number } {
  const lines = text
    .trim()
    .split('\n')
    .map((line) => line.trim());
  const counts = new Map<string, number>();
  const trace = lines.map((line, i) => {
    const [session = '', word = '', what = ''] = line.split(' ');
    const number = counts.get(session) ?? 1;
    const [row = '', value = ''] = what.split('=');
    const rows = `[["${row}",${value.startsWith('{') ? value : `{"v":${value}}`}]]`;
    const isEnd = word === 'commit' || word === 'abort' || word === 'lost';
    if (isEnd) counts.set(session, number + 1);
    const fields: Record<string, string> = {
      r: `"op":"read","reads":${rows}`,
      w: `"op":"write","writes":${rows}`,
      opaque: `"op":"write","opaque":"writes"${what === '' ? '' : `,"tables":["${what}"]`}`,
      commit: '"op":"commit"',
      abort: '"op":"abort"',
      lost: '"op":"commit"',
    };
    const end = word === 'lost' ? 'null' : String(10 * i + 5);
    return `{"session":"${session}","transaction":"${session}${number}",${fields[word]},"start":${10 * i},"end":${end}}\n`;
  });
  const verification = new TraceVerification({ mechanisms: mechanismsOf(engine, isolation) });
  verification.push(new TextEncoder().encode(trace.join('')));
  const result = verification.finish();
  return { violations: result.counts.violations, skipped: result.counts.skipped };
}

const start = 'a w t/1=1\na w t/2=1\na w u/1=1\na commit';

test.each<[string, string, { violations: number; skipped: number }]>([
  [
    'nothing is said of its rows',
    `${start}\nb opaque t\nb commit\nc r t/1=7\nc r t/2=1\nc commit`,
    { violations: 0, skipped: 2 },
  ],
  [
    'those of other tables are judged',
    `${start}\nb opaque t\nb commit\nc r u/1=7\nc commit`,
    { violations: 1, skipped: 0 },
  ],
  [
    'of no table, when it does not say of which',
    `${start}\nb opaque\nb commit\nc r u/1=7\nc commit`,
    { violations: 0, skipped: 1 },
  ],
  [
    'a later write makes its row known again, and no other',
    `${start}\nb opaque t\nb commit\na w t/1=5\na commit\nc r t/1=7\nc r t/2=7\nc commit`,
    { violations: 1, skipped: 1 },
  ],
  [
    'which a read that agrees shows, too',
    `${start}\nb opaque t\nb commit\na w t/1=5\na commit\nc r t/1=5\nc commit`,
    { violations: 0, skipped: 0 },
  ],
  [
    'a write whose commit overlaps with the statement does not',
    `${start}\na w t/1=5\nb opaque t\na commit\nb commit\nc r t/1=7\nc commit`,
    { violations: 0, skipped: 1 },
  ],
  [
    'columns that the later write does not name stay unknown',
    `a w t/1={"v":1,"n":1}\na commit\nb opaque t\nb commit\na w t/1={"v":5}\na commit\nc r t/1={"n":9,"v":5}\nc commit\nc r t/1={"n":9,"v":1}\nc commit`,
    { violations: 1, skipped: 0 },
  ],
  [
    'a statement whose transaction is still open, or whose fate nobody knows, has no end',
    `${start}\nb opaque t\na w t/1=5\na commit\nc r t/1=7\nc commit\nb lost\na w t/1=6\na commit\nc r t/1=7\nc commit`,
    { violations: 0, skipped: 2 },
  ],
  [
    'rows that were never seen before are known from their first write after it',
    `${start}\nb opaque t\nb commit\na w t/9=5\na commit\nc r t/9=6\nc r t/8=6\nc commit`,
    { violations: 1, skipped: 1 },
  ],
  [
    'two statements: the later one counts',
    `${start}\nb opaque t\nb commit\na w t/1=5\na commit\nd opaque t\nd commit\nc r t/1=7\nc commit`,
    { violations: 0, skipped: 1 },
  ],
])('%s', (_name, text, expected) => {
  expect(judged('postgres', 'read committed', text)).toEqual(expected);
});

test('a snapshot that is older than the write that makes the row known is not judged', () => {
  const text = `${start}\nb opaque t\nb commit\nc r u/1=1\na w t/1=5\na commit\nc r t/1=7\nc commit\nd r t/1=7\nd commit`;
  expect(judged('postgres', 'repeatable read', text)).toEqual({ violations: 1, skipped: 1 });
});
