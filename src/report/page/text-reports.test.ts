/** Reports that are text: the summary of a job, and JUnit's XML. */
import { describe, expect, test } from 'vitest';
import { emptyRun, emptyStep } from './empty-picture.ts';
import { formatJunit } from './junit.ts';
import type { ReportData, RunPicture } from './report-data.ts';
import { formatSummary } from './summary.ts';

const step = { ...emptyStep, transaction: 0 };
const read = { key: 'x', value: 0, condition: null, from: 'b/0', writer: 1, sight: 'stale' } as const;
const run: RunPicture = {
  ...emptyRun,
  message: 'x is 1',
  cause: ['lost update'],
  sessions: ['a', 'b|'],
  transactions: [{ name: 'a/0', session: 0, status: 'committed' }],
  steps: [
    { ...step, session: 0, text: 'read x', reads: [{ ...read, from: null, writer: null }] },
    { ...step, session: 1, text: 'SELECT\n  $1', parameters: ['1'], outcome: '1 row', waitedFor: 'row lock on x' },
    { ...step, session: 0, text: 'UPDATE t', part: 'begin', reads: [read] },
  ],
  cycle: [
    { from: 0, to: 0, relation: 'rw', text: 'a reads x', steps: [0, 1] },
    { from: 0, to: 0, relation: 'wr', text: 'a reads x of b', steps: [1, 2] },
  ],
  replay: "moirai test 'a b.ts'",
};
const report: ReportData = {
  heading: 'moirai test a.ts',
  database: 'causal',
  verdict: { kind: 'violated', text: 'violated in 1 run' },
  notes: ['seed 1'],
  tables: [{ title: 'Levels', head: ['level', 'answer'], rows: [{ cells: ['a|b', 'no'], tone: null }], note: 'so *' }],
  runs: [run],
};

describe('a summary', () => {
  test('has the verdict, tables, why, a sequence diagram and the command that replays', () => {
    expect(formatSummary(report).split('\n')).toEqual([
      '## ❌ violated in 1 run',
      '',
      'moirai test a.ts, on causal',
      '',
      'seed 1',
      '',
      '### Levels',
      '',
      '| level | answer |',
      '| --- | --- |',
      String.raw`| a\|b | no |`,
      '',
      String.raw`so \*`,
      '',
      '### x is 1',
      '',
      'lost update',
      '',
      '- rw: a reads x',
      '- wr: a reads x of b',
      '',
      '```mermaid',
      'sequenceDiagram',
      '  participant s0 as a',
      '  participant s1 as b#124;',
      '  Note over s0: read x = 0',
      '  Note over s1: SELECT #36;1 #91;1#93;, waited for row lock on x -#62; 1 row',
      '  s0-xs1: rw',
      '  s1-->>s0: x, stale',
      '  Note over s0: UPDATE t begins',
      '```',
      '',
      '```sh',
      "moirai test 'a b.ts'",
      '```',
      '',
      '',
    ]);
  });

  test('messages of a protocol are arrows', () => {
    const messages = [{ text: 'Prepared(a)', from: 0, to: 1 }];
    expect(formatSummary({ ...report, runs: [{ ...run, messages }] })).toContain(
      '\n  s0->>s1: Prepared(a)\n  Note over s1',
    );
  });

  test('what is beyond its limits is counted', () => {
    const steps = Array.from({ length: 62 }, () => ({ ...step, session: 1, text: 'commit' }));
    const rows = Array.from({ length: 101 }, () => ({ cells: ['a', 'b'], tone: null }));
    const [table] = report.tables;
    const many = formatSummary({
      ...report,
      tables: table === undefined ? [] : [{ ...table, rows }],
      runs: [{ ...run, cycle: [], steps }, run, run, run, run, run, run],
    });
    expect(many.match(/^ {2}Note over s1: commit$/gm)).toHaveLength(60);
    expect(many).toContain('\n  Note over s0: 2 more steps\n');
    expect(many.match(/^\| a \| b \|$/gm)).toHaveLength(100);
    expect(many).toContain('\n1 more row not shown\n');
    expect(many.match(/^### x is 1$/gm)).toHaveLength(5);
    expect(many).toContain('\n2 more failures not shown\n');
  });

  test('text of programs and data stays text', () => {
    const hostile = '```\n<img src=x onerror=a()> [a](b) `c` \u202e\0 %%{init: {}}%% | s0->>s1: end; #';
    const verdict = { kind: 'unknown', text: hostile } as const;
    const runs = [
      { ...run, message: hostile, steps: [{ ...step, session: 0, text: hostile + 'x'.repeat(1_000_000) }] },
    ];
    const text = formatSummary({ ...report, verdict, runs });
    expect(text.length).toBeLessThan(2_000);
    const escaped = String.raw`\`\`\` \<img src=x onerror=a()\> \[a\](b) \`c\` \\u202e\\u0000 %%{init: {}}%% \| s0-\>\>s1: end; \#`;
    expect(text).toContain(`## ⚠️ ${escaped}\n`);
    expect(text).toContain(`### ${escaped}\n`);
    expect(text.match(/^```.*$/gm)).toEqual(['```mermaid', '```', '```sh', '```']);
    const [, note = ''] = /^ {2}Note over s0: (.*)$/m.exec(text) ?? [];
    expect(note).toMatch(/^(?:[\w .,:=+\-/()]|#\d+;)+$/);
  });
});

describe('JUnit', () => {
  const satisfied = {
    ...report,
    database: 'serializable',
    verdict: { kind: 'satisfied', text: 'passed' },
    runs: [],
  } as const;
  const unknown = {
    ...report,
    database: 'prefix',
    verdict: { kind: 'unknown', text: 'out of time' },
    runs: [],
  } as const;

  test('a case for each result: a violation fails, what is not known is an error', () => {
    const lines = formatJunit([report, unknown, satisfied], 'moirai test a.ts').split('\n');
    expect(lines.slice(0, 5)).toEqual([
      '<?xml version="1.0" encoding="UTF-8"?>',
      '<testsuites>',
      '  <testsuite name="moirai test a.ts" tests="3" failures="1" errors="1">',
      '    <testcase classname="moirai test a.ts" name="causal">',
      '      <failure message="violated in 1 run" type="violated">violated in 1 run',
    ]);
    expect(lines).toContain("replay: moirai test 'a b.ts'</failure>");
    expect(lines).toContain('      <error message="out of time" type="unknown">out of time');
    expect(lines).toContain('    <testcase classname="moirai test a.ts" name="serializable"/>');
    for (const line of [
      'x is 1',
      'rw: a reads x',
      'a: read x = 0',
      'b|: SELECT $1 [1], waited for row lock on x -&gt; 1 row',
    ])
      expect(lines).toContain(line);
  });

  test('results of several commands have their names', () => {
    const others = [report, { ...satisfied, heading: 'moirai check b' }];
    expect(formatJunit(others, 'moirai check a b').match(/ name="(?!moirai check a b)[^"]*"/g)).toEqual([
      ' name="moirai test a.ts"',
      ' name="moirai check b"',
    ]);
  });
});
