/**
 * Recorded traffic as an application: transactions that ran become programs, and what their values are computed from is inferred from all of them. What
 * no transaction did is not in it: an answer about it takes for granted that nothing else runs.
 */
import { InputError } from '../../base/index.ts';
import { readSchema } from '../schema.ts';
import type { Application, NotUnderstood, Unit } from '../application.ts';
import { type FlowSteps, type Inference, stepsOfFlow } from './flow-steps.ts';
import { type Flow, flowsOf } from './flow-variants.ts';
import { foldLoops, type FoldedTransaction } from './fold-loops.ts';
import type { RanTraffic, RanTransaction, TrafficCounts } from './ran-transactions.ts';
import { isOfRows } from './row-statements.ts';

export interface TrafficOptions {
  readonly schema: string;
  /** Are constants of texts the program's own? Where clients put values into texts they are not. */
  readonly ownsConstants: boolean;
  /** The name of a program by those who ran it; `null`: by what it does. */
  readonly nameOf: (sessions: readonly string[]) => string | null;
  /** Sequences of statements that begin the same way and are followed; those that more transactions sent come first. Default 300. */
  readonly waysMax?: number;
}

export interface TrafficApplication {
  readonly application: Application;
  readonly programs: readonly TrafficProgram[];
  readonly counts: TrafficCounts;
  /** Cut off, and others show how they continue. */
  readonly cut: number;
}

/** A unit, with the evidence for it. */
export interface TrafficProgram {
  readonly unit: string;
  readonly transactions: number;
  readonly inferences: readonly Inference[];
}

/** @throws InputError `analyze/schema`, `analyze/traffic` */
export async function applicationFromTraffic(
  { transactions, dialect, counts, shortened }: RanTraffic,
  options: TrafficOptions,
): Promise<TrafficApplication> {
  if (dialect === null || transactions.length === 0)
    throw new InputError('analyze/traffic', 'there is no transaction in it');
  const empty: Application = { dialect, schema: options.schema, units: [], notUnderstood: [] };
  const schema = await readSchema(empty);
  const whole = transactions.filter(({ end }) => end !== 'cut');
  const { known, unknown } = cutTransactions(transactions, whole);
  const groups = groupsOf(whole).map((group) => mostFrequent(group, options.waysMax ?? 300));
  const found = groups.flatMap(({ followed: group }) =>
    flowsOf(foldLoops(group)).map((flow) => ({ flow, made: stepsOfFlow(flow, { ...options, schema }) })),
  );
  const ofRows = found.filter(({ made }) => isOfRows(made.steps, schema));
  const names = new Names();
  const programs = ofRows.map(({ flow, made }) => {
    const sessions = [...new Set(flow.transactions.map(({ ran }) => ran.session))];
    const name = names.unique(options.nameOf(sessions) ?? titleOf(made.titles));
    return { unit: unitOf(flow, made, name), transactions: flow.transactions.length, inferences: made.inferences };
  });
  return {
    application: {
      ...empty,
      units: programs.map(({ unit }) => unit),
      notUnderstood: [
        ...unknown.map(({ place }) => notUnderstood(place, 'the trace ends before this transaction does')),
        ...groups.flatMap(({ left }) =>
          left
            .slice(0, 1)
            .map(({ place }) =>
              notUnderstood(place, `${left.length} transactions that begin so continue in more ways than are followed`),
            ),
        ),
        ...shortened.map((place) => notUnderstood(place, 'the statement is too long to have been kept')),
      ],
      covered: [
        `the ${whole.length + counts.repeated} transactions that were recorded are all that run, and the ways that they took all that there are`,
        'values that were equal in all transactions of a program are the same value',
      ],
    },
    programs: programs.map(({ unit, ...rest }) => ({ unit: unit.name, ...rest })),
    counts,
    cut: known,
  };
}

/** Those that began as others that were not cut off say nothing more. */
function cutTransactions(
  all: readonly RanTransaction[],
  whole: readonly RanTransaction[],
): { readonly known: number; readonly unknown: readonly RanTransaction[] } {
  const cut = all.filter(({ end }) => end === 'cut');
  const beginnings = new Set(whole.flatMap(({ events }) => events.map((_, at) => textOf(events.slice(0, at + 1)))));
  const unknown = cut.filter(({ events }) => !beginnings.has(textOf(events)));
  return { known: cut.length - unknown.length, unknown };
}

function textOf(events: RanTransaction['events']): string {
  return events.map(({ key }) => key).join('\n');
}

/** By their level and first statement. */
function groupsOf(transactions: readonly RanTransaction[]): readonly (readonly RanTransaction[])[] {
  const groups = new Map<string, RanTransaction[]>();
  for (const one of transactions) {
    const key = `${one.level} ${one.isAutocommit} ${one.events[0]?.key}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return [...groups.values()];
}

interface Followed {
  readonly followed: readonly RanTransaction[];
  readonly left: readonly RanTransaction[];
}

function mostFrequent(transactions: readonly RanTransaction[], waysMax: number): Followed {
  const ways = new Map<string, RanTransaction[]>();
  for (const one of transactions) {
    const key = textOf(one.events);
    const way = ways.get(key);
    if (way === undefined) ways.set(key, [one]);
    else way.push(one);
  }
  if (ways.size <= waysMax) return { followed: transactions, left: [] };
  const sorted = [...ways.values()].toSorted((a, b) => b.length - a.length);
  return { followed: sorted.slice(0, waysMax).flat(), left: sorted.slice(waysMax).flat() };
}

function unitOf({ transactions }: Flow, { steps }: FlowSteps, name: string): Unit {
  const [{ ran }] = transactions as readonly [FoldedTransaction];
  const { place, level, isAutocommit } = ran;
  const [first] = steps;
  if (isAutocommit && first?.kind === 'statement') return { name, place: first.place, steps: [first] };
  return { name, place, steps: [{ kind: 'transaction', name, place, level, steps }] };
}

const titlesMax = 4;

/** `SELECT accounts, UPDATE accounts` */
function titleOf(titles: readonly string[]): string {
  const more = titles.length > titlesMax ? ', ...' : '';
  return `${titles.slice(0, titlesMax).join(', ')}${more}`;
}

class Names {
  readonly #taken = new Set<string>();

  unique(name: string): string {
    let found = name;
    for (let count = 2; this.#taken.has(found); count += 1) found = `${name} ${count}`;
    this.#taken.add(found);
    return found;
  }
}

function notUnderstood(place: NotUnderstood['place'], reason: string): NotUnderstood {
  return { kind: 'not-understood', place, reason };
}
