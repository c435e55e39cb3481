/**
 * BlindW-RW as a history that is checked as a whole, or as a trace that is verified while it comes: node verify-offline-cell.ts
 * history|trace TRANSACTIONS CLIENTS. Both begin with text in memory: parsing is counted.
 */
import { checkCompact, readsOf } from '#moirai/check';
import { scanHistoryLines } from '#moirai/history';
import { formatTraceHeader, formatTraceLine, type TraceOperation } from '#moirai/trace';
import { mechanismsOf, TraceVerification } from '#moirai/verify';
import { blindWrites } from './blindw.ts';

const [mode = '', transactions = '', clients = ''] = process.argv.slice(2);
const encoder = new TextEncoder();
const text = encoder.encode(mode === 'history' ? historyText() : traceText());
const before = process.cpuUsage();
const verdict = mode === 'history' ? checkWhole() : verifyAll();
const cpuMs = process.cpuUsage(before).user / 1_000;
console.log(JSON.stringify({ cpuMs, megabytes: process.resourceUsage().maxRSS / 1_024, verdict }));

/** Transactions that ended; a little more than 9 operations each, with the end. */
function* ended(): Generator<readonly TraceOperation[]> {
  const open = new Map<string, TraceOperation[]>();
  let count = 0;
  for (const operation of blindWrites(Infinity, Number(clients), 1, 1)) {
    const list = open.get(operation.session) ?? [];
    list.push(operation);
    open.set(operation.session, list);
    if (operation.kind !== 'commit' && operation.kind !== 'abort') continue;
    open.delete(operation.session);
    yield list;
    count += 1;
    if (count === Number(transactions)) return;
  }
}

function historyText(): string {
  const lines: string[] = [];
  for (const operations of ended()) {
    const { session = '', kind } = operations.at(-1) ?? {};
    const list = operations
      .filter(({ failed }) => !failed)
      .flatMap(({ reads, writes }) => [
        // 0 was there from the beginning.
        ...reads.map(({ key, image }) => ['r', key, image === 0 ? null : image]),
        ...writes.map(({ key, image }) => ['w', key, image]),
      ]);
    lines.push(JSON.stringify({ session, operations: list, status: kind === 'commit' ? 'committed' : 'aborted' }));
  }
  return `${lines.join('\n')}\n`;
}

function traceText(): string {
  const initial = new Map(Array.from({ length: 2_000 }, (_, i) => [`t/${i}`, 0] as const));
  const all = [...ended()].flat().toSorted((a, b) => a.start - b.start);
  return [
    formatTraceHeader({ initial, sessions: null }),
    ...all.map((operation) => formatTraceLine(operation)),
    '',
  ].join('\n');
}

function checkWhole(): string {
  const history = scanHistoryLines([text]);
  return checkCompact(history, 'serializable', { reads: readsOf(history) }).kind;
}

function verifyAll(): string {
  const verification = new TraceVerification({ mechanisms: mechanismsOf('postgres', 'serializable') });
  for (let at = 0; at < text.length; at += 65_536) verification.push(text.subarray(at, at + 65_536));
  return verification.finish().counts.violations === 0 ? 'satisfied' : 'violated';
}
