/** The verdict on a part of a history as one on the whole: the same evidence, in the transactions and operations of the whole. */
import type { ExternalRead, TransactionIndex } from '../history/index.ts';
import type { Edge } from './dependency-cycle.ts';
import type { Reason, Refutation, Step } from './refutation.ts';
import type { Violated } from './verdict.ts';

/** Where the transactions of the part are in the whole. */
export interface Places {
  readonly transaction: (t: TransactionIndex) => TransactionIndex;
  /** @param t in the part. @param operation its position in the part */
  readonly operation: (t: TransactionIndex, operation: number) => number;
}

export function mapPlaces(verdict: Violated, places: Places): Violated {
  const { cycle, read, refutation, choices } = verdict;
  return {
    ...verdict,
    cycle: cycle.map((edge) => mapEdge(edge, places)),
    ...(read === undefined ? {} : { read: mapRead(read, places) }),
    ...(refutation === undefined ? {} : { refutation: mapRefutation(refutation, places) }),
    ...(choices === undefined
      ? {}
      : {
          choices: choices.map(({ writers, verdict: refuted }) => ({
            writers: writers.map((writer) => mapRead(writer, places)),
            verdict: mapPlaces(refuted, places),
          })),
        }),
  };
}

/** A wr edge names the read of `to`, an rw edge that of `from`. */
function mapEdge(edge: Edge, { transaction, operation }: Places): Edge {
  const { from, to, relation, operation: position } = edge;
  const reader = relation === 'wr' ? to : from;
  return {
    ...edge,
    from: transaction(from),
    to: transaction(to),
    ...(position === undefined ? {} : { operation: operation(reader, position) }),
  };
}

function mapRead<R extends Pick<ExternalRead, 'by' | 'operation' | 'from'>>(read: R, places: Places): R {
  const { by, operation, from } = read;
  return {
    ...read,
    by: places.transaction(by),
    operation: places.operation(by, operation),
    from: places.transaction(from),
  };
}

function mapRefutation({ steps, end }: Refutation, places: Places): Refutation {
  const mapped = steps.map((step) => mapStep(step, places));
  if (end.kind === 'cycle')
    return { steps: mapped, end: { kind: 'cycle', cycle: end.cycle.map((step) => mapStep(step, places)) } };
  const { first, second, before, after } = end;
  return {
    steps: mapped,
    end: {
      kind: 'cases',
      first: places.transaction(first),
      second: places.transaction(second),
      before: mapRefutation(before, places),
      after: mapRefutation(after, places),
    },
  };
}

function mapStep({ from, to, why }: Step, places: Places): Step {
  return { from: places.transaction(from), to: places.transaction(to), why: mapReason(why, places) };
}

function mapReason(why: Reason, places: Places): Reason {
  switch (why.rule) {
    case 'so':
    case 'rt':
    case 'assumed':
      return why;
    case 'wr':
      return { ...why, read: mapRead(why.read, places) };
    case 'axiom':
    case 'hidden':
      return { ...why, read: mapRead(why.read, places), writer: places.transaction(why.writer) };
  }
}
