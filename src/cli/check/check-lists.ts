/** What `moirai check` shows of a level of a history of lists: the violation in words, and Elle's anomalies. */
import {
  type CompactLevel,
  type ListCheck,
  type ListEdge,
  type ListVerdict,
  type ListViolated,
  transactionsIn,
} from '../../check/index.ts';
import { type CompactHistory, listOf, operationKind, type TransactionIndex } from '../../history/index.ts';
import { anomalies, type AnomalyName, summarize } from '../../isolation/index.ts';
import { cyclePicture, type CycleTransaction, truncate, wrap } from '../../report/index.ts';
import { drawnTransaction } from './drawn-transaction.ts';
import type { CheckedLevel } from './check-levels.ts';
import type { Answer, Violation } from './check-report.ts';

/** Of a transaction with more operations, only those on the keys of the violation are shown, and of those so many. */
const operationsShownMax = 12;

/** @param check for the anomalies beside the violation */
export function shownOfLists(
  history: CompactHistory,
  level: CompactLevel,
  verdict: ListVerdict,
  check: ListCheck,
): CheckedLevel {
  const violation = verdict.kind === 'violated' ? violationOf(history, level, verdict, check) : null;
  return { answer: answerOf(verdict), violation };
}

function answerOf(verdict: ListVerdict): Answer {
  if (verdict.kind !== 'unknown') return { kind: verdict.kind, text: verdict.kind };
  const text =
    verdict.reason === 'missing-times'
      ? summarize({ kind: 'unknown', reason: verdict.reason })
      : 'unknown: registers beside lists, or appends that no transaction read';
  return { kind: 'unknown', text, lacksTimes: verdict.reason === 'missing-times' };
}

interface NamedEdge {
  readonly from: string;
  readonly to: string;
  readonly relation: string;
  readonly key: string | null;
}

function violationOf(history: CompactHistory, level: CompactLevel, verdict: ListViolated, check: ListCheck): Violation {
  const edges = edgesOf(history, verdict);
  const transactions = transactionsIn(verdict);
  const found = check.anomalies();
  const names = found.map(({ name }) => name);
  const json = {
    level,
    anomaly: verdict.anomaly,
    transactions: transactions.map((t) => history.names.id(t)),
    cycle: verdict.read === undefined ? edges : [],
    elle: verdict.elle,
    anomalies: found.map((anomaly) => ({
      name: anomaly.name,
      transactions: transactionsIn(anomaly).map((t) => history.names.id(t)),
      cycle: anomaly.read === undefined ? edgesOf(history, anomaly) : [],
    })),
  };
  const nodes = transactions.map((t) => {
    const id = history.names.id(t);
    return { id, lines: [id, ...operationsOf(history, t, keysOf(verdict)).map(({ text }) => truncate(text, 60))] };
  });
  return {
    level,
    title: meaningOf(verdict),
    json,
    lines: (style, width) => [
      ...nodes.flatMap(({ id }, i) => [
        style('name', id),
        ...operationsOf(history, transactions[i] as TransactionIndex, keysOf(verdict)).map(
          ({ text }) => `  ${truncate(text, width - 2)}`,
        ),
      ]),
      '',
      ...wrap(meaningOf(verdict), width),
      ...thinAirLines(history, verdict, width),
      ...edges.flatMap((edge) => wrap(`${sentence(edge)} (${edge.relation})`, width)),
      ...(names.length > 1 ? wrap(`anomalies, as Elle names them: ${names.join(', ')}`, width) : []),
    ],
    drawing: { nodes, edges },
    picture: () =>
      cyclePicture({
        message: meaningOf(verdict),
        cause: thinAirLines(history, verdict, Infinity),
        transactions: transactions.map((t) => drawnTransaction(history, t, operationsOf(history, t, keysOf(verdict)))),
        edges: edges.map((edge) => ({ ...edge, text: sentence(edge) })),
      }),
  };
}

/** Which elements no transaction appended. */
function thinAirLines(history: CompactHistory, { read }: ListViolated, width: number): string[] {
  if (read?.kind !== 'thin-air-read') return [];
  const appended = new Set<number>();
  history.kind.forEach((kind, o) => {
    if (kind === operationKind.append) appended.add(history.value[o] as number);
  });
  const { lists, value, names } = history;
  if (history.kind[read.operation] === operationKind.read) {
    const seen = JSON.stringify(names.value(value[read.operation] as number));
    return wrap(`${names.id(read.by)} reads ${names.key(read.key)} = ${seen}, which no transaction wrote`, width);
  }
  const list = value[read.operation] as number;
  const elements = lists?.element.subarray(lists.start[list], lists.start[list + 1]) ?? new Int32Array();
  const invented = [...elements].filter((v) => !appended.has(v)).map((v) => JSON.stringify(names.value(v)));
  return wrap(
    `${names.id(read.by)} reads in ${names.key(read.key)} what no transaction appended: ${invented.join(', ')}`,
    width,
  );
}

function edgesOf(history: CompactHistory, { cycle, read }: Pick<ListViolated, 'cycle' | 'read'>): NamedEdge[] {
  const key = (k: number): string | null => (k < 0 ? null : history.names.key(k));
  const named = ({ from, to, relation, key: k }: Pick<ListEdge, 'from' | 'to' | 'key'> & { relation: string }) => ({
    from: history.names.id(from),
    to: history.names.id(to),
    relation,
    key: key(k),
  });
  return read === undefined
    ? cycle.map(named)
    : read.kind === 'thin-air-read'
      ? []
      : [named({ from: read.from, to: read.by, relation: read.kind === 'dirty-update' ? 'ww' : 'wr', key: read.key })];
}

function keysOf({ cycle, read }: ListViolated): ReadonlySet<number> {
  return new Set(read === undefined ? cycle.map(({ key }) => key) : [read.key]);
}

function operationsOf(
  history: CompactHistory,
  t: TransactionIndex,
  keys: ReadonlySet<number>,
): CycleTransaction['operations'] {
  const { kind, key, value, names, operationStart } = history;
  const lines: { readonly text: string; readonly key: string }[] = [];
  const [first, after] = [operationStart[t] as number, operationStart[t + 1] as number];
  for (let o = first; o < after && lines.length < operationsShownMax; o += 1) {
    const k = key[o] as number;
    if (after - first > operationsShownMax && !keys.has(k)) continue;
    const v = value[o] as number;
    const isAppend = kind[o] === operationKind.append;
    const seen = kind[o] === operationKind.listRead ? listOf(history, v) : names.value(v);
    const verb = isAppend ? 'append' : kind[o] === operationKind.write ? 'write' : 'read';
    const name = names.key(k);
    lines.push({ key: name, text: `${verb} ${name} ${isAppend ? JSON.stringify(seen) : `= ${JSON.stringify(seen)}`}` });
  }
  return lines;
}

const readMeanings: Record<string, string> = {
  'duplicate-elements': 'a read shows an element twice that was appended once',
  'incompatible-order': 'two reads, or a read and a transaction, tell of different orders of appends to one list',
  'future-read': 'a transaction reads what it appends only later',
  'dirty-update': 'an append went onto a list with an element of an aborted transaction',
};

function meaningOf({ anomaly, elle }: ListViolated): string {
  const known = Object.hasOwn(anomalies, anomaly) ? anomalies[anomaly as AnomalyName] : null;
  const title = known?.title ?? anomaly;
  const name = title === anomaly || title === elle.replaceAll('-', ' ') ? title : `${title}, which Elle calls ${elle}`;
  return `${name}: ${known?.meaning ?? readMeanings[anomaly] ?? ''}`;
}

function sentence({ from, to, relation, key }: NamedEdge): string {
  switch (relation) {
    case 'ww':
      return `${from} appended to ${key} before ${to} did`;
    case 'wr':
      return `${to} reads in ${key} what ${from} appended`;
    case 'rw':
      return `${from} reads ${key} without what ${to} appended`;
    case 'so':
      return `${from} is before ${to} in their session`;
    default:
      return `${from} had ended before ${to} started`;
  }
}
