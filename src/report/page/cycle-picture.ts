/** A cycle of transactions of which only a few operations are known, as lines of text: no reads and writes, but the edges between them. */
import { emptyRun, emptyStep } from './empty-picture.ts';
import type { PictureStep, PictureTransaction, RunPicture } from './report-data.ts';

export interface CycleTransaction {
  readonly id: string;
  readonly session: string;
  readonly status: PictureTransaction['status'];
  readonly operations: readonly { readonly text: string; readonly key: string }[];
}

export interface CycleEdge {
  readonly from: string;
  readonly to: string;
  readonly relation: string;
  readonly key: string | null;
  readonly text: string;
}

export interface KnownCycle {
  readonly message: string;
  readonly cause: readonly string[];
  readonly transactions: readonly CycleTransaction[];
  readonly edges: readonly CycleEdge[];
}

export function cyclePicture({ message, cause, transactions, edges }: KnownCycle): RunPicture {
  const sessions = [...new Set(transactions.map(({ session }) => session))];
  const steps: PictureStep[] = [];
  const stepsOf = new Map<string, { readonly step: number; readonly key: string }[]>();
  transactions.forEach(({ id, session, operations }, transaction) => {
    const lines = operations.length === 0 ? [{ text: 'operations left out', key: '' }] : operations;
    stepsOf.set(
      id,
      lines.map(({ key }, i) => ({ step: steps.length + i, key })),
    );
    const column = sessions.indexOf(session);
    steps.push(...lines.map(({ text }): PictureStep => ({ ...emptyStep, session: column, transaction, text })));
  });
  const indexOf = (id: string): number | null => {
    const found = transactions.findIndex((each) => each.id === id);
    return found < 0 ? null : found;
  };
  const stepOf = (id: string, wanted: string | null): number[] => {
    const own = stepsOf.get(id) ?? [];
    const found = own.findLast(({ key }) => key === wanted) ?? own[0];
    return found === undefined ? [] : [found.step];
  };
  return {
    ...emptyRun,
    message,
    cause,
    cycle: edges.map(({ from, to, relation, key, text }) => ({
      from: indexOf(from),
      to: indexOf(to),
      relation,
      text,
      steps: [...stepOf(from, key), ...stepOf(to, key)],
    })),
    order: 'Transactions stand in the order of the cycle, which says nothing of time.',
    sessions,
    transactions: transactions.map(({ id, session, status }) => ({
      name: id,
      session: sessions.indexOf(session),
      status,
    })),
    steps,
  };
}
