/** What `moirai verify` found, for the HTML report. */
import type { Conclusion } from '../../evidence/index.ts';
import { counted, type ReportData, type RunPicture, tracePicture } from '../../report/index.ts';
import type { TraceOperation } from '../../trace/index.ts';
import type { SmallViolation, TraceResult } from '../../verify/index.ts';

export interface VerifyPage {
  readonly heading: string;
  readonly database: string;
  /** As printed: what was found, and how much was looked at. */
  readonly summary: readonly string[];
}

/** Of transactions that do many things, those things are drawn that show the violation. */
const operationsMax = 60;

export function verifyPage(
  { violations, counts, base }: TraceResult,
  { kind }: Conclusion,
  { heading, database, summary }: VerifyPage,
): ReportData {
  const [found = '', ...notes] = summary;
  const [first] = violations;
  const left = counts.violations - violations.length;
  return {
    heading,
    database,
    verdict: {
      kind: kind === 'at-fault' ? 'unknown' : kind,
      text: first === undefined || violations.length > 1 ? found : `${found}: ${messageOf(first)}`,
    },
    notes: [...notes, ...(left > 0 ? [`${counted(left, 'more violation')} not drawn`] : [])],
    tables: [],
    runs: violations.map((violation) => pictureOf(violation, base)),
  };
}

function messageOf({ mechanism, rows, transactions }: SmallViolation): string {
  return `${mechanism}${rows.length === 0 ? '' : ` on ${rows.join(', ')}`}, ${transactions.length === 1 ? 'transaction' : 'transactions'} ${transactions.join(', ')}`;
}

function pictureOf(violation: SmallViolation, base: bigint): RunPicture {
  const { reason, evidence, rows, alsoFoundBy } = violation;
  const roles = new Map<string, string>();
  for (const { operation, role } of evidence)
    roles.set(nameOf(operation), [...new Set([roles.get(nameOf(operation)) ?? role, role])].join('; '));
  return tracePicture({
    message: messageOf(violation),
    cause: [reason, ...alsoFoundBy.map((other) => `also found by ${other.mechanism}: ${other.reason}`)],
    operations: operationsOf(violation),
    roleOf: (operation) => roles.get(nameOf(operation)) ?? null,
    rows,
    base,
  });
}

/** The evidence and the smallest trace that shows it, as they stand in the whole trace: a smaller trace leaves out reads and writes. */
function operationsOf({ evidence, context, smallest, transactions }: SmallViolation): TraceOperation[] {
  const shown = evidence.map(({ operation }) => operation);
  const wanted = new Set([...shown, ...(smallest ?? context.slice(0, operationsMax))].map(nameOf));
  const isEnd = ({ kind, transaction }: TraceOperation): boolean =>
    (kind === 'commit' || kind === 'abort') && transactions.includes(transaction);
  const known = new Map<string, TraceOperation>();
  for (const operation of [...shown, ...context, ...(smallest ?? [])]) {
    const name = nameOf(operation);
    if ((wanted.has(name) || isEnd(operation)) && !known.has(name)) known.set(name, operation);
  }
  return [...known.values()].toSorted((a, b) => a.start - b.start || a.end - b.end);
}

/** A session does one thing at a time. */
function nameOf({ session, transaction, kind, start }: TraceOperation): string {
  return JSON.stringify([session, transaction, kind, start]);
}
