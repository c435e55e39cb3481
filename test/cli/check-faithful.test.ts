/** What `moirai check` makes of files that are not as a checker would like them: nothing is left out, nothing is refused that can be decided. */
import { describe, expect, test } from 'vitest';
import { CheckReports } from '../../src/cli/check/check-reports.ts';
import { openInput } from '../../src/cli/files/input-files.ts';
import { runHere } from '../support/cli.ts';

interface Report {
  readonly levels: Readonly<Record<string, string>>;
  readonly strongest: string;
  readonly violations: readonly { level: string; anomaly: string; transactions: string[]; read?: object }[];
  readonly thinAirReads?: number;
  readonly withoutThinAirReads?: Omit<Report, 'thinAirReads' | 'withoutThinAirReads'>;
  readonly unknown: Readonly<Record<string, string>>;
  readonly verdict?: string;
  readonly gaps?: readonly string[];
}

async function check(text: string, ...options: string[]): Promise<{ code: number; report: Report }> {
  const { code, out, err } = await runHere(['check', 'h', '--json', ...options], { h: text });
  expect(err).toBe('');
  return { code: code ?? -1, report: JSON.parse(out) as Report };
}

/** In Plume's format, so that the history counts as large. */
const unrelated = Array.from({ length: 511 }, (_, i) => `w(k${i},1,100,${i + 1000})`.replace('k', '9')).join('\n');

describe('a transaction of zeros', () => {
  test("with another in its session is one: AWDIT's none/hb-cycle.txt violates read-committed", async () => {
    const { code, report } = await check(
      'r 1 1\n-----\nw 0 0\n=====\nr 0 0\n-----\nw 1 1',
      '--format',
      'awdit',
      '--level',
      'read-committed',
    );
    expect(code).toBe(1);
    expect(report.strongest).toBe('read-uncommitted');
    expect(report.violations).toMatchObject([{ level: 'read-committed', anomaly: 'G1c' }]);
  });
});

describe('a value that no transaction wrote', () => {
  const skewed = 'w x 1\nr x 2\nr y _, w z 1\nr z _, w y 1\n';

  test('violates read-committed, and the rest is judged too', async () => {
    const { code, report } = await check(skewed, '--level', 'serializable');
    expect(code).toBe(1);
    expect(report).toMatchObject({
      strongest: 'read-uncommitted',
      violations: [
        {
          level: 'read-committed',
          anomaly: 'thin-air-read',
          transactions: ['1/0'],
          read: { transaction: '1/0', operation: 0, key: 'x', value: 2 },
        },
      ],
      thinAirReads: 1,
      withoutThinAirReads: {
        strongest: 'snapshot-isolation',
        violations: [{ level: 'serializable', anomaly: 'write-skew', transactions: ['2/0', '3/0'] }],
      },
    });
  });

  test('is told in words, with the transaction, the key and the value', async () => {
    const { code, out } = await runHere(['check', 'h.history'], { 'h.history': skewed });
    expect(code).toBe(0);
    expect(out).toContain('thin-air read: a transaction reads a value that no transaction wrote\n');
    expect(out).toContain('1/0 reads x = 2, which no transaction wrote\n');
    expect(out.replaceAll(/\s+/g, ' ')).toContain(
      'Without this read (--ignore-thin-air-reads) the strongest level is snapshot-isolation. ' +
        'serializable is violated: write skew:',
    );
  });

  test('can be passed over', async () => {
    const { code, report } = await check(skewed, '--level', 'snapshot-isolation', '--ignore-thin-air-reads');
    expect(code).toBe(0);
    expect(report).toMatchObject({
      strongest: 'snapshot-isolation',
      violations: [],
      thinAirReads: 1,
      verdict: 'satisfied',
    });
    const { report: serializable } = await check(skewed, '--level', 'serializable', '--ignore-thin-air-reads');
    expect(serializable.violations).toMatchObject([{ level: 'serializable', anomaly: 'write-skew' }]);
  });

  test('has an empty picture with the transaction in it', async () => {
    const { out } = await runHere(['check', 'h.history', '--dot'], { 'h.history': skewed });
    expect(out).toContain('t0 [label="1/0\\lread x = 2\\l"]');
    expect(out).not.toContain('->');
  });

  const plume = ['w(1,1,0,1)', 'r(1,7,1,2)', 'r(2,0,2,3)', 'w(3,1,2,3)', 'r(3,0,3,4)', 'w(2,1,3,4)'].join('\n');
  test.each([
    ['plume', plume],
    ['plume', `${plume}\n${unrelated}`],
    ['awdit', 'w 1 1\n==\nr 1 7\n==\nr 2 _\nw 3 1\n==\nr 3 _\nw 2 1'.replaceAll('_', '8')],
    ['dbcop-hist', '[x:=1]\n---\n[x==7]\n---\n[y==? z:=1]\n---\n[z==? y:=1]'],
    [
      'elle-json',
      [
        '{"type":"ok","process":0,"f":"txn","value":[["w","x",1]]}',
        '{"type":"ok","process":1,"f":"txn","value":[["r","x",7]]}',
      ].join('\n'),
    ],
    [
      'elle-json',
      [
        '{"type":"ok","process":0,"f":"txn","value":[["append","x",1]]}',
        '{"type":"ok","process":1,"f":"txn","value":[["r","x",[1,7]]]}',
      ].join('\n'),
    ],
    ['jsonl', '{"session":"a","operations":[["w","x",1]]}\n{"session":"b","operations":[["r","x",7]]}'],
    ['jsonl', '{"session":"a","operations":[["w","x",1]]}\n{"session":"b","operations":[["r","x",1,null]]}'],
  ])('rules out read-committed in %s', async (format, text) => {
    const { code, report } = await check(text, '--format', format, '--level', 'read-committed');
    expect(code).toBe(1);
    expect(report.levels).toEqual({ 'read-uncommitted': 'satisfied', 'read-committed': 'violated' });
    expect(report.violations).toMatchObject([{ level: 'read-committed', anomaly: 'thin-air-read' }]);
    const passed = await check(text, '--format', format, '--ignore-thin-air-reads', '--level', 'read-committed');
    expect(passed.code).toBe(0);
  });

  test('in a history of any size leaves the same of the rest', async () => {
    for (const text of [plume, `${plume}\n${unrelated}`]) {
      const { report } = await check(text);
      expect(report.withoutThinAirReads).toMatchObject({
        strongest: 'snapshot-isolation',
        violations: [{ level: 'serializable', anomaly: 'write-skew', transactions: ['3', '4'] }],
      });
    }
  });

  test('rules out every commit test but that of read-uncommitted', async () => {
    const by = ['check', 'h.history', '--by', 'commit-tests', '--level', 'preread'];
    expect((await runHere(by, { 'h.history': skewed })).code).toBe(1);
    expect((await runHere([...by, '--ignore-thin-air-reads'], { 'h.history': skewed })).code).toBe(0);
  });

  test('in a transaction that aborted is no evidence', async () => {
    expect((await check('w x 1\nr x 7 !', '--level', 'serializable')).code).toBe(0);
  });
});

describe('a value that several transactions wrote', () => {
  const plume = ['w(1,1,0,1)', 'w(1,1,1,2)', 'r(1,1,2,3)'].join('\n');
  // Both writers of the value overwrite it before the reader: at causal and up it can be neither.
  const stale = ['w(1,1,0,1)', 'w(1,2,0,2)', 'w(1,1,1,3)', 'w(1,3,1,4)', 'r(1,2,2,5)', 'r(1,3,2,6)', 'r(1,1,2,7)'];

  test.each([
    ['w x 1\nw x 1\nr x 1\n', 'serializable'],
    [plume, 'serializable'],
    [`${plume}\n${unrelated}`, 'serializable'],
    ['w x 1 | w x 2\nw x 1 | w x 3\nr x 2 | r x 3 | r x 1', 'read-atomic'],
    [stale.join('\n'), 'read-atomic'],
    [`${stale.join('\n')}\n${unrelated}`, 'read-atomic'],
  ])('is decided by content, whatever the size', async (text, strongest) => {
    const { report } = await check(text);
    expect(report.strongest).toBe(strongest);
    expect(Object.keys(report.unknown)).toEqual(strongest === 'serializable' ? ['strict-serializable'] : []);
  });

  test('shows for one choice of writers what rules it out', async () => {
    const { out } = await runHere(['check', 'h'], { h: 'w x 1 | w x 2\nw x 1 | w x 3\nr x 2 | r x 3 | r x 1' });
    expect(out).toContain('causality violation');
    expect(out).toContain('each choice of writers is ruled out');
  });
});

describe('what is unknown', () => {
  test('is in the text and the JSON, also where no level is asked for', async () => {
    const { code, report } = await check('w x 1\nr x 1');
    expect(code).toBe(0);
    expect(report.unknown).toEqual({
      'strict-serializable': 'strict-serializable needs the start and end of every transaction',
    });
    expect(report).not.toHaveProperty('verdict');
  });

  test('is the verdict, with the reason, where that level is asked for', async () => {
    const { code, report } = await check('w x 1\nr x 1', '--level', 'strict-serializable');
    expect(code).toBe(2);
    expect(report).toMatchObject({ verdict: 'unknown', gaps: [expect.stringContaining('start and end')] });
  });
});

test('the name of an anomaly does not depend on the size of the history', async () => {
  // A lost update, and a long fork that weaker levels forbid already.
  const lines = ['r x _, w x 1', 'r x _, w x 2', 'w y 1', 'w z 1', 'r y 1, r z _', 'r y _, r z 1'];
  const others = (count: number): string[] => Array.from({ length: count }, (_, i) => `r k${i} _, w k${i} 1`);
  for (const count of [0, 50, 120, 600]) {
    const { report } = await check([...lines, ...others(count)].join('\n'));
    expect(report.violations).toMatchObject([
      { level: 'prefix', anomaly: 'long-fork', transactions: ['2/0', '3/0', '4/0', '5/0'] },
    ]);
  }
});

describe('--max-time', () => {
  const lines = Array.from(
    { length: 30_000 },
    (_, i) => `{"session":"s${i % 3}","operations":[["w","k${i % 7}",${i}]]}`,
  );

  test('is for all of a history: what is open is unknown, with that reason, and the exit code says so', async () => {
    const files = { 'h.jsonl': lines.join('\n') };
    const { code, out } = await runHere(
      ['check', 'h.jsonl', '--max-time', '0.001', '--level', 'causal', '--json'],
      files,
    );
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({
      levels: { causal: 'unknown' },
      unknown: { causal: 'stopped by --max-time while the file was read' },
      verdict: 'unknown',
      gaps: ['h.jsonl: stopped by --max-time while the file was read'],
    });
  });

  test.each([
    ['every level is known', {}, 0],
    ['the time was over at one', { serializable: { kind: 'unknown', text: 'unknown: stopped by --max-time' } }, 2],
    ['the history has no times', { 'strict-serializable': { kind: 'unknown', text: 'unknown', lacksTimes: true } }, 0],
  ] as const)('without --level, where %s', (_name, unknown, code) => {
    const host = { openInput, listFolder: async () => null, err: () => {}, columns: null, env: {} };
    const reports = new CheckReports([{ path: 'h.jsonl', files: null }], { json: false, color: false }, host);
    const satisfied = { kind: 'satisfied', text: 'satisfied' } as const;
    const answers = { causal: satisfied, serializable: satisfied, ...unknown };
    const rest = {
      json: { levels: {}, violations: [], unknown: {} },
      strongest: 'causal',
      assumed: [],
      cut: null,
      drawing: null,
      page: null,
    } as const;
    reports.take(0, { kind: 'checked', file: 'h.jsonl', text: '', answers, ...rest });
    expect(reports.ending().code).toBe(code);
  });
});

/** A serial execution of 520 transactions in eight sessions, in which each of 70 keys takes five values again and again. */
function repeatedValues(): string {
  let state = 1;
  const below = (count: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor(state / 65_536) % count;
  };
  const now = new Map<number, number>();
  const lines: string[] = [];
  for (let transaction = 1; transaction <= 520; transaction += 1) {
    const session = below(8);
    for (let i = 0; i < 4; i += 1) {
      const key = below(70);
      const isWrite = below(2) === 1;
      if (isWrite) now.set(key, 1 + below(5));
      lines.push(`${isWrite ? 'w' : 'r'}(${key},${now.get(key) ?? 0},${session},${transaction})`);
    }
  }
  return lines.join('\n');
}

test('a level at which the search gives up is satisfied where a stronger one is', async () => {
  const { code, out } = await runHere(['check', 'repeated.txt', '--level', 'read-committed'], {
    'repeated.txt': repeatedValues(),
  });
  expect(out).toMatch(/^read-committed +satisfied$/m);
  expect(out).not.toContain('serializable');
  expect(code).toBe(0);
});

test.each([
  [
    'transactions that failed, or of unknown fate',
    '{"type":"fail","process":0,"value":[["append","x",1]]}\n{"type":"info","process":1,"value":[["r","x",null]]}',
  ],
  ['reads without values', '{:type :ok :process 0 :value [[:r :x]]}\n{:type :ok :process 1 :value [[:r :x]]}'],
  ['transactions without operations', '{"session":"a","operations":[]}\n{"session":"b","operations":[]}'],
  ['an empty list', '[]'],
  ['writes of one that aborted', '{"session":"a","operations":[["w","x",1]],"status":"aborted"}'],
])('nothing to judge is not satisfied: %s', async (_name, text) => {
  const reason = 'no committed transaction read or wrote anything';
  const asked = await check(text, '--level', 'causal');
  expect(asked).toMatchObject({ code: 2, report: { verdict: 'unknown', gaps: [`h: ${reason}`] } });
  const { code, report } = await check(text);
  expect(code).toBe(2);
  expect(new Set(Object.values(report.levels))).toEqual(new Set(['unknown']));
  expect(report.unknown).toMatchObject({ 'read-committed': reason, serializable: reason });
});
