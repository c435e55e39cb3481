/** A verdict in plain words: one line for each edge of the cycle, or for the read, naming transactions by ID. */
import { assert } from '../base/index.ts';
import {
  type History,
  INITIAL,
  type Key,
  type Operation,
  type Read,
  type ReadPhenomenon,
  type TransactionIndex,
} from '../history/index.ts';
import { anomalies } from './anomaly.ts';
import { check, type CheckOptions } from './check.ts';
import type { Edge } from './dependency-cycle.ts';
import type { Verdict, Violated } from './verdict.ts';

/** What happened, in the order of the cycle: each line speaks of a transaction and the next one in the circle. */
export function explain(history: History, verdict: Violated): string[] {
  if (verdict.read !== undefined) return [explainRead(history, verdict.read)];
  const example = exampleOf(verdict);
  if (example !== verdict) return [...explainChoice(history, verdict), ...explain(history, example)];
  if (verdict.cycle.length === 0)
    return ['no part of the history that shows the violation is small enough to be explained'];
  return verdict.cycle.map((edge) => explainEdge(history, edge));
}

/** The verdict whose cycle or read is shown: where several transactions wrote what reads saw, that of the likeliest choice of writers. */
export function exampleOf(verdict: Violated): Violated {
  return verdict.choices?.[0]?.verdict ?? verdict;
}

/**
 * Where several transactions wrote what reads saw: what is assumed of the writers in `choices[0]`, the likeliest, whose cycle is the example.
 * Otherwise nothing.
 */
export function explainChoice(history: History, { choices = [] }: Violated): string[] {
  const [first] = choices;
  if (first === undefined) return [];
  const assumed = first.writers.map(({ by, operation, from }) => {
    const read = operationsOf(history, by)[operation];
    assert(read !== undefined, 'a choice names a read');
    return `${idOf(history, by)} reads the ${read.key} = ${JSON.stringify(read.value)} of ${idOf(history, from)}`;
  });
  return [
    `several transactions wrote the same value; each choice of writers is ruled out (${choices.length} cases)`,
    `for example, if ${assumed.join(' and ')}:`,
  ];
}

/** One line: the anomaly and what it means. */
export function summarize(verdict: Verdict): string {
  switch (verdict.kind) {
    case 'satisfied':
      return 'satisfied';
    case 'violated':
      return `${anomalies[verdict.anomaly].title}: ${anomalies[verdict.anomaly].meaning}`;
    case 'unknown':
      return unknownTexts[verdict.reason];
  }
}

const unknownTexts: Readonly<Record<Extract<Verdict, { kind: 'unknown' }>['reason'], string>> = {
  'step-limit': 'unknown: the search reached its limit of steps',
  'time-limit': 'unknown: the time was over',
  'missing-times': 'unknown: strict-serializable needs the start and end of every transaction',
};

/** What to say of a failing history in which no violation was found: that it is serializable, or that this is not known. */
export function explainNoViolation(history: History, options: CheckOptions = {}): string {
  return check(history, 'serializable', options).kind === 'satisfied'
    ? 'this run is serializable: no isolation level prevents it, the fault is in the program'
    : 'whether this run is serializable is not known: the search for a commit order gave up';
}

function explainEdge(history: History, edge: Edge): string {
  const [from, to] = [idOf(history, edge.from), idOf(history, edge.to)];
  switch (edge.relation) {
    case 'so':
      return `${to} follows ${from} in session ${sessionOf(history, edge.to)}`;
    case 'rt':
      return `${to} began after ${from} had ended`;
    case 'wr':
      return `${to} ${
        notFound(history, edge.to, edge, `as ${from} left it`) ??
        `reads ${valueSeen(history, edge.to, edge)}, which ${from} wrote`
      }`;
    case 'rw':
      return `${from} ${
        notFound(history, edge.from, edge, `which ${to} writes`) ??
        `reads ${valueSeen(history, edge.from, edge)}, which ${to} overwrites`
      }`;
    case 'ww':
      return `${to} overwrites the ${edge.key} = ${lastWritten(history, edge.from, edge.key)} of ${from}`;
    case 'co':
      return `${to} comes after ${from}; were it before, there would be another cycle`;
  }
}

function explainRead(history: History, read: ReadPhenomenon): string {
  const [by, from] = [idOf(history, read.by), idOf(history, read.from)];
  const value = valueSeen(history, read.by, read);
  switch (read.kind) {
    case 'thin-air-read':
      return explainThinAir(history, read, value);
    case 'G1a':
      return `${by} reads ${value}, which ${from} wrote; ${from} aborted`;
    case 'G1b':
      return `${by} reads ${value}, which ${from} overwrites before it commits`;
    case 'internal': {
      const own = lastWritten(history, read.by, read.key, read.operation);
      return own === undefined
        ? `${by} reads ${value} before it writes it`
        : `${by} reads ${value} after it wrote ${read.key} = ${own} itself`;
    }
  }
}

/** Where a writer is recorded that did not write the value, another transaction may have. */
function explainThinAir(history: History, { by, operation }: ReadPhenomenon, value: string): string {
  const read = operationsOf(history, by)[operation];
  const from = read?.kind === 'read' ? read.from : undefined;
  return from === undefined
    ? `${idOf(history, by)} reads ${value}, which no transaction wrote`
    : `${idOf(history, by)} reads ${value} from ${idOf(history, from)}, which did not write it`;
}

function operationsOf(history: History, t: TransactionIndex): readonly Operation[] {
  return history.transactions[t]?.operations ?? [];
}

interface ReadPlace {
  readonly key?: Key;
  readonly operation?: number;
}

function readAt(history: History, reader: TransactionIndex, at: ReadPlace): Read {
  const read = operationsOf(history, reader)[at.operation ?? -1];
  assert(read !== undefined && read.kind === 'read' && read.key === at.key, 'the edge names a read');
  return read;
}

function valueSeen(history: History, reader: TransactionIndex, at: ReadPlace): string {
  const read = readAt(history, reader, at);
  return `${read.key} = ${JSON.stringify(read.value)}`;
}

/** What a condition did not find; `null`: it was no condition. */
function notFound(history: History, reader: TransactionIndex, at: ReadPlace, then: string): string | null {
  const { key, value, condition } = readAt(history, reader, at);
  if (condition === undefined) return null;
  const where = condition === '' || key.endsWith(` where ${condition}`) ? '' : ` where ${condition}`;
  if (value === null) return `finds no ${key}${where}, ${then}`;
  return typeof value === 'object'
    ? `does not find ${key} = ${JSON.stringify(value)}${where}, ${then}`
    : `does not find ${key}, ${then}`;
}

/** The value, as text, that `writer` wrote last to `key`, up to its operation `before`. */
function lastWritten(history: History, writer: TransactionIndex, key?: Key, before?: number): string | undefined {
  const writes = operationsOf(history, writer).slice(0, before);
  const last = writes.findLast((operation) => operation.kind === 'write' && operation.key === key);
  return last === undefined ? undefined : JSON.stringify(last.value);
}

function idOf(history: History, t: TransactionIndex): string {
  return t === INITIAL ? 'the initial state' : (history.transactions[t]?.id ?? String(t));
}

function sessionOf(history: History, t: TransactionIndex): string {
  return history.sessions[history.transactions[t]?.session ?? -1] ?? '';
}
