/** What differs, in words: a signature that groups differences of one kind, and a listing that reads like a test. */
import type { Answer } from '../test/sql-oracle/answer.ts';
import type { Schedule, Step, Trace, TraceLine } from './schedule.ts';

/** The first difference of a schedule. */
export interface Difference {
  readonly schedule: Schedule;
  readonly line: number;
  readonly ours: Trace;
  readonly theirs: Trace;
}

/** `upsert: waits | error 23505`: the form of the statement, what the server did, what moirai did. */
export function signatureOf({ line, ours, theirs }: Difference): string {
  const mine = ours.lines[line];
  const other = theirs.lines[line];
  const step = other?.step ?? mine?.step ?? null;
  const form = (other ?? mine) === undefined ? 'set-up' : (step?.form ?? 'final state');
  return `${form}: ${kindOf(other, theirs)} | ${kindOf(mine, ours)}`;
}

function kindOf(line: TraceLine | undefined, trace: Trace): string {
  if (line === undefined) return trace.refused === null ? 'nothing' : answerKind(trace.refused);
  const own = line.step?.session ?? -1;
  const acting = line.answers.get(own);
  const others = [...line.answers].filter(([session]) => session !== own).map(([, answer]) => answerKind(answer));
  return [acting === undefined ? 'waits' : answerKind(acting), ...others.map((kind) => `wakes ${kind}`)].join(', ');
}

function answerKind(answer: Answer): string {
  if (answer.kind === 'error') return `error ${answer.code}`;
  return answer.kind === 'rows' ? 'rows' : 'done';
}

/** @param serverName how the real server is called */
export function listing({ schedule, line, ours, theirs }: Difference, serverName: string): string {
  const { setUp, levels } = schedule;
  const lines = setUp.map((sql) => `${sql};`);
  if (ours.refused !== null || theirs.refused !== null) {
    const [mine, other] = [ours, theirs].map(({ refused }) => (refused === null ? 'accepted' : messageOf(refused)));
    return [...lines, `    set-up on ${serverName}: ${other}`, `    set-up on moirai: ${mine}`].join('\n');
  }
  lines.push(levels.map((level, i) => `s${i} ${level}`).join(', '));
  const last = Math.min(line, Math.max(ours.lines.length, theirs.lines.length) - 1);
  for (let i = 0; i < last; i += 1) {
    const { step, outcome } = theirs.lines[i] as TraceLine;
    if (step?.form === 'end' && !outcome.includes(';')) continue;
    lines.push(`${stepText(step)}   -> ${outcome}`);
  }
  const mine = ours.lines[last];
  const other = theirs.lines[last];
  lines.push(stepText(other?.step ?? mine?.step ?? null));
  lines.push(`    ${serverName}: ${outcomeText(other)}`, `    moirai: ${outcomeText(mine)}`);
  return lines.join('\n');
}

function stepText(step: Step | null): string {
  return step === null ? 'final state' : `s${step.session} ${step.sql}`;
}

function outcomeText(line: TraceLine | undefined): string {
  if (line === undefined) return '(not reached)';
  const messages = [...line.answers.values()].filter(({ kind }) => kind === 'error').map(messageOf);
  return messages.length === 0 ? line.outcome : `${line.outcome}   (${messages.join('; ')})`;
}

function messageOf(answer: Answer): string {
  return answer.kind === 'error' ? `${answer.code} ${answer.message}` : answer.kind;
}
