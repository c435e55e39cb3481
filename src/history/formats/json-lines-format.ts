/** JSON Lines of any size, with appends; `json-lines.ts` and `json-lines-scanner.ts` say what is in them. */
import { crc32 } from '../../base/index.ts';
import { listOf } from '../compact-convert.ts';
import { type CompactHistory, fromUnrecorded, operationKind, statuses } from '../compact-history.ts';
import { checkedSum, endLine } from '../end-sum.ts';
import { INITIAL } from '../history.ts';
import { headerStart, isCounted } from '../json-lines.ts';
import { JsonLinesScanner } from '../json-lines-scanner.ts';
import type { Key, Value } from '../value.ts';
import { type HistoryFormat, onlySource } from './format.ts';

export const jsonLinesFormat: HistoryFormat = {
  name: 'jsonl',
  extensions: ['.jsonl', '.ndjson'],
  detect: (firstBytes) =>
    /^\uFEFF?\s*\{/.test(new TextDecoder('utf-8', { ignoreBOM: true }).decode(firstBytes.subarray(0, 4_096))),
  marksEnd: (firstBytes) => isCounted(new TextDecoder().decode(firstBytes)),
  read: async (sources) => {
    const scanner = new JsonLinesScanner();
    for await (const chunk of checkedSum('jsonl', onlySource('jsonl', sources).chunks())) scanner.push(chunk);
    return scanner.finish();
  },
  write: writeLines,
};

const chunkLines = 4_096;

function* writeLines(history: CompactHistory): Generator<Uint8Array> {
  let sum = 0;
  for (const chunk of linesIn(history)) {
    sum = crc32(chunk, sum);
    yield chunk;
  }
  yield new TextEncoder().encode(endLine('jsonl', sum));
}

function* linesIn(history: CompactHistory): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  const indexes = new Int32Array(history.sessionCount);
  let lines = [header(history)];
  for (let t = 0; t < history.transactionCount; t += 1) {
    const session = history.session[t] as number;
    lines.push(transactionLine(history, t, indexes[session] as number));
    indexes[session] = (indexes[session] as number) + 1;
    if (lines.length < chunkLines) continue;
    yield encoder.encode(`${lines.join('\n')}\n`);
    lines = [];
  }
  if (lines.length > 0) yield encoder.encode(`${lines.join('\n')}\n`);
}

/** Names the sessions always: whether the lines would give the same order is not known before they are written. */
function header({ initialValue, names, sessionCount, transactionCount }: CompactHistory): string {
  const initial: [Key, Value][] = [];
  initialValue.forEach((id, key) => {
    const value = names.value(id);
    if (value !== null) initial.push([names.key(key), value]);
  });
  const sessions = JSON.stringify(Array.from({ length: sessionCount }, (_, s) => names.session(s)));
  // An object would put names that are numbers first and lose __proto__; only its text is needed.
  const members = initial.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  return `${headerStart}${transactionCount},"sessions":${sessions}${members.length === 0 ? '' : `,"initial":{${members.join(',')}}`}}`;
}

function transactionLine(history: CompactHistory, t: number, index: number): string {
  const { names, operationStart, session, status, start, end } = history;
  const name = names.session(session[t] as number);
  const operations: unknown[] = [];
  for (let o = operationStart[t] as number; o < (operationStart[t + 1] as number); o += 1)
    operations.push(operationOf(history, o));
  const id = names.id(t);
  const level = names.level(t);
  return JSON.stringify({
    session: name,
    operations,
    ...(status[t] === 0 ? {} : { status: statuses[status[t] as number] }),
    ...timeField('start', start?.[t]),
    ...timeField('end', end?.[t]),
    ...(id === `${name}/${index}` ? {} : { id }),
    ...(level === undefined ? {} : { level }),
  });
}

function timeField(name: string, time: number | undefined): object {
  return time === undefined || Number.isNaN(time) ? {} : { [name]: time };
}

function operationOf(history: CompactHistory, o: number): unknown[] {
  const { kind, key, value, from, names } = history;
  const name = names.key(key[o] as number);
  if (kind[o] === operationKind.listRead) return ['r', name, listOf(history, value[o] as number)];
  const seen = names.value(value[o] as number);
  if (kind[o] === operationKind.write) return ['w', name, seen];
  if (kind[o] === operationKind.append) return ['append', name, seen];
  const writer = from?.[o] ?? fromUnrecorded;
  if (writer === fromUnrecorded) return ['r', name, seen];
  const condition = history.conditions.get(o);
  return [
    'r',
    name,
    seen,
    writer === INITIAL ? null : names.id(writer),
    ...(condition === undefined ? [] : [condition]),
  ];
}
