/** What `moirai protocol` found, for the HTML report: the trace as processes side by side, with their messages and variables. */
import type { History } from '../../history/index.ts';
import { exampleOf, explain, summarize, weakestViolation } from '../../isolation/index.ts';
import { CRASHED, type ProtocolCheckResult, sentAt, type Trace, titleOf } from '../../protocol/index.ts';
import {
  emptyRun,
  emptyStep,
  type PictureMessage,
  type ReportData,
  type ReportTable,
  type RunPicture,
} from '../../report/index.ts';

export interface ProtocolPage {
  readonly heading: string;
  readonly name: string;
  /** As printed: how much was searched, and what was found. */
  readonly lines: readonly string[];
  readonly verdict: string;
}

export function protocolPage(
  { conclusion, trace, violation }: ProtocolCheckResult,
  { heading, name, lines, verdict }: ProtocolPage,
): ReportData {
  const { kind } = conclusion;
  return {
    heading,
    database: name,
    verdict: { kind: kind === 'at-fault' ? 'unknown' : kind, text: verdict },
    notes: lines,
    tables: [],
    runs: trace === null || violation === null ? [] : [tracePicture(trace, verdict)],
  };
}

/** A process has the variables of its own and the label at which it stands. */
function tracePicture(trace: Trace, message: string): RunPicture {
  const { processes, steps, observed } = trace;
  return {
    ...emptyRun,
    message,
    cause: observed === null ? [] : causeIn(observed),
    tables: observed === null ? [] : [observedTable(observed)],
    state: 'values',
    sessions: processes,
    messages: messagesOf(trace),
    steps: steps.map((step) => ({
      ...emptyStep,
      session: processes.indexOf(step.process),
      transaction: -1,
      text: titleOf(step),
      isError: step.to === CRASHED && step.from !== CRASHED,
      writes: step.changes.map(({ variable, after }) => ({ key: variable, value: after })),
    })),
    initial: initialOf(trace),
  };
}

/** Why what clients observed is not serializable. */
function causeIn(observed: History): string[] {
  const found = weakestViolation(observed);
  if (found === null) return [];
  return [summarize(found.verdict), ...explain(observed, exampleOf(found.verdict))];
}

function observedTable({ transactions }: History): ReportTable {
  const rows = transactions.map(({ id, operations }) => ({
    cells: [id, operations.map(({ kind, key, value }) => `${kind} ${key} = ${JSON.stringify(value)}`).join(', ')],
    tone: null,
  }));
  return { title: 'What clients observed', head: ['transaction', 'operations'], rows, note: null };
}

/** Of the variables that change. */
function initialOf({ steps }: Trace): RunPicture['initial'] {
  const initial = new Map<string, string>();
  for (const { variable, before } of steps.flatMap(({ changes }) => changes))
    if (!initial.has(variable)) initial.set(variable, before);
  return [...initial];
}

/** An arrow for each message that was received, and what was not. */
function messagesOf({ steps }: Trace): PictureMessage[] {
  const received = steps.flatMap((step, to) =>
    step.received.flatMap(({ text, from }): PictureMessage[] => {
      const sent = sentAt(steps, { text, from }, to);
      return sent === to ? [] : [{ text, from: sent, to }];
    }),
  );
  const isReceived = (text: string, from: number): boolean =>
    received.some((each) => each.text === text && each.from === from);
  const lost = steps.flatMap(({ sent }, from) =>
    sent.flatMap(({ text }): PictureMessage[] => (isReceived(text, from) ? [] : [{ text, from, to: null }])),
  );
  return [...received, ...lost];
}
