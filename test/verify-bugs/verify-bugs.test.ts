/** Bugs of real engines as traces: the verifier finds each, by the mechanism and in the transactions that it is in, and nothing else. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { formatTraceLine, parseTrace } from '../../src/trace/index.ts';
import { mechanismsOf, parseMechanisms, type TraceResult, TraceVerification } from '../../src/verify/index.ts';
import { runHere } from '../support/cli.ts';

interface KnownBug {
  readonly file: string;
  readonly number: number;
  readonly title: string;
  readonly engine?: string;
  readonly isolation?: string;
  /** By hand, where the engine promises what its relatives do not: TDSQL takes a write of the same value for a write. */
  readonly mechanisms?: string;
  readonly mechanism: string;
  readonly transactions: readonly string[];
  readonly fixed: string;
}

const folder = new URL('.', import.meta.url);
const bugs = JSON.parse(readFileSync(new URL('bugs.json', folder), 'utf8')) as readonly KnownBug[];

function traceOf(file: string): Uint8Array {
  return readFileSync(new URL(`${file}.trace.jsonl`, folder));
}

function text(trace: Uint8Array): string {
  return new TextDecoder().decode(trace);
}

function verify({ engine = '', isolation, mechanisms }: KnownBug, trace: Uint8Array): TraceResult {
  const verification = new TraceVerification({
    mechanisms: mechanisms === undefined ? mechanismsOf(engine, isolation) : parseMechanisms(mechanisms),
  });
  verification.push(trace);
  return verification.finish();
}

test('every trace of the folder is in the table, with the trace of what should have happened', () => {
  const traces = readdirSync(folder).filter((name) => name.endsWith('.trace.jsonl'));
  const expected = bugs.flatMap(({ file }) => [`${file}.trace.jsonl`, `${file}-fixed.trace.jsonl`]);
  expect(traces.toSorted()).toEqual(expected.toSorted());
});

describe('found', () => {
  test.each(bugs)('$file: $title', (bug) => {
    const { violations } = verify(bug, traceOf(bug.file));
    const found = violations.map(({ mechanism, transactions }) => [mechanism, transactions.toSorted()]);
    expect(found).toEqual([[bug.mechanism, bug.transactions]]);
  });

  test.each(bugs)('$file: its smallest trace shows it too', (bug) => {
    const trace = traceOf(bug.file);
    const [violation] = verify(bug, trace).violations;
    const operations = violation?.smallest ?? [];
    expect(operations.length).toBeLessThanOrEqual(parseTrace(text(trace)).operations.length);
    const [header = ''] = text(trace).split('\n');
    const smallest = [header, ...operations.map((operation) => formatTraceLine(operation)), ''].join('\n');
    const again = verify(bug, new TextEncoder().encode(smallest));
    expect(again.violations.map(({ mechanism }) => mechanism)).toContain(bug.mechanism);
  });
});

describe('not found where the engine does what it should', () => {
  test.each(bugs)('$file: $fixed', (bug) => {
    const { violations, counts } = verify(bug, traceOf(`${bug.file}-fixed`));
    expect(violations.map(({ reason }) => reason)).toEqual([]);
    expect(counts.skipped).toBe(0);
  });
});

test('the command line says so too', async () => {
  for (const { file, engine = '', isolation = '', mechanisms, mechanism } of bugs) {
    const options =
      mechanisms === undefined ? ['--engine', engine, '--isolation', isolation] : ['--mechanisms', mechanisms];
    const files = Object.fromEntries([file, `${file}-fixed`].map((name) => [`${name}.trace.jsonl`, traceOf(name)]));
    const wrong = await runHere(['verify', `${file}.trace.jsonl`, ...options], files);
    expect({ file, code: wrong.code, out: wrong.out }).toMatchObject({
      file,
      code: 1,
      out: expect.stringContaining(`violation 1: ${mechanism}\n`),
    });
    const right = await runHere(['verify', `${file}-fixed.trace.jsonl`, ...options], files);
    expect({ file, code: right.code, out: right.out }).toMatchObject({
      file,
      ...(new TextDecoder().decode(traceOf(`${file}-fixed`)).includes('"commit"')
        ? { code: 0, out: expect.stringContaining('satisfied: no violation\n') }
        : { code: 2, out: expect.stringContaining('unknown: no transaction was seen to commit\n') }),
    });
  }
});
