/** What --report of the commands that run no program has in its page, beside what they print. */
import { beforeAll, describe, expect, test } from 'vitest';
import coupons from '../../examples/analyze/coupons.ts';
import cart from '../../examples/cart.ts';
import transfer from '../../examples/sql-transfer.ts';
import crashingCoordinator from '../../examples/protocols/crashing-coordinator.ts';
import { build, runHere } from '../support/cli.ts';
import { reportFrom, reportOf } from '../support/report-data.ts';

beforeAll(() => build(), 300_000);

const skew = 'r x _, w y 1\nr y _, w x 1\n';
const lists = [
  '{:type :ok, :f :txn, :value [[:append :x 1] [:r :y nil]], :process 0, :index 0}',
  '{:type :ok, :f :txn, :value [[:append :y 1] [:r :x nil]], :process 1, :index 1}',
].join('\n');

describe('check', () => {
  test('one history: its levels, and the weakest one that is violated', async () => {
    const { data, out, code } = await reportOf(['check', 'h'], { h: skew });
    expect(code).toBe(0);
    expect(out).toMatch(/\nreport: report\.html\n$/);
    expect(data.verdict.kind).toBe('described');
    expect(data.verdict.text).toMatch(
      /^the strongest level is snapshot-isolation; serializable is violated: write skew: /,
    );
    expect(data.database).toBe('2 transactions, 4 operations');
    const [table] = data.tables;
    for (const { cells, tone } of table?.rows ?? []) {
      expect(out).toContain(cells.join(' '.repeat(21 - (cells[0]?.length ?? 0))));
      expect(tone).toBe(cells[1] === 'violated' ? 'bad' : 'good');
    }
    expect(table?.rows).toHaveLength(8);
    const [run] = data.runs;
    expect(run?.cycle.map(({ relation }) => relation)).toEqual(['rw', 'rw']);
    for (const { text } of run?.cycle ?? []) expect(out).toContain(text);
  });

  test.each([
    ['serializable', 'violated', 'the history is not at serializable; serializable is violated: write skew: '],
    ['causal', 'satisfied', 'the history is at causal'],
    ['strict-serializable', 'violated', 'the history is not at strict-serializable; serializable is violated: '],
  ])('one history, asked for %s', async (level, kind, text) => {
    const { data } = await reportOf(['check', 'h', '--level', level], { h: skew });
    expect(data.verdict.kind).toBe(kind);
    expect(data.verdict.text.slice(0, text.length)).toBe(text);
  });

  test('several histories, of which one cannot be read: a row each, and a picture for each violation', async () => {
    const files = { 'f/a.history': skew, 'f/b.history': 'w x 1\nr x 1\n', 'f/c.history': 'w x\n' };
    const { data, code } = await reportOf(['check', 'f', '--level', 'serializable'], files);
    expect(code).toBe(3);
    expect(data.verdict).toMatchObject({ kind: 'violated' });
    expect(data.verdict.text).toMatch(/^3 histories, by answer at serializable: /);
    for (const part of ['violated 1', 'satisfied 1', 'bad input 1']) expect(data.verdict.text).toContain(part);
    const [table] = data.tables;
    expect(table?.rows.map(({ cells: [file, answer], tone }) => [file, answer, tone])).toEqual([
      ['f/a.history', 'violated', 'bad'],
      ['f/b.history', 'satisfied', 'good'],
      ['f/c.history', expect.stringMatching(/the line ends/), null],
    ]);
    expect(data.runs.map(({ count }) => count)).toEqual(['f/a.history']);
  });

  test('lists: each edge leads from what one transaction did to what the other did', async () => {
    const { data } = await reportOf(['check', 'h', '--format', 'elle-edn'], { h: lists });
    const [run] = data.runs;
    const steps = run?.steps.map(({ text }) => text);
    expect(run?.cycle.map(({ relation, steps: ends }) => [relation, ends.map((end) => steps?.[end])])).toEqual([
      ['rw', ['read y = []', 'append y 1']],
      ['rw', ['read x = []', 'append x 1']],
    ]);
    expect(run?.order).toMatch(/nothing of time/);
  });

  test('with --json standard output has the JSON alone; commit tests have no picture', async () => {
    const { out } = await reportOf(['check', 'h', '--json'], { h: skew });
    expect(JSON.parse(out)).toMatchObject({ strongest: 'snapshot-isolation' });
    const { code, err } = await runHere(['check', 'h', '--by', 'commit-tests', '--report', 'r.html'], { h: skew });
    expect(code).toBe(3);
    expect(err).toContain('[option/report]');
  });
});

describe('verify', () => {
  const operation = (transaction: string, op: string, start: number, rest: object = {}): string =>
    `${JSON.stringify({ session: transaction, transaction, op, ...rest, start, end: start + 5 })}\n`;
  const write = (transaction: string, key: string, start: number): string =>
    operation(transaction, 'write', start, { writes: [[key, transaction]] });
  const dirtyWrite = (key: string, a: string, b: string, start: number): string =>
    [
      write(a, key, start),
      write(b, key, start + 10),
      operation(a, 'commit', start + 20),
      operation(b, 'commit', start + 30),
    ].join('');
  const engine = ['--engine', 'postgres', '--isolation', 'read committed'];

  test('each violation has a picture of its operations, with their roles', async () => {
    const h = dirtyWrite('x', 't1', 't2', 10) + dirtyWrite('y', 't3', 't4', 110);
    const { data, out, code } = await reportOf(['verify', 'h', ...engine], { h });
    expect(code).toBe(1);
    expect(data.verdict).toEqual({ kind: 'violated', text: 'violated: 2 violations' });
    expect(data.database).toBe('postgres, read committed');
    expect(data.runs.map(({ sessions }) => sessions)).toEqual([
      ['t1', 't2'],
      ['t3', 't4'],
    ]);
    for (const { message, steps, cause } of data.runs) {
      expect(out).toContain(message.split(' ')[0]);
      expect(out.replaceAll(/\s+/g, ' ')).toContain(cause[0]);
      for (const { role } of steps) if (role !== null) expect(out).toContain(`  ${role}: `);
      expect(steps.map(({ text }) => text.split(' ')[0])).toEqual(['write', 'write', 'commit', 'commit']);
    }
  });

  test('one violation is in the headline; without one there is no picture', async () => {
    const violated = await reportOf(['verify', 'h', ...engine], { h: dirtyWrite('x', 't1', 't2', 10) });
    expect(violated.data.verdict.text).toMatch(/^violated: 1 violation: mutual-exclusion on x, transactions t2, t1$/);
    const h = write('t1', 'x', 10) + operation('t1', 'commit', 20);
    const { data } = await reportOf(['verify', 'h', ...engine], { h });
    expect(data.verdict).toEqual({ kind: 'satisfied', text: 'satisfied: no violation' });
    expect(data.runs).toEqual([]);
  });
});

describe('protocol', () => {
  test('crashes stand out, an arrow leads from each message to who receives it, and variables have their values', async () => {
    const { data, out } = await reportOf(['protocol', 'h', '--log', '0', '--no-eventually'], {
      h: crashingCoordinator,
    });
    expect(data.verdict.kind).toBe('violated');
    expect(out).toContain(data.verdict.text);
    const [run] = data.runs;
    const steps = run?.steps ?? [];
    expect(steps.flatMap(({ text, isError }) => (isError ? [text] : []))).toEqual(['tell: crash -> Crashed']);
    const lines = new Map(
      run?.messages.map(({ text, from, to }) => [text, [steps[from]?.text, to === null ? null : steps[to]?.text]]),
    );
    expect(lines.get('Prepared(rm1)')).toEqual(['working: prepare -> prepared', 'collect: receive Prepared (rm1)']);
    expect(lines.get('Commit(rm1)')).toEqual(['tell: tell (rm1)', 'prepared: receive Commit -> committed']);
    expect(lines.get('Abort(rm2)')).toEqual(['tell: tell (rm2)', 'prepared: receive Abort -> aborted']);
    expect(run?.initial).toContainEqual(['c.decision', 'none']);
    const decisions = steps.flatMap(({ writes }) => writes.filter(({ key }) => key === 'c.decision'));
    expect(decisions.map(({ value }) => value)).toEqual(['commit', 'none', 'abort']);
  });

  test('without a violation there is no picture', async () => {
    const { data, out } = await reportOf(['protocol', 'h', '--no-symmetry'], { h: crashingCoordinator });
    expect(data.verdict).toEqual({ kind: 'satisfied', text: 'satisfied in every state' });
    expect(out).toContain(data.notes[0]);
    expect(data.runs).toEqual([]);
  });
});

describe('analyze', () => {
  test('an anomaly has its statements, what it means, and the change that is proven', async () => {
    const { data, out, code } = await reportOf(['analyze', 'h.ts'], { 'h.ts': coupons });
    expect(code).toBe(1);
    expect(data.verdict).toEqual({ kind: 'violated', text: 'not atomic: POST /coupon/:code with itself' });
    const [run] = data.runs;
    expect(run?.message).toBe(data.verdict.text);
    expect(run?.cause.at(-1)).toMatch(/^with one transaction around .* proven for any rows$/);
    for (const sentence of run?.cause ?? []) expect(out).toContain(`   ${sentence}\n`);
    const [statements] = run?.tables ?? [];
    expect(statements?.rows).toHaveLength(2);
    for (const { cells } of statements?.rows ?? []) expect(out).toContain(`   ${cells.join('  ')}\n`);
    const [transactions] = data.tables;
    for (const { cells } of transactions?.rows ?? [])
      expect(out.replaceAll(/ +/g, ' ')).toContain(cells.join(' ').replaceAll(/ +/g, ' '));
    expect(out).toMatch(/\nreport: report\.html\n$/);
  });

  test('--fix has no report', async () => {
    const { code, err } = await runHere(['analyze', 'h.ts', '--fix', '--report', 'r.html'], { 'h.ts': coupons });
    expect(code).toBe(3);
    expect(err).toContain('[option/report]');
  });
});

describe('moirai report', () => {
  const trace = [
    { session: 'a', transaction: 't1', op: 'write', writes: [['x', 1]], start: 10, end: 15 },
    { session: 'b', transaction: 't2', op: 'write', writes: [['x', 2]], start: 20, end: 25 },
    { session: 'a', transaction: 't1', op: 'commit', start: 30, end: 35 },
    { session: 'b', transaction: 't2', op: 'commit', start: 40, end: 45 },
  ].map((operation) => `${JSON.stringify(operation)}\n`);
  const files = {
    'cart.ts': cart,
    'transfer.ts': transfer,
    'coupons.ts': coupons,
    'crashing.ts': crashingCoordinator,
    h: skew,
    t: trace.join(''),
  };

  test.each([
    'test cart.ts --runs 50',
    'test transfer.ts --runs 5',
    'explore cart.ts',
    'explore transfer.ts',
    'explore cart.ts --level serializable',
    'check h --level serializable',
    'check h',
    'verify t --engine postgres --isolation serializable',
    'protocol crashing.ts --log 0 --no-eventually',
    'analyze coupons.ts',
  ])('makes of %s --json what --report writes', async (command) => {
    const args = command.split(' ');
    const { data, code } = await reportOf(args, files);
    const result = await runHere([...args, '--json'], files);
    expect(result.code).toBe(code);
    expect(await reportFrom(result.out)).toEqual(data);
  });

  test('a result of several levels has a row and a picture for each', async () => {
    const { out } = await runHere(['test', 'cart.ts', '--runs', '200', '--level', 'all', '--json'], files);
    const { heading, verdict, tables, runs } = await reportFrom(out);
    expect(heading).toBe('moirai test cart.ts');
    expect(verdict).toEqual({ kind: 'violated', text: '6 results: violated 4, satisfied 2' });
    expect(tables[0]?.rows.map(({ cells: [level], tone }) => [level, tone])).toEqual([
      ['read-committed', 'bad'],
      ['read-atomic', 'bad'],
      ['causal', 'bad'],
      ['prefix', 'bad'],
      ['snapshot-isolation', 'good'],
      ['serializable', 'good'],
    ]);
    expect(runs.map(({ count }) => count)).toEqual(['read-committed', 'read-atomic', 'causal', 'prefix']);
  });

  test('a result of several histories names them, also one that cannot be read', async () => {
    const runs = { 'f/a.history': skew, 'f/b.history': 'w x 1\nr x 1\n', 'f/c.history': 'w x\n' };
    const { out } = await runHere(['check', 'f', '--level', 'serializable', '--json'], runs);
    const { heading, verdict, tables } = await reportFrom(out);
    expect(heading).toBe('moirai report -');
    expect(verdict).toEqual({ kind: 'violated', text: '3 results: violated 1, unknown 1, satisfied 1' });
    expect(tables[0]?.rows.map(({ cells, tone }) => [cells[0], tone])).toEqual([
      ['moirai check f/a.history', 'bad'],
      ['moirai check f/b.history', 'good'],
      ['moirai check f/c.history', null],
    ]);
    expect(tables[0]?.rows[2]?.cells[1]).toMatch(/^the line ends/);
  });

  const none = (why: string): string =>
    `r.json: this is not what test, explore, check, verify, protocol, analyze or replay --on print with --json when they end: ${why} [report/result]\n`;
  test.each([
    ['text', 'it is no JSON'],
    ['', 'it is no JSON'],
    ['[]', 'it is empty'],
    ['null', 'it says nothing for a report'],
    ['[[]]', 'it says nothing for a report'],
    ['{"moirai":"failure","format":1}', 'it says nothing for a report'],
  ])('%j is no result, in one line', async (text, why) => {
    const { code, err } = await runHere(['report', 'r.json', '-o', 'r.html'], { 'r.json': text });
    expect([code, err]).toEqual([3, none(why)]);
  });

  test('a result with another shape is refused with the name of the field', async () => {
    const { out } = await runHere(['explore', 'transfer.ts', '--json'], files);
    const { report } = JSON.parse(out) as { report: object };
    const refused = async (changed: unknown): Promise<string> => {
      const text = JSON.stringify({ report: changed });
      return (await runHere(['report', 'r.json', '-o', 'r.html'], { 'r.json': text })).err;
    };
    const another = (field: string): string =>
      `r.json: another version wrote this result: this one cannot read its field "${field}" [report/result]\n`;
    expect(await refused(1)).toBe(another('report'));
    expect(await refused({ ...report, verdict: { kind: 'good', text: '' } })).toBe(another('report.verdict.kind'));
    expect(await refused({ ...report, notes: [1] })).toBe(another('report.notes[0]'));
    const { notes: _, ...less } = report as { notes: unknown };
    expect(await refused(less)).toBe(another('report.notes'));
  });
});

describe('--summary and --junit', () => {
  const files = { 'cart.ts': cart, h: skew };

  async function written(args: readonly string[]): Promise<{ out: string; err: string; texts: Map<string, string> }> {
    const texts = new Map<string, string>();
    const { out, err } = await runHere(args, files, {
      writeOutput: async (path, parts) => void texts.set(path, Buffer.concat([...parts]).toString()),
      addOutput: async (path, bytes) => void texts.set(path, `before\n${Buffer.from(bytes).toString()}`),
    });
    return { out, err, texts };
  }

  test('a summary is added to what the file has; JUnit has a case for each level', async () => {
    const asked = ['--summary', 'new.md', '--junit', 'new.xml'];
    const { out, texts } = await written(['test', 'cart.ts', '--level', 'all', '--runs', '50', ...asked]);
    expect(out).toMatch(/\nsummary: new\.md\njunit: new\.xml\n$/);
    const summary = texts.get('new.md') ?? '';
    expect(summary).toMatch(
      /^before\n## ❌ the invariant breaks at 4 of 6 levels; passed 50 runs at snapshot-isolation\n/,
    );
    expect(summary).toContain('\n```mermaid\nsequenceDiagram\n  participant s0 as adder\n');
    expect(texts.get('new.xml')).toContain('<testsuite name="moirai test cart.ts" tests="6" failures="4" errors="0">');
  });

  test('check: a case for each history', async () => {
    const { texts } = await written(['check', 'h', '--level', 'serializable', '--summary', 'a.md', '--junit', 'a.xml']);
    expect(texts.get('a.md')).toMatch(/^before\n## ❌ the history is not at serializable; /);
    expect(texts.get('a.xml')).toContain('<testcase classname="moirai check h" name="2 transactions, 4 operations">');
  });

  test('explore: with --json and with a drawing nothing else is printed', async () => {
    const { out, texts } = await written(['explore', 'cart.ts', '--json', '--junit', 'a.xml', '--summary', 'a.md']);
    expect(out.trimEnd().split('\n')).toHaveLength(1);
    expect([...texts.keys()]).toEqual(['a.md', 'a.xml']);
    const drawn = await written(['explore', 'cart.ts', '--mermaid', '--junit', 'a.xml']);
    expect(drawn.out).not.toContain('junit: ');
  });

  test.each(['summary', 'junit'])('--%s needs a file, and a definition that has a picture', async (name) => {
    const standard = await runHere(['test', 'cart.ts', `--${name}`, '-'], files);
    expect([standard.code, standard.err]).toEqual([3, expect.stringContaining(`[option/${name}]`)]);
    const tests = await runHere(['check', 'h', '--by', 'commit-tests', `--${name}`, 'a'], files);
    expect([tests.code, tests.err]).toEqual([3, expect.stringContaining(`[option/${name}]`)]);
  });

  test('one that cannot be written is a warning', async () => {
    const { code, err } = await runHere(['explore', 'cart.ts', '--summary', 'a.md'], files);
    expect(code).toBe(1);
    expect(err).toBe('warning: the summary cannot be written: a test that adds to a file says to which\n');
  });
});
