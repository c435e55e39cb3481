/** Traces as they come from a recorder: with marks, cut off, with statements that hang. */
import { expect, test } from 'vitest';
import { formatTraceHeader, formatTraceMark } from '../trace/record.ts';
import { emptyHeader } from '../trace/trace.ts';
import { mechanismsOf } from './engines.ts';
import { TraceVerification, type TraceResult } from './verify-trace.ts';

const mechanisms = mechanismsOf('postgres', 'read committed');

interface Verified extends TraceResult {
  /** Violations that had been told when each line was taken. */
  readonly told: readonly number[];
}

function verified(lines: readonly string[], bufferMax?: number): Verified {
  let violations = 0;
  const verification = new TraceVerification({
    mechanisms,
    onViolation: () => (violations += 1),
    ...(bufferMax === undefined ? {} : { bufferMax }),
  });
  const header = formatTraceHeader({ ...emptyHeader, hasMarks: true });
  const told = [header, ...lines].map((line) => {
    verification.push(new TextEncoder().encode(line.startsWith('cut:') ? line.slice(4) : `${line}\n`));
    return violations;
  });
  return { ...verification.finish(), told };
}

let transactions = 0;

/** A statement that commits by itself: `read`, `write` of the row x. */
function statement(session: string, op: 'read' | 'write', value: number, start: number, end: number): string {
  transactions += 1;
  const head = `{"session":"${session}","transaction":"t${transactions}"`;
  return `${head},"op":"${op}","${op}s":[["x",${value}]],"start":${start},"end":${end}}\n${head},"op":"commit","start":${start},"end":${end}}`;
}

test('a violation is told when a mark says that all is there', () => {
  const { told, cut } = verified([
    statement('a', 'write', 1, 1, 2),
    statement('a', 'write', 2, 3, 4),
    statement('b', 'read', 1, 5, 6),
    formatTraceMark(6),
    formatTraceMark(7),
    statement('a', 'write', 3, 8, 9),
    formatTraceMark(null),
  ]);
  // Up to 6 something else might still follow that ended before the read.
  expect([told.at(4), told.at(-1), cut]).toEqual([0, 1, null]);
});

test('what a trace that was cut off does not tell is no violation, and counted', () => {
  const lines = [
    statement('a', 'write', 1, 1, 2),
    formatTraceMark(3),
    // Reads what somebody wrote whose line was never written.
    statement('b', 'read', 9, 4, 6),
  ];
  expect(verified(lines)).toMatchObject({ counts: { violations: 0 }, cut: 2 });
  expect(verified([...lines, `cut:${statement('c', 'write', 9, 5, 7).slice(0, 30)}`]).cut).toBe(3);
  expect(verified([...lines, formatTraceMark(null)]).counts.violations).toBe(1);
});

test('a write that was overtaken may be seen, or not', () => {
  const seen = Array.from({ length: 20 }, (_, i) => statement('b', 'read', 0, 10 + 2 * i, 11 + 2 * i));
  const hangs = statement('a', 'write', 7, 5, 60);
  const then = [statement('b', 'read', 7, 61, 62), statement('b', 'read', 0, 63, 64), formatTraceMark(null)];
  const { counts, pipeline } = verified([statement('c', 'write', 0, 1, 2), ...seen, hangs, ...then], 10);
  expect([counts.violations, pipeline.late]).toEqual([0, 2]);
});
